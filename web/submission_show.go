package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
	"redeliver/web/jobs"
	"redeliver/web/store"
	"redeliver/web/views"
)

func (s *Server) submissionShow(c echo.Context) error {
	sub, err := s.submission(c)
	if err != nil {
		return err
	}
	p := s.page(c)
	state, err := s.state(c.Request().Context(), sub, p.Lang())
	if err != nil {
		return err
	}
	if passed := sub.Verdict != nil && sub.Verdict.Outcome == verdict.Passed; passed {
		if e, err := s.exercise(sub.Exercise); err == nil { // its pack may be gone
			text, err := s.texts.of(e, p.Lang())
			if err != nil {
				return err
			}
			state.ApproachHTML = text.approach
		}
	}
	if err := s.addPractice(c, sub, &state); err != nil {
		return err
	}
	m, err := views.NewSubmission(p, state, c.QueryParam("notice"))
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Submission(m))
}

// submission finds the submission in the address if this browser made it.
func (s *Server) submission(c echo.Context) (store.Submission, error) {
	c.Set(submissionKey, c.Param("id"))
	return s.store.Submission(c.Request().Context(), s.browser(c), c.Param("id"))
}

// state collects what the page shows of a submission.
func (s *Server) state(ctx context.Context, sub store.Submission, lang string) (views.SubmissionState, error) {
	state := views.SubmissionState{
		PublicID: sub.PublicID, Exercise: sub.Exercise, Title: s.titleOf(sub.Exercise, lang), CreatedAt: sub.CreatedAt,
		Attempt: sub.Attempt, Preparing: s.queue.Preparing() != "", Verdict: sub.Verdict,
	}
	for _, f := range sub.Files {
		state.Files = append(state.Files, views.FileModel{Name: f.Name, Content: string(f.Content)})
	}
	if sub.State == store.Graded {
		return state, nil
	}
	if sub.Attempt == 0 {
		waiting, err := s.store.WaitingBefore(ctx, sub.ID)
		if err != nil {
			return views.SubmissionState{}, err
		}
		state.Waiting = waiting
	}
	state.Planned, state.Databases = s.planned(sub.Exercise)
	steps, err := s.store.Steps(ctx, sub.ID)
	if err != nil {
		return views.SubmissionState{}, err
	}
	for _, step := range steps {
		p, err := jobs.DecodeProgress(step.Data)
		if err != nil {
			return views.SubmissionState{}, err
		}
		state.Steps = append(state.Steps, views.Progress(p))
		state.StepNumbers = append(state.StepNumbers, step.Number)
	}
	return state, nil
}

// planned lists the phases that a grading of an exercise runs, and on which
// databases, where there is more than plain SQLite.
func (s *Server) planned(exercise string) (phases, databases []string) {
	e, ok := s.catalog.Exercise(exercise)
	if ok && !slices.Equal(e.Databases, []string{verdict.SQLite}) {
		databases = e.Databases
	}
	phases = slices.DeleteFunc(schedule.Phases(), func(phase string) bool {
		return ok && e.Phases != nil && phase != schedule.HappyPath && !slices.Contains(e.Phases, phase)
	})
	return phases, databases
}
