package web

import (
	"slices"

	"github.com/labstack/echo/v4"

	"redeliver/exercises"
	"redeliver/web/review"
	"redeliver/web/store"
	"redeliver/web/views"
)

// practice is what the browser behind a request has practised.
func (s *Server) practice(c echo.Context) (store.Practice, error) {
	return s.store.Practice(c.Request().Context(), s.browser(c))
}

// marksOf says how far a browser is with each exercise that it has tried.
func marksOf(p store.Practice) map[string]views.Mark {
	marks := map[string]views.Mark{}
	for _, e := range p.Exercises {
		marks[e.Exercise] = views.Mark{Tried: true, Passed: !e.PassedAt.IsZero()}
	}
	return marks
}

// saidOf is a prediction as the pages show it.
func saidOf(p store.Prediction) views.Said {
	return views.Said{Guess: string(p.Guess), Came: p.Came, Right: p.Right()}
}

// predictionFor finds what a browser said of an exercise's starter.
func predictionFor(p store.Practice, exercise string) (store.Prediction, bool) {
	i := slices.IndexFunc(p.Predictions, func(said store.Prediction) bool { return said.Exercise == exercise })
	if i < 0 {
		return store.Prediction{}, false
	}
	return p.Predictions[i], true
}

// prediction is the part of an exercise's page about predictions. One can be made
// as long as nothing was judged or waits.
func (s *Server) prediction(c echo.Context, e *exercises.Exercise, submitted bool) (views.PredictionModel, error) {
	p, err := s.practice(c)
	if err != nil {
		return views.PredictionModel{}, err
	}
	var said views.Said
	if made, ok := predictionFor(p, e.Name()); ok {
		said = saidOf(made)
	}
	var guesses []string
	if !submitted && !marksOf(p)[e.Name()].Tried {
		for _, g := range store.Guesses() {
			guesses = append(guesses, string(g))
		}
	}
	return views.NewPrediction(s.page(c), guesses, said)
}

// addPractice tells on the page of a verdict what it means for the practice.
func (s *Server) addPractice(c echo.Context, sub store.Submission, state *views.SubmissionState) error {
	if sub.Verdict == nil {
		return nil
	}
	p, err := s.practice(c)
	if err != nil {
		return err
	}
	if made, ok := predictionFor(p, sub.Exercise); ok && made.SourceHash == store.SourceHash(sub.Files) {
		state.Said = saidOf(made)
	}
	for _, e := range s.deck.Plan(p, s.cfg.Now(), 0).Entries {
		if e.Why == review.Mistaken && e.Mistake.Exercise == sub.Exercise && slices.Contains(store.Came(*sub.Verdict), string(e.Mistake.Kind)) {
			state.Cards++
		}
	}
	return nil
}

// progress counts what a browser has practised.
func (s *Server) progress(p store.Practice) views.ProgressState {
	public := s.catalog.Public()
	state := views.ProgressState{All: len(public), Questions: s.deck.Questions(), Cards: s.deck.Plan(p, s.cfg.Now(), 0).Waiting()}
	marks := marksOf(p)
	for _, head := range public {
		mark := marks[head.Name()]
		state.Tried += one(mark.Tried)
		state.Passed += one(mark.Passed)
		line := views.ExerciseState{Head: head, Mark: mark}
		if made, ok := predictionFor(p, head.Name()); ok {
			line.Said = saidOf(made)
			state.Said += one(len(made.Came) > 0)
			state.Right += one(made.Right())
		}
		if line.Tried || line.Said.Guess != "" {
			state.Exercises = append(state.Exercises, line)
		}
		for _, m := range p.Mistakes {
			if m.Exercise == head.Name() {
				state.Mistakes = append(state.Mistakes, views.MistakeState{Head: head, Kind: string(m.Kind), Times: m.Times})
			}
		}
	}
	for _, card := range p.Cards {
		if c, ok := s.deck.Card(card.Name); ok {
			state.Rated += one(c.Kind == review.Question)
		}
	}
	return state
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// daysOf says when a card comes again after each rating.
func (s *Server) daysOf(card store.Card) (days []views.RatingDays) {
	now := s.cfg.Now()
	for _, r := range review.Ratings() {
		days = append(days, views.RatingDays{Rating: string(r), Days: review.DaysUntil(review.Next(card, r, now), now)})
	}
	return days
}

// seenCard is a card as a browser rated it last.
func seenCard(p store.Practice, name string) store.Card {
	for _, c := range p.Cards {
		if c.Name == name {
			return c
		}
	}
	return store.Card{Name: name}
}
