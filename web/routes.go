package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/static"
)

// routes is the index of the site: an address leads to the file that is called
// like its method.
func (s *Server) routes(e *echo.Echo) {
	get := func(g interface {
		Match([]string, string, echo.HandlerFunc, ...echo.MiddlewareFunc) []*echo.Route
	}, path string, h echo.HandlerFunc) {
		g.Match([]string{http.MethodGet, http.MethodHead}, path, h)
	}

	// For machines.
	get(e, "/healthz", s.healthShow)
	get(e, "/readyz", s.readyShow)
	get(e, static.Prefix+"*", echo.WrapHandler(static.Handler()))

	// Addresses without a language.
	get(e, "/", s.languageChoose)
	get(e, "/exercises/*", s.languageChoose)
	get(e, "/submissions/*", s.languageChoose)

	site := e.Group("/:lang", s.language)
	get(site, "", s.homeRedirect)
	get(site, "/", s.homeShow)

	get(site, "/exercises/:pack/:slug", s.exerciseShow)
	get(site, "/exercises/:pack/:slug/drafts", s.exerciseReturn)
	get(site, "/exercises/:pack/:slug/submissions", s.exerciseReturn)
	posts := s.limitPosts()
	site.POST("/exercises/:pack/:slug/drafts", s.draftSave, posts)
	site.POST("/exercises/:pack/:slug/submissions", s.submissionCreate, posts)

	get(site, "/submissions/:id", s.submissionShow)
	site.GET("/submissions/:id/events", s.submissionEvents)
}
