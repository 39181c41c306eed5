package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/views"
)

func (s *Server) exercisesShow(c echo.Context) error {
	m, err := views.NewExercises(s.page(c), s.catalog.Public())
	if err != nil {
		return err
	}
	practised, err := s.practice(c)
	if err != nil {
		return err
	}
	m.Mark(marksOf(practised))
	return render(c, http.StatusOK, views.Exercises(m))
}
