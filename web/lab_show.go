package web

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

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
	visitor := string(s.introduce(c))
	lab := views.LabState{Slug: slug, Closes: s.rooms.Closes(visitor, slug), Notice: c.QueryParam("notice")}
	if state, _ := s.rooms.Look(visitor, slug); state != nil {
		lab.Scene, lab.Version = &state.Scene, state.Version
	}
	m, err := views.NewLab(s.page(c), s.bank.Labs(), lab)
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
