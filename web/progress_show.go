package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"redeliver/web/views"
)

// progressShow shows what this browser has practised.
func (s *Server) progressShow(c echo.Context) error { return s.showProgress(c, http.StatusOK, "", "") }

// showProgress draws the page; title and alert say why a form was not accepted.
func (s *Server) showProgress(c echo.Context, status int, title, alert string) error {
	p, err := s.practice(c)
	if err != nil {
		return err
	}
	state := s.progress(p)
	if n, err := strconv.Atoi(c.QueryParam("left-out")); err == nil && n > 0 {
		state.LeftOut = n
	}
	m, err := views.NewPracticePage(s.page(c), state, c.QueryParam("notice"))
	if err != nil {
		return err
	}
	m.AlertTitle, m.Alert = title, alert
	return render(c, status, views.PracticePage(m))
}

// progressReturn answers the addresses that forms post to.
func (s *Server) progressReturn(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, string(views.ProgressURL(s.home(c))))
}
