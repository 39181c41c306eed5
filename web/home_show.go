package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/views"
)

// listed is how many submissions or versions a page lists.
const listed = 10

// baseRedirect answers the prefix without a slash behind it.
func (s *Server) baseRedirect(c echo.Context) error {
	return c.Redirect(http.StatusFound, string(s.cfg.BasePath)+"/")
}

// homeRedirect answers the address of the home page without its last slash.
func (s *Server) homeRedirect(c echo.Context) error {
	return c.Redirect(http.StatusFound, string(views.HomeURL(s.home(c))))
}

func (s *Server) homeShow(c echo.Context) error {
	p := s.page(c)
	recent, err := s.store.Submissions(c.Request().Context(), s.browser(c), "", listed)
	if err != nil {
		return err
	}
	m, err := views.NewHome(p, s.catalog.Public(), s.lines(recent, p.Lang()))
	if err != nil {
		return err
	}
	practised, err := s.practice(c)
	if err != nil {
		return err
	}
	if err := m.AddProgress(s.progress(practised)); err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Home(m))
}
