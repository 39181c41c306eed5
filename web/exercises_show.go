package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// exercisesShow lists the exercises, and for an owner what is left out.
func (s *Server) exercisesShow(c echo.Context) error {
	m, err := views.NewExercises(s.page(c), s.catalog.Public())
	if err != nil {
		return err
	}
	if p, ok := s.person(c); ok && p.Role == store.Owner {
		m.LeftOut(s.catalog.Problems())
	}
	practised, err := s.practice(c)
	if err != nil {
		return err
	}
	m.Mark(marksOf(practised))
	return render(c, http.StatusOK, views.Exercises(m))
}
