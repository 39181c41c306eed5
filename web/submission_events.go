package web

import (
	"context"
	"strings"

	"github.com/labstack/echo/v4"

	"redeliver/web/views"
)

// submissionEvents streams how far a grading has come, until the verdict is there.
// The number of the last step is the id of an event, so a browser that lost the
// connection says what it has and gets only what is newer.
func (s *Server) submissionEvents(c echo.Context) error {
	after, err := lastSeen(c.Request())
	if err != nil {
		return err
	}
	sub, err := s.submission(c)
	if err != nil {
		return err
	}
	// Watched before the first look, so that nothing is missed in between.
	changes, stop := s.queue.Watch(sub.ID)
	defer stop()
	g := &gradingStream{s: s, page: s.page(c), after: after}
	return s.serveEvents(c, func(ctx context.Context, es *eventStream) (<-chan struct{}, bool, error) {
		done, err := g.look(ctx, es)
		return changes, done, err
	})
}

// gradingStream is what one browser has been sent about a grading.
type gradingStream struct {
	s      *Server
	page   views.Page
	after  int64  // the last step that the browser has
	status string // the status line that was sent last
}

// look reads the submission and sends what the browser does not have. It
// reports whether that was the end.
func (g *gradingStream) look(ctx context.Context, es *eventStream) (done bool, err error) {
	sub, err := g.s.submission(es.c)
	if err != nil {
		return false, err
	}
	state, err := g.s.state(es.c, sub)
	if err != nil {
		return false, err
	}
	m, err := views.NewProgress(g.page, state)
	if err != nil {
		return false, err
	}
	var out strings.Builder
	if m.Status != g.status {
		if err := writeEvent(ctx, &out, "status", 0, views.SubmissionStatus(m)); err != nil {
			return false, err
		}
	}
	// Before the phases, whose id says that everything up to it has come.
	if m.First != nil && m.FirstAt > g.after && !m.Done {
		if err := writeEvent(ctx, &out, "finding", 0, views.SubmissionFinding(g.page, m)); err != nil {
			return false, err
		}
	}
	if m.LastStep > g.after {
		if err := writeEvent(ctx, &out, "phases", m.LastStep, views.SubmissionPhases(m)); err != nil {
			return false, err
		}
	}
	if m.Done {
		out.WriteString("event: done\ndata:\n\n")
	}
	g.status, g.after = m.Status, max(g.after, m.LastStep)
	return m.Done, es.send(out.String())
}
