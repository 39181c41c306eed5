package web

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// healthShow says that the process answers.
func (*Server) healthShow(c echo.Context) error { return c.String(http.StatusOK, "ok\n") }

// readyShow says whether the database answers and the compiler is ready. Until
// then submissions are taken, and wait.
func (s *Server) readyShow(c echo.Context) error {
	status, text := http.StatusOK, "database: ok\n"
	if err := s.store.Ping(c.Request().Context()); err != nil {
		status, text = http.StatusServiceUnavailable, "database: no answer\n"
	}
	if s.queue.Preparing() != "" {
		status, text = http.StatusServiceUnavailable, text+"compiler: being prepared\n"
	} else {
		text += "compiler: ok\n"
	}
	return c.String(status, text)
}
