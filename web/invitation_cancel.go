package web

import "github.com/labstack/echo/v4"

// invitationCancel ends a link that nobody has used.
func (s *Server) invitationCancel(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	if err := s.store.CancelInvitation(c.Request().Context(), s.actor(c), id, s.cfg.Now()); err != nil {
		return err
	}
	return s.toPeople(c, "cancelled")
}
