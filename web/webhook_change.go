package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/views"
)

// webhookTest sends a message without content.
func (s *Server) webhookTest(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	if err := s.queue.SendTest(c.Request().Context(), s.actor(c), id); err != nil {
		return err
	}
	return s.toWebhook(c, id, "test")
}

// deliveryRepeat sends a message of the log once more.
func (s *Server) deliveryRepeat(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	delivery, err := numberOf(c, "did")
	if err != nil {
		return err
	}
	if err := s.queue.SendAgain(c.Request().Context(), s.actor(c), id, delivery); err != nil {
		return err
	}
	return s.toWebhook(c, id, "again")
}

// webhookDelete deletes an address with its log.
func (s *Server) webhookDelete(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	if err := s.store.DeleteWebhook(c.Request().Context(), s.actor(c), id, s.cfg.Now()); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.WebhooksURL(s.home(c)), "deleted")))
}
