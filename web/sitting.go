package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"redeliver/exercises"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
	"redeliver/web/clock"
	"redeliver/web/store"
	"redeliver/web/views"
)

// sitting is the candidate behind a request, who is at work or is looked at by an
// interviewer.
type sitting struct {
	candidate  store.Candidate
	assignment store.Assignment
	reading    clock.Reading
	report     bool // an interviewer looks
	takesDraft bool // the request brings one, and nothing else
}

// sittingKey is where a request keeps its sitting.
const sittingKey = "sitting"

func sittingOf(c echo.Context) (sitting, bool) {
	sit, ok := c.Get(sittingKey).(sitting)
	return sit, ok
}

// stateOf names how far a candidate is. A sitting whose time is over has ended, also
// while it still waits for drafts that are on their way.
func (s *Server) stateOf(sit sitting) string {
	c := sit.candidate
	switch {
	case !c.EndedAt.IsZero(), s.isOver(sit):
		return "ended"
	case !c.CancelledAt.IsZero():
		return "cancelled"
	case c.Sits():
		return "sits"
	default:
		return "invited"
	}
}

// isOver reports whether the time of a sitting is over and it is about to be ended.
func (s *Server) isOver(sit sitting) bool {
	return sit.candidate.Sits() && sit.candidate.CancelledAt.IsZero() && sit.reading.Over(s.cfg.Now())
}

// forDrafts lets what is on its way at the end of a sitting arrive in time.
func forDrafts(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if sit, ok := sittingOf(c); ok {
			sit.takesDraft = true
			c.Set(sittingKey, sit)
		}
		return next(c)
	}
}

// inSitting lets whoever has a candidate's link act in its sitting, with the drafts
// and submissions of the sitting instead of those of the browser. A sitting whose
// time is over is ended first, whatever the request wants.
func (s *Server) inSitting(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		sit, err := s.findSitting(c.Request().Context(), c.Param("token"))
		if err != nil {
			return s.assignmentLinkProblem(err)
		}
		c.Set(sittingKey, sit)
		c.Set(browserKey, sit.candidate.Browser)
		err = next(c)
		switch {
		case !errors.Is(err, store.ErrEnded):
			return err
		case wantsJSON(c): // the editor, which shows what it is told
			return s.answerProblem(c, errOver.status, errOver.message)
		default:
			return errOver // also when it ended while the request was under way
		}
	}
}

// assignmentLinkProblem says of a link that leads nowhere why that may be.
func (s *Server) assignmentLinkProblem(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return &problem{status: http.StatusNotFound, message: "sitting.gone", cause: err}
	}
	return err
}

func (s *Server) findSitting(ctx context.Context, token string) (sitting, error) {
	hash := store.HashToken(token)
	candidate, a, err := s.store.CandidateByToken(ctx, hash)
	if err != nil {
		return sitting{}, err
	}
	sit, err := s.read(ctx, candidate, a)
	if err != nil || !candidate.Sits() || !sit.reading.Over(s.cfg.Now().Add(-store.Grace)) {
		return sit, err
	}
	if _, err := s.queue.EndSitting(ctx, candidate.ID, store.ByTime); err != nil {
		return sitting{}, err
	}
	if candidate, a, err = s.store.CandidateByToken(ctx, hash); err != nil {
		return sitting{}, err
	}
	return s.read(ctx, candidate, a)
}

// read is a sitting with its clock.
func (s *Server) read(ctx context.Context, candidate store.Candidate, a store.Assignment) (sitting, error) {
	reading, err := s.store.Clock(ctx, a, candidate, s.cfg.Now())
	return sitting{candidate: candidate, assignment: a, reading: reading}, err
}

// sittings are those of all candidates of an assignment.
func (s *Server) sittings(ctx context.Context, a store.Assignment) ([]sitting, error) {
	candidates, err := s.store.Candidates(ctx, a)
	if err != nil {
		return nil, err
	}
	list := make([]sitting, len(candidates))
	for i, candidate := range candidates {
		if list[i], err = s.read(ctx, candidate, a); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// bar is what stands on every page of a sitting.
func (s *Server) bar(c echo.Context, sit sitting) views.SittingBar {
	return views.SittingBar{
		State: s.stateOf(sit), URL: views.SittingURL(s.home(c), c.Param("token")),
		Deadline: sit.reading.Deadline, Left: sit.reading.Left(s.cfg.Now()), GivenBack: sit.reading.GivenBack, VainSpent: sit.reading.VainSpent,
	}
}

// within is where the exercises and submissions of a request lie, as Page.Within.
func within(c echo.Context) string {
	sit, ok := sittingOf(c)
	switch {
	case !ok:
		return ""
	case sit.report:
		return views.CandidateRoot(sit.assignment.ID, sit.candidate.ID)
	default:
		return views.SittingRoot(c.Param("token"))
	}
}

// rootOf is Page.Root of a request.
func (s *Server) rootOf(c echo.Context) views.Root { return s.page(c).Root() }

// errOver is shown to who wants to write after the end.
var errOver = &problem{status: http.StatusGone, title: "sitting.is-ended", message: "sitting.over", cause: store.ErrEnded}

// exerciseIn finds an exercise that everybody may see or, inside of a sitting, one of
// the sitting: before the start the warm-up, until the end those of the assignment.
func (s *Server) exerciseIn(c echo.Context, name string) (*exercises.Exercise, error) {
	sit, ok := sittingOf(c)
	if !ok {
		return s.exercise(name)
	}
	assigned := slices.Contains(sit.assignment.Exercises, name)
	state := s.stateOf(sit)
	switch {
	case assigned && (sit.report || state == "sits" || sit.takesDraft && s.isOver(sit)):
	case name == sit.assignment.WarmUp && state == "invited" && name != "":
	case assigned && state == "ended":
		return nil, errOver
	default:
		return nil, fmt.Errorf("exercise %q of the assignment: %w", name, store.ErrNotFound)
	}
	e, ok := s.catalog.Exercise(name)
	if !ok { // its pack was removed, or is broken
		return nil, &problem{status: http.StatusNotFound, title: "exercise.not-installed", message: "exercise.not-installed-text", places: []any{"Name", name}}
	}
	return e, nil
}

// hidesPhases reports whether a request may see no more than the happy path.
func hidesPhases(c echo.Context) bool {
	sit, ok := sittingOf(c)
	return ok && !sit.report && !sit.assignment.AllPhases
}

// shown is a verdict as a request may see it. A sitting has no links to runs: those
// pages are for exercises that everybody may see, and stand outside of it.
func shown(c echo.Context, v *verdict.Verdict) *verdict.Verdict {
	if _, ok := sittingOf(c); !ok || v == nil {
		return v
	}
	out := *v
	out.Findings = slices.Clone(v.Findings)
	for i := range out.Findings {
		out.Findings[i].Schedule, out.Findings[i].PassingTwin = "", ""
	}
	if !hidesPhases(c) {
		return &out
	}
	out.Findings = slices.DeleteFunc(out.Findings, func(f verdict.Finding) bool { return f.Phase != "" && f.Phase != schedule.HappyPath })
	out.Coverage, out.Schedules = nil, 0
	for _, line := range v.Coverage {
		if line.Phase == schedule.HappyPath {
			out.Coverage = append(out.Coverage, line)
			out.Schedules += line.Schedules
		}
	}
	if len(out.Findings) > 0 && out.Findings[0].Phase != v.Findings[0].Phase {
		out.Summary = out.Findings[0].Message // it was about what is hidden
	}
	if len(out.Findings) == 0 && (v.Outcome == verdict.Passed || v.Outcome == verdict.Failed) {
		out.Outcome, out.Summary = views.Withheld, ""
	}
	return &out
}

// shownOutcome is the outcome in a list, likewise.
func shownOutcome(c echo.Context, o verdict.Outcome) verdict.Outcome {
	if hidesPhases(c) && (o == verdict.Passed || o == verdict.Failed) {
		return views.Withheld
	}
	return o
}
