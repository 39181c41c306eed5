package web

import (
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
	state, err := s.state(c, sub)
	if err != nil {
		return err
	}
	if state.ApproachHTML, err = s.approach(c, sub); err != nil {
		return err
	}
	if _, sits := sittingOf(c); !sits {
		if err := s.addPractice(c, sub, &state); err != nil {
			return err
		}
	}
	m, err := views.NewSubmission(p, state, c.QueryParam("notice"))
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Submission(m))
}

// approach is how to answer the exercise, for who has passed it and may see that.
func (s *Server) approach(c echo.Context, sub store.Submission) (string, error) {
	sit, sits := sittingOf(c)
	e, ok := s.catalog.Exercise(sub.Exercise) // its pack may be gone
	if sub.Verdict == nil || sub.Verdict.Outcome != verdict.Passed || !ok || sits && !sit.assignment.Approaches || !sits && e.Visibility != "public" {
		return "", nil
	}
	text, err := s.texts.of(e, s.langOf(c))
	return text.approach, err
}

// submission finds the submission in the address if this browser made it.
func (s *Server) submission(c echo.Context) (store.Submission, error) {
	c.Set(submissionKey, c.Param("id"))
	sub, err := s.store.Submission(c.Request().Context(), s.browser(c), c.Param("id"))
	sub.Verdict = shown(c, sub.Verdict)
	return sub, err
}

// state collects what the page shows of a submission.
func (s *Server) state(c echo.Context, sub store.Submission) (views.SubmissionState, error) {
	ctx, lang := c.Request().Context(), s.langOf(c)
	state := views.SubmissionState{
		Partial:  hidesPhases(c),
		PublicID: sub.PublicID, Exercise: sub.Exercise, Title: s.titleOf(sub.Exercise, lang), CreatedAt: sub.CreatedAt,
		Attempt: sub.Attempt, Preparing: s.queue.Preparing() != "", Verdict: sub.Verdict,
	}
	for _, f := range sub.Files {
		state.Files = append(state.Files, views.FileModel{Name: f.Name, Content: string(f.Content)})
	}
	switch sub.State {
	case store.Graded:
		return state, nil
	case store.Replaced:
		newer, err := s.store.Newer(ctx, sub.ID)
		state.Newer = newer
		return state, err
	case store.Queued:
	}
	if sub.Attempt == 0 {
		place, err := s.queue.Place(ctx, sub.ID)
		if err != nil {
			return views.SubmissionState{}, err
		}
		state.Waiting, state.Wait = place.Before, place.Wait
	}
	state.Planned, state.Databases = s.planned(sub.Exercise)
	if state.Partial {
		state.Planned = []string{schedule.HappyPath}
	}
	steps, err := s.store.Steps(ctx, sub.ID)
	if err != nil {
		return views.SubmissionState{}, err
	}
	for _, step := range steps {
		p, err := jobs.DecodeProgress(step.Data)
		if err != nil {
			return views.SubmissionState{}, err
		}
		if state.Partial && beyondHappyPath(p) {
			continue
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

// beyondHappyPath reports whether a step tells of a phase with faults.
func beyondHappyPath(p jobs.Progress) bool {
	return p.Coverage != nil && p.Coverage.Phase != schedule.HappyPath || p.Finding != nil && p.Finding.Phase != "" && p.Finding.Phase != schedule.HappyPath
}
