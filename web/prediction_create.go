package web

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"redeliver/web/jobs"
	"redeliver/web/store"
	"redeliver/web/views"
)

// predictionCreate keeps what a reader says of a starter, and hands the starter in
// as it stands. Drafts are left alone.
func (s *Server) predictionCreate(c echo.Context) error {
	e, err := s.exercise(nameOf(c))
	if err != nil {
		return err
	}
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	guess := store.Guess(sent.Get(views.GuessField))
	if guess == "" {
		return s.askAgain(c, exerciseForm{exercise: e}, "predict.choose")
	}
	if !slices.Contains(store.Guesses(), guess) {
		return badRequest("guess is %q", guess)
	}
	browser, err := s.writer(c)
	if err != nil {
		return err
	}
	late, err := s.tooLate(c, browser, e.Name())
	if err != nil {
		return err
	}
	if late {
		return s.askAgain(c, exerciseForm{exercise: e}, "predict.late")
	}
	form := exerciseForm{exercise: e}
	for _, f := range e.Starter {
		form.files = append(form.files, store.File(f))
	}
	if _, err := s.store.Predict(c.Request().Context(), browser, store.Prediction{
		Exercise: e.Name(), Guess: guess, SourceHash: store.SourceHash(form.files), MadeAt: s.cfg.Now(),
	}); err != nil {
		return err
	}
	receipt, err := s.queue.Submit(c.Request().Context(), jobs.Submission{
		Browser: browser, Exercise: e.Name(), ExerciseVersion: e.Version, Files: form.files, Seed: jobs.Seed, Sample: true,
	})
	if err != nil {
		return err
	}
	return s.answer(c, form, receipt)
}

// tooLate reports whether a browser has seen, or will soon see, a verdict in an
// exercise.
func (s *Server) tooLate(c echo.Context, browser store.Browser, exercise string) (bool, error) {
	p, err := s.practice(c)
	if err != nil || marksOf(p)[exercise].Tried {
		return true, err
	}
	list, err := s.store.Submissions(c.Request().Context(), browser, exercise, 1)
	return len(list) > 0, err
}

// askAgain shows the exercise with the reason why nothing was run.
func (s *Server) askAgain(c echo.Context, f exerciseForm, reason string) error {
	form, err := s.newestForm(c, f.exercise)
	if err != nil {
		return err
	}
	if form.Alert, err = s.page(c).Words.Text(reason); err != nil {
		return err
	}
	return s.showForm(c, http.StatusUnprocessableEntity, f.exercise, form)
}
