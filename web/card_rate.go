package web

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"redeliver/web/review"
	"redeliver/web/store"
	"redeliver/web/views"
)

// cardRate keeps how well a card was known and leads to the next one, or back to
// the question whose page rated it.
func (s *Server) cardRate(c echo.Context) error {
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	rating := review.Rating(sent.Get("rating"))
	reps, err := strconv.Atoi(sent.Get("reps"))
	if err != nil || reps < 0 || !rating.Known() {
		return badRequest("rating %q of a card that was rated %q times", rating, sent.Get("reps"))
	}
	card, ok := s.deck.Card(sent.Get("card"))
	if !ok {
		return badRequest("card %q", sent.Get("card"))
	}
	browser, err := s.writer(c)
	if err != nil {
		return err
	}
	if card.Kind == review.Prediction {
		p, err := s.practice(c)
		if err != nil {
			return err
		}
		if said, ok := predictionFor(p, card.Exercise.Name()); !ok || !said.Missed() {
			return badRequest("card %q without a prediction", card.Name)
		}
	}
	now := s.cfg.Now()
	rated, err := s.store.RateCard(c.Request().Context(), browser, card.Name, reps, now, func(seen store.Card) store.Card {
		return review.Next(seen, rating, now)
	})
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(s.afterRating(c, sent, card, rated)))
}

func (s *Server) afterRating(c echo.Context, sent url.Values, card *review.Card, rated bool) templ.SafeURL {
	if sent.Get("back") != "" && card.Question != nil {
		return views.QuestionURL(s.home(c), card.Question.Slug) + "#rated"
	}
	if !rated {
		return views.WithNotice(views.ReviewURL(s.home(c)), "stale")
	}
	query := url.Values{"notice": {"rated"}, "card": {card.Name}}
	if more := moreOf(sent.Get("more")); more > 1 {
		query.Set("more", strconv.Itoa(more-1))
	}
	return views.ReviewURL(s.home(c)) + templ.SafeURL("?"+query.Encode())
}
