package web

import (
	"crypto/rand"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
)

// tokenLength is that of rand.Text: 130 random bits in base 32.
const tokenLength = 26

// hostOnly gives the name of a cookie the prefix by which browsers accept it only
// from this very host over https, so that a neighbouring domain cannot plant one. Its
// end tells sites on one host apart, which paths of cookies cannot: __Host- wants "/".
// In a base path there is no plus.
func (s *Server) hostOnly(name string) string {
	name += strings.ReplaceAll(string(s.cfg.BasePath), "/", "+")
	if s.cfg.SecureCookies {
		return "__Host-" + name
	}
	return name
}

// cookieName is that of the cookie by which a browser is known.
func (s *Server) cookieName() string { return s.hostOnly("redeliver") }

// browserKey is where a request keeps the browser that it has introduced: its
// cookie comes back only with the next one.
const browserKey = "browser"

// browser returns who is asking; the zero value without a usable cookie.
func (s *Server) browser(c echo.Context) store.Browser {
	if b, ok := c.Get(browserKey).(store.Browser); ok {
		return b
	}
	cookie, err := c.Cookie(s.cookieName())
	if err != nil || len(cookie.Value) != tokenLength {
		return ""
	}
	return store.BrowserOf(cookie.Value)
}

// introduce gives the browser a cookie if it has none, and returns who it is.
// The database hears of it only when it writes something.
func (s *Server) introduce(c echo.Context) store.Browser {
	if b := s.browser(c); b != "" {
		return b
	}
	token := rand.Text()
	c.SetCookie(&http.Cookie{ //nolint:gosec // Secure follows the site's address
		Name: s.cookieName(), Value: token, Path: "/", MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, Secure: s.cfg.SecureCookies, SameSite: http.SameSiteLaxMode,
	})
	b := store.BrowserOf(token)
	c.Set(browserKey, b)
	return b
}

// writer returns the browser behind a form. One that writes for the first time
// adds to the database for good, so their number is bounded by address.
func (s *Server) writer(c echo.Context) (store.Browser, error) {
	b := s.introduce(c)
	known, err := s.store.KnowsBrowser(c.Request().Context(), b)
	if err != nil {
		return "", err
	}
	if !known && !s.newBrowsers.allow(c.RealIP()) {
		return "", echo.NewHTTPError(http.StatusTooManyRequests)
	}
	return b, nil
}
