package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/views/locale"
)

// languageCookie is the name of the cookie that remembers the language that was read
// last.
func (s *Server) languageCookie() string { return s.hostOnly("language") }

// languageChoose sends an address without a language to the same one with the
// language that was read last, or else with the one that the browser asks for.
func (s *Server) languageChoose(c echo.Context) error {
	lang := s.preferred(c)
	c.Response().Header().Set(echo.HeaderVary, "Accept-Language, Cookie")
	target := *c.Request().URL
	target.Scheme, target.Host = "", ""
	// The path begins with one known segment, so this is an address of ours.
	target.Path, target.RawPath = "/"+lang+target.Path, ""
	return c.Redirect(http.StatusFound, target.String())
}

// language lets only addresses pass whose first part is a language, and keeps
// that language for addresses without one.
func (s *Server) language(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		lang := c.Param("lang")
		if !s.words.Has(lang) {
			return store.ErrNotFound
		}
		if s.cookieLanguage(c) != lang {
			c.SetCookie(&http.Cookie{ //nolint:gosec // Secure follows the site's address
				Name: s.languageCookie(), Value: lang, Path: "/", MaxAge: int((365 * 24 * time.Hour).Seconds()),
				HttpOnly: true, Secure: s.cfg.SecureCookies, SameSite: http.SameSiteLaxMode,
			})
		}
		return next(c)
	}
}

// page is the beginning of every page's model.
func (s *Server) page(c echo.Context) views.Page {
	lang := s.langOf(c)
	p := views.Page{
		Words: s.words.Words(lang), Languages: s.languageLinks(c.Request().URL), Base: s.cfg.BaseURL,
		Card: views.CardURL(views.HomeURL(lang)),
	}
	if sit, ok := sittingOf(c); ok {
		p.Within = within(c)
		if !sit.report {
			p.Sitting = s.bar(c, sit)
		}
	}
	if who, ok := s.person(c); ok {
		p.SignedIn = personModel(who)
	}
	return p
}

// languageLinks lead to the address in every language. What was asked is kept,
// but for the notice, which tells of a form and not of the page.
func (s *Server) languageLinks(address *url.URL) []views.LanguageLink {
	first, rest, _ := strings.Cut(strings.TrimPrefix(address.EscapedPath(), "/"), "/")
	query := address.Query()
	if !s.words.Has(first) { // an error, at an address that is none of ours
		rest, query = "", nil
	}
	query.Del("notice")
	if len(query) > 0 {
		rest += "?" + query.Encode()
	}
	var out []views.LanguageLink
	for _, lang := range s.words.Languages() {
		out = append(out, views.LanguageLink{Lang: lang, Name: s.words.NameOf(lang), URL: views.HomeURL(lang) + templ.SafeURL(rest)})
	}
	return out
}

// langOf is the language of the address, or the preferred one where the address
// has none: errors happen there too.
func (s *Server) langOf(c echo.Context) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(c.Request().URL.Path, "/"), "/")
	if s.words.Has(first) {
		return first
	}
	return s.preferred(c)
}

func (s *Server) preferred(c echo.Context) string {
	if lang := s.cookieLanguage(c); lang != "" {
		return lang
	}
	header := c.Request().Header.Get("Accept-Language")
	if header == "" {
		return locale.Default
	}
	return s.words.Match(header)
}

func (s *Server) cookieLanguage(c echo.Context) string {
	cookie, err := c.Cookie(s.languageCookie())
	if err != nil || !s.words.Has(cookie.Value) {
		return ""
	}
	return cookie.Value
}
