package web

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// showError is the only place that shows an error. What it says depends on the
// status alone: the text of an error is for the log.
func (s *Server) showError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	status := statusOf(err)
	id := c.Response().Header().Get(echo.HeaderXRequestID)
	m, err := views.NewProblem(views.Page{Words: s.words.Words(s.langOf(c))}, status, id, maxSource)
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
	switch {
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, &he):
		return he.Code
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
