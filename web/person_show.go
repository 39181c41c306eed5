package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// personShow is what an owner can do about one person.
func (s *Server) personShow(c echo.Context) error {
	p, err := s.personOf(c)
	if err != nil {
		return err
	}
	browsers, err := s.store.CountSessions(c.Request().Context(), p.ID, s.cfg.Now())
	if err != nil {
		return err
	}
	me, _ := s.person(c)
	m, err := views.NewPerson(s.page(c), personModel(p), browsers, p.ID == me.ID)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Person(m))
}

// personOf finds the person of the address.
func (s *Server) personOf(c echo.Context) (store.Person, error) {
	id, err := idOf(c)
	if err != nil {
		return store.Person{}, err
	}
	return s.store.Person(c.Request().Context(), id)
}

// personReturn answers the addresses of the forms of the page.
func (s *Server) personReturn(c echo.Context) error {
	p, err := s.personOf(c)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.PersonURL(s.home(c), p.ID)))
}
