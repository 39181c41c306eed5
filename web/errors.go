package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// problem is an error whose page says more than its status does.
type problem struct {
	status  int
	title   string // id of the words above; "": those of the status
	message string // id of the words
	places  []any  // of the words
	cause   error
	// anew is where a run can be found again; nil without.
	anew func(root views.Root) templ.SafeURL
}

func (p *problem) Error() string {
	if p.cause == nil {
		return p.message
	}
	return p.message + ": " + p.cause.Error()
}

func (p *problem) Unwrap() error { return p.cause }

// statusLeft is nginx's number for a client that did not wait: nobody reads the
// answer, and nothing was wrong here.
const statusLeft = 499

// showError is the only place that shows an error. What it says depends on the
// status, or on the words that a problem names: the text of an error is for the
// log.
func (s *Server) showError(shown error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	if s.isAPI(c) {
		s.showAPIError(shown, c)
		return
	}
	status := statusOf(shown)
	if status == statusLeft {
		c.Response().WriteHeader(status)
		return
	}
	id := c.Response().Header().Get(echo.HeaderXRequestID)
	page := s.page(c)
	m, err := views.NewProblem(page, status, id, maxSource)
	var p *problem
	if err == nil && errors.As(shown, &p) {
		m.Message, err = page.Words.Text(p.message, p.places...)
		if err == nil && p.title != "" {
			m.Title, err = page.Words.Text(p.title)
		}
		if p.anew != nil {
			m.Anew = p.anew(page.Home())
		}
	}
	if err == nil {
		err = render(c, status, views.Problem(m))
	}
	if err != nil {
		s.cfg.Log.ErrorContext(c.Request().Context(), "show error page", slog.String("request_id", id), slog.Any("error", err))
	}
}

func statusOf(err error) int {
	var he *echo.HTTPError
	var tooLarge *http.MaxBytesError
	var p *problem
	switch {
	case errors.As(err, &p):
		return p.status
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, &he):
		return he.Code
	case errors.Is(err, context.Canceled):
		return statusLeft
	default:
		return http.StatusInternalServerError
	}
}

// badRequest is an error for a request that no page of ours sends.
func badRequest(format string, args ...any) error {
	return echo.NewHTTPError(http.StatusBadRequest).SetInternal(fmt.Errorf(format, args...))
}

// keepPanic turns a panic into an error with its stack, for the log.
func keepPanic(_ echo.Context, err error, stack []byte) error {
	return fmt.Errorf("panic: %w\n%s", err, stack)
}
