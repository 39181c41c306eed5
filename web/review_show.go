package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"redeliver/content"
	"redeliver/web/review"
	"redeliver/web/store"
	"redeliver/web/views"
)

// maxMore bounds the cards that a reader takes beyond those of the day at once.
const maxMore = 20

// moreOf is how many cards beyond those of the day are asked for.
func moreOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0 // no page of ours asks for that, and the day's cards harm nobody
	}
	return min(max(n, 0), maxMore)
}

// reviewShow shows the card that comes first. Looking at it changes nothing.
func (s *Server) reviewShow(c echo.Context) error {
	p, err := s.practice(c)
	if err != nil {
		return err
	}
	more := moreOf(c.QueryParam("more"))
	today := s.deck.Plan(p, s.cfg.Now(), more)
	state := views.ReviewState{Left: len(today.Entries), Fresh: today.Fresh, Next: today.Next, New: len(p.Cards) == 0, More: more}
	if len(today.Entries) > 0 {
		state.Card = s.cardState(c, today.Entries[0])
	}
	if rated := c.QueryParam("card"); rated != "" {
		state.Rated = ratedUntil(p, rated)
	}
	m, err := views.NewReview(s.page(c), state, c.QueryParam("notice"))
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Review(m))
}

// ratedUntil is when a card comes again; zero when it was never rated.
func ratedUntil(p store.Practice, name string) time.Time { return seenCard(p, name).DueAt }

func (s *Server) cardState(c echo.Context, e review.Entry) *views.CardState {
	lang, home := s.langOf(c), s.home(c)
	card := &views.CardState{
		Name: e.Name, Kind: string(e.Kind), Why: string(e.Why), Reps: e.Seen.Reps, Question: e.Question, Pitfall: e.Pitfall, Days: s.daysOf(e.Seen),
	}
	switch e.Kind {
	case review.Question:
	case review.Pitfall:
		if run := e.Question.Text[lang].Pitfalls[e.Pitfall].Run; run != nil {
			card.Watch = s.watchURL(home, *run)
		}
	case review.Prediction:
		card.Exercise, card.Said = views.CardOf(&e.Exercise.Head, lang), saidOf(e.Said)
		card.Watch = s.watchURL(home, content.Run{Exercise: e.Exercise.Name()})
	}
	if e.Why == review.Mistaken {
		card.FailedTitle, card.FailedKind = s.titleOf(e.Mistake.Exercise, lang), string(e.Mistake.Kind)
	}
	return card
}
