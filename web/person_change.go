package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/views"
)

// personLink makes a link with which a person sets a new password.
func (s *Server) personLink(c echo.Context) error {
	p, err := s.personOf(c)
	if err != nil {
		return err
	}
	token, expires, err := s.auth.InviteToPassword(c.Request().Context(), s.actor(c), p.ID)
	if err != nil {
		return err
	}
	return s.showLink(c, string(p.Role), p.Login, token, expires, true)
}

// personSignOut ends all sessions of a person.
func (s *Server) personSignOut(c echo.Context) error {
	p, err := s.personOf(c)
	if err != nil {
		return err
	}
	if err := s.store.SignOutPerson(c.Request().Context(), s.actor(c), p.ID, s.cfg.Now()); err != nil {
		return err
	}
	return s.toPeople(c, "signed-out")
}

// personRemove deletes an account.
func (s *Server) personRemove(c echo.Context) error {
	p, err := s.personOf(c)
	if err != nil {
		return err
	}
	if err := s.store.RemovePerson(c.Request().Context(), s.actor(c), p.ID, s.cfg.Now()); err != nil {
		return err
	}
	return s.toPeople(c, "removed")
}

func (s *Server) toPeople(c echo.Context, notice string) error {
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.PeopleURL(s.home(c)), notice)))
}
