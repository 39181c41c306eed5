package web

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"redeliver/grader/labs/scene"
	"redeliver/web/labs"
	"redeliver/web/store"
	"redeliver/web/views"
)

// labsShow lists the labs.
func (s *Server) labsShow(c echo.Context) error {
	m, err := views.NewLabs(s.page(c), s.bank.Labs())
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Labs(m))
}

// labShow shows a lab as this visitor has left it.
func (s *Server) labShow(c echo.Context) error {
	slug, err := s.labSlug(c)
	if err != nil {
		return err
	}
	var sc *scene.Scene
	version := 0
	if state, _ := s.rooms.Look(string(s.introduce(c)), slug); state != nil {
		sc, version = &state.Scene, state.Version
	}
	m, err := views.NewLab(s.page(c), s.bank.Labs(), slug, sc, version, c.QueryParam("notice"))
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Lab(m))
}

// labSlug is the lab in the address.
func (s *Server) labSlug(c echo.Context) (string, error) {
	slug := c.Param("slug")
	if _, ok := s.bank.Lab(slug); !ok || !slices.Contains(labs.Slugs(), slug) {
		return "", fmt.Errorf("lab %q: %w", slug, store.ErrNotFound)
	}
	return slug, nil
}
