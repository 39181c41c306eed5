package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/views"
)

// browserForget deletes all that the site keeps for a browser, and its cookie.
func (s *Server) browserForget(c echo.Context) error {
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	if sent.Get("sure") != "yes" {
		alert, err := s.page(c).Words.Text("progress.tick")
		if err != nil {
			return err
		}
		return s.showProgress(c, http.StatusUnprocessableEntity, "", alert)
	}
	if browser := s.browser(c); browser != "" {
		if err := s.queue.Forget(c.Request().Context(), browser); err != nil {
			return err
		}
		s.rooms.Forget(string(browser))
	}
	c.SetCookie(&http.Cookie{ //nolint:gosec // Secure follows the site's address
		Name: s.cookieName(), Path: "/", MaxAge: -1, HttpOnly: true, Secure: s.cfg.SecureCookies, SameSite: http.SameSiteLaxMode,
	})
	// The editor keeps what it could not send in the storage of its tab, which goes with
	// the tab. Storage has no paths: what is under a prefix shares it with its neighbours.
	if s.cfg.BasePath == "" {
		c.Response().Header().Set("Clear-Site-Data", `"storage"`)
	}
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.ProgressURL(s.home(c)), "forgotten")))
}
