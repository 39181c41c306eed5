package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

const (
	// lookEvery bounds how late a stream hears of what happened in another
	// process, and of its place in the queue.
	lookEvery = 2 * time.Second
	// silence is the longest time without a byte: proxies close what is silent.
	silence = 15 * time.Second
	// streamTime ends a stream that nobody may be reading; a browser that is
	// there connects again.
	streamTime = 10 * time.Minute
	// writeTime is how long one event may take to be sent.
	writeTime = 30 * time.Second
)

// submissionEvents streams how far a grading has come. The number of the last
// step is the id of an event, so a browser that lost the connection says what
// it has and gets only what is newer.
func (s *Server) submissionEvents(c echo.Context) error {
	after, err := lastSeen(c.Request())
	if err != nil {
		return err
	}
	sub, err := s.submission(c)
	if err != nil {
		return err
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return echo.NewHTTPError(http.StatusServiceUnavailable)
	}
	es := &eventStream{s: s, c: c, page: s.page(c), after: after, control: http.NewResponseController(c.Response())}
	if err := es.open(); err != nil {
		return err
	}
	return es.run(sub)
}

// lastSeen is the last step that the browser has: what it says when it connects
// again, or else what the page was drawn with.
func lastSeen(r *http.Request) (int64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, badRequest("last event is %q", text)
	}
	return n, nil
}

// eventStream is one open stream.
type eventStream struct {
	s       *Server
	c       echo.Context
	page    views.Page
	control *http.ResponseController

	after  int64     // the last step that the browser has
	status string    // the status line that was sent last
	wrote  time.Time // when the last byte went out
}

// open sends the header. The deadlines of the server are for requests that
// end; a stream sets its own before each event.
func (es *eventStream) open() error {
	if err := es.control.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("open stream: %w", err)
	}
	h := es.c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx must not collect the events
	es.c.Response().WriteHeader(http.StatusOK)
	return es.send("retry: 1000\n\n")
}

// run sends what is new until the verdict is there, the browser is gone or the
// server stops.
func (es *eventStream) run(sub store.Submission) error {
	ctx, cancel := context.WithTimeout(es.c.Request().Context(), streamTime)
	defer cancel()
	// Watched before the first look, so that nothing is missed in between.
	changes, stop := es.s.queue.Watch(sub.ID)
	defer stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		done, err := es.look(ctx)
		if err != nil || done {
			return err
		}
		select {
		case <-changes:
		case <-tick.C:
		case <-ctx.Done():
			return nil
		case <-es.s.closing:
			return nil
		}
	}
}

// look reads the submission and sends what the browser does not have. It
// reports whether that was the end.
func (es *eventStream) look(ctx context.Context) (done bool, err error) {
	sub, err := es.s.submission(es.c)
	if err != nil {
		return false, err
	}
	state, err := es.s.state(ctx, sub, es.page.Lang())
	if err != nil {
		return false, err
	}
	m, err := views.NewProgress(es.page, state)
	if err != nil {
		return false, err
	}
	var out strings.Builder
	if m.Status != es.status {
		if err := writeEvent(ctx, &out, "status", 0, views.SubmissionStatus(m)); err != nil {
			return false, err
		}
	}
	// Before the phases, whose id says that everything up to it has come.
	if m.First != nil && m.FirstAt > es.after && !m.Done {
		if err := writeEvent(ctx, &out, "finding", 0, views.SubmissionFinding(es.page, m)); err != nil {
			return false, err
		}
	}
	if m.LastStep > es.after {
		if err := writeEvent(ctx, &out, "phases", m.LastStep, views.SubmissionPhases(m)); err != nil {
			return false, err
		}
	}
	switch {
	case m.Done:
		out.WriteString("event: done\ndata:\n\n")
	case out.Len() == 0 && time.Since(es.wrote) > silence:
		out.WriteString(": still here\n\n")
	}
	es.status, es.after = m.Status, max(es.after, m.LastStep)
	return m.Done, es.send(out.String())
}

func (es *eventStream) send(text string) error {
	if text == "" {
		return nil
	}
	if err := es.control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return fmt.Errorf("send event: %w", err)
	}
	if _, err := es.c.Response().Write([]byte(text)); err != nil {
		return fmt.Errorf("send event: %w", err)
	}
	if err := es.control.Flush(); err != nil {
		return fmt.Errorf("send event: %w", err)
	}
	es.wrote = time.Now()
	return nil
}

// dataLines begins a new field at each of the three line ends that browsers
// accept: a text with a bare \r in it could otherwise forge the next field.
func dataLines() *strings.Replacer {
	return strings.NewReplacer("\r\n", "\ndata: ", "\n", "\ndata: ", "\r", "\ndata: ")
}

// writeEvent adds an event whose data is a piece of the page. Without an id the
// browser keeps the one it has.
func writeEvent(ctx context.Context, out *strings.Builder, name string, id int64, view templ.Component) error {
	var html strings.Builder
	if err := view.Render(ctx, &html); err != nil {
		return fmt.Errorf("render event: %w", err)
	}
	if id > 0 {
		fmt.Fprintf(out, "id: %d\n", id)
	}
	fmt.Fprintf(out, "event: %s\ndata: %s\n\n", name, dataLines().Replace(html.String()))
	return nil
}
