package web

import (
	"context"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"redeliver/web/jobs"
	"redeliver/web/store"
	"redeliver/web/views"
)

// inReport lets an interviewer look into the sitting of one of its candidates. What
// is below then reads the drafts and submissions of the sitting.
func (s *Server) inReport(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		assignment, err := numberOf(c, "aid")
		if err != nil {
			return err
		}
		id, err := numberOf(c, "cid")
		if err != nil {
			return err
		}
		ctx, by := c.Request().Context(), s.actor(c)
		a, err := s.store.Assignment(ctx, by, assignment)
		if err != nil {
			return err
		}
		candidate, err := s.store.Candidate(ctx, by, assignment, id)
		if err != nil {
			return err
		}
		sit, err := s.read(ctx, candidate, a)
		if err != nil {
			return err
		}
		sit.report = true
		c.Set(sittingKey, sit)
		c.Set(browserKey, candidate.Browser)
		return next(c)
	}
}

// eventsOf is events as a report shows them: what the end handed in waited at nobody's
// expense.
func (s *Server) eventsOf(ctx context.Context, sit sitting, exercise string) (views.EventsOf, []views.Paste, error) {
	list, pastes, err := s.events(ctx, sit.candidate.Browser, exercise)
	for i, event := range list {
		if ended := sit.candidate.EndedAt; !ended.IsZero() && !event.At.Before(ended) {
			list[i].Waited = 0
		}
	}
	return list, pastes, err
}

// events lists everything that was written for an exercise in a sitting, in order:
// of a draft and a submission of the same moment, the draft first. A mark of a paste
// stands with its draft and in the list of marks.
func (s *Server) events(ctx context.Context, b store.Browser, exercise string) (views.EventsOf, []views.Paste, error) {
	drafts, err := s.store.Drafts(ctx, b, exercise, store.MaxSittingVersions)
	if err != nil {
		return nil, nil, err
	}
	var list views.EventsOf
	for _, d := range slices.Backward(drafts) {
		list = append(list, views.ReportEvent{Ref: views.DraftEvent(d.Version), At: d.SavedAt, Version: d.Version, Auto: d.Auto, Size: d.Size, ByEditor: d.ByEditor})
	}
	subs, err := s.store.Submissions(ctx, b, exercise, jobs.MaxPerSitting)
	if err != nil {
		return nil, nil, err
	}
	for _, info := range slices.Backward(subs) {
		list = append(list, views.ReportEvent{
			Ref: views.SubmissionEvent(info.PublicID), At: info.CreatedAt, ID: info.PublicID, Outcome: info.Outcome, Waited: waited(info),
		})
	}
	pastes, err := s.store.Pastes(ctx, b, exercise)
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(list, func(a, b views.ReportEvent) int { return a.At.Compare(b.At) })
	return list, marksIn(list, pastes), nil
}

// waited is how long a submission waited for us.
func waited(info store.SubmissionInfo) time.Duration {
	switch {
	case !info.WaitedUntil.IsZero():
		return info.WaitedUntil.Sub(info.CreatedAt)
	case info.StartedAt.IsZero():
		return 0
	}
	return info.StartedAt.Sub(info.CreatedAt)
}
