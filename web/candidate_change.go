package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
)

// maxJudgement bounds a note about a candidate, in characters.
const maxJudgement = 5000

// candidateCancel ends the link of a candidate, and the sitting if there is one.
func (s *Server) candidateCancel(c echo.Context) error {
	err := s.cancel(c)
	if errors.Is(err, store.ErrNotFound) { // it has ended meanwhile; the page shows that
		return s.toCandidate(c, "")
	}
	if err != nil {
		return err
	}
	return s.toCandidate(c, "cancelled")
}

// cancel is candidateCancel for whoever asks. ErrNotFound: it has ended already.
func (s *Server) cancel(c echo.Context) error {
	sit, _ := sittingOf(c)
	ctx := c.Request().Context()
	if err := s.store.CancelCandidate(ctx, s.actor(c), sit.candidate, s.cfg.Now()); err != nil {
		return err
	}
	_, err := s.queue.EndSitting(ctx, sit.candidate.ID, store.ByCancel)
	return err
}

// candidateExtra sets the extra time of a candidate, also while it sits.
func (s *Server) candidateExtra(c echo.Context) error {
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	extra, ok := extraOf(sent)
	if !ok {
		return s.showCandidate(c, http.StatusUnprocessableEntity, "", views.FormProblem{Field: "extra", Reason: "range"})
	}
	sit, _ := sittingOf(c)
	err = s.store.SetExtra(c.Request().Context(), s.actor(c), sit.candidate, extra, s.cfg.Now())
	if errors.Is(err, store.ErrNotFound) {
		return s.toCandidate(c, "")
	}
	if err != nil {
		return err
	}
	return s.toCandidate(c, "extra")
}

// candidateJudge keeps what the interviewer says about an exercise, or about all.
func (s *Server) candidateJudge(c echo.Context) error {
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	sit, _ := sittingOf(c)
	j := store.Judgement{Exercise: sent.Get(views.ExerciseField), Note: strings.TrimSpace(unixLines(sent.Get(views.NoteField)))}
	if j.Exercise != "" && !slices.Contains(sit.assignment.Exercises, j.Exercise) {
		return badRequest("exercise %q", j.Exercise)
	}
	var field *auth.FieldError
	if errors.As(textField("note", j.Note, 0, maxJudgement), &field) {
		return badRequest("note: %w", field) // the form has the same bound
	}
	var met []string
	for _, line := range s.rubric(j.Exercise, store.Judgement{Met: strings.Join(sent[views.MetField], " ")}) {
		if line.Met {
			met = append(met, line.Number)
		}
	}
	j.Met = strings.Join(met, " ")
	if err := s.store.Judge(c.Request().Context(), s.actor(c), sit.candidate, j, s.cfg.Now()); err != nil {
		return err
	}
	return s.toCandidate(c, "noted")
}

// candidateDelete deletes a candidate with all that it wrote.
func (s *Server) candidateDelete(c echo.Context) error {
	sit, _ := sittingOf(c)
	if err := s.queue.ForgetCandidate(c.Request().Context(), s.actor(c), sit.candidate); err != nil {
		return err
	}
	return s.toAssignment(c, sit.assignment.ID, "candidate-deleted")
}
