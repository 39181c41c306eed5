package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/views"
)

// maxAssignments is how many assignments the list has, the newest.
const maxAssignments = 500

// assignmentsShow lists what who is signed in may see.
func (s *Server) assignmentsShow(c echo.Context) error {
	list, err := s.store.Assignments(c.Request().Context(), s.actor(c), 0, maxAssignments)
	if err != nil {
		return err
	}
	var lines []views.AssignmentLine
	for _, a := range list {
		lines = append(lines, views.AssignmentLine{
			ID: a.ID, Title: a.Title, Maker: a.Maker, Minutes: int(a.Limit.Minutes()), CreatedAt: a.CreatedAt,
			Candidates: a.Candidates, Sitting: a.Sitting, Ended: a.Ended,
		})
	}
	notice := c.QueryParam("notice")
	if notice != "deleted" {
		notice = ""
	}
	m, err := views.NewAssignments(s.page(c), lines, notice)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Assignments(m))
}
