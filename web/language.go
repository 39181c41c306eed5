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
	// What is behind the prefix begins with one known segment, so this is an address of ours.
	rest, _ := s.cfg.BasePath.Cut(target.Path)
	target.Path, target.RawPath = string(s.cfg.BasePath)+"/"+lang+rest, ""
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
		Words: s.words.Words(lang), Languages: s.languageLinks(c.Request().URL), Base: s.cfg.BaseURL, BasePath: s.cfg.BasePath,
		Card: views.CardURL(views.HomeURL(s.home(c))),
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
	first, rest := s.cutLanguage(address.EscapedPath())
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
		out = append(out, views.LanguageLink{Lang: lang, Name: s.words.NameOf(lang), URL: views.HomeURL(s.cfg.BasePath.In(lang)) + templ.SafeURL(rest)})
	}
	return out
}

// langOf is the language of the address, or the preferred one where the address
// has none: errors happen there too.
func (s *Server) langOf(c echo.Context) string {
	if first, _ := s.cutLanguage(c.Request().URL.Path); s.words.Has(first) {
		return first
	}
	return s.preferred(c)
}

// cutLanguage returns the first part of a path behind the prefix, a language perhaps,
// and what comes after it; both are empty outside of the prefix.
func (s *Server) cutLanguage(path string) (first, rest string) {
	if path, ok := s.cfg.BasePath.Cut(path); ok {
		first, rest, _ = strings.Cut(path[1:], "/")
	}
	return first, rest
}

// home is where addresses in the language of a request begin, but for those of a sitting.
func (s *Server) home(c echo.Context) views.Root { return s.cfg.BasePath.In(s.langOf(c)) }

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
