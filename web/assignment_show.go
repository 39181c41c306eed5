package web

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// assignmentShow is an assignment with its candidates.
func (s *Server) assignmentShow(c echo.Context) error {
	a, err := s.assignmentIn(c)
	if err != nil {
		return err
	}
	notice := c.QueryParam("notice")
	if !slices.Contains([]string{"made", "open-cancelled", "candidate-deleted"}, notice) {
		notice = ""
	}
	return s.showAssignment(c, http.StatusOK, a, views.LinkForm{}, notice)
}

func (s *Server) showAssignment(c echo.Context, status int, a store.Assignment, form views.LinkForm, notice string) error {
	lines, err := s.candidateLines(c, a)
	if err != nil {
		return err
	}
	p := s.page(c)
	m, err := views.NewAssignment(p, s.facts(a, p.Lang()), lines, form, notice)
	if err != nil {
		return err
	}
	return render(c, status, views.AssignmentPage(m))
}

// assignmentReturn answers the addresses of the forms of the page.
func (s *Server) assignmentReturn(c echo.Context) error {
	a, err := s.assignmentIn(c)
	if err != nil {
		return err
	}
	return s.toAssignment(c, a.ID, "")
}

func (s *Server) toAssignment(c echo.Context, id int64, notice string) error {
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.AssignmentURL(s.home(c), id), notice)))
}

// assignmentDelete deletes an assignment with all its candidates.
func (s *Server) assignmentDelete(c echo.Context) error {
	a, err := s.assignmentIn(c)
	if err != nil {
		return err
	}
	if err := s.queue.DeleteAssignment(c.Request().Context(), s.actor(c), a.ID); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.AssignURL(s.home(c)), "deleted")))
}
