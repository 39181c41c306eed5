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
	c       echo.Context
	control *http.ResponseController
	wrote   time.Time // when the last byte went out
}

// looking sends what is new and says when to look again: at the next change, which
// may be nil for none, and in any case soon. done ends the stream.
type looking func(ctx context.Context, es *eventStream) (changed <-chan struct{}, done bool, err error)

// serveEvents keeps a stream open until look is done, the browser is gone, the
// server stops or streamTime is over.
func (s *Server) serveEvents(c echo.Context, look looking) error {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return echo.NewHTTPError(http.StatusServiceUnavailable)
	}
	es := &eventStream{c: c, control: http.NewResponseController(c.Response())}
	if err := es.open(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), streamTime)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		changed, done, err := look(ctx, es)
		if err != nil || done {
			return err
		}
		if time.Since(es.wrote) > silence {
			if err := es.send(": still here\n\n"); err != nil {
				return err
			}
		}
		if !s.wait(ctx, changed, tick.C) {
			return nil
		}
	}
}

// wait says whether there is still somebody to tell once one of the two has come.
func (s *Server) wait(ctx context.Context, changed <-chan struct{}, soon <-chan time.Time) bool {
	select {
	case <-changed:
		return true
	case <-soon:
		return true
	case <-ctx.Done():
	case <-s.closing:
	}
	return false
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
