package web

import (
	"fmt"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// signOut ends the session of this browser.
func (s *Server) signOut(c echo.Context) error {
	ctx := c.Request().Context()
	if err := s.sessions.Destroy(ctx); err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	if err := s.store.Note(ctx, s.actor(c), store.SignedOut, "", s.cfg.Now()); err != nil {
		return err
	}
	return s.signedOutTo(c, string(views.HomeURL(s.home(c))))
}

// signOutEverywhere ends all sessions of who is signed in.
func (s *Server) signOutEverywhere(c echo.Context) error {
	if err := s.store.SignOutEverywhere(c.Request().Context(), s.actor(c), s.cfg.Now()); err != nil {
		return err
	}
	return s.signedOutTo(c, string(views.SignInURL(s.home(c))))
}
