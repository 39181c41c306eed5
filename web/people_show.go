package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// personModel is a person as the pages show it.
func personModel(p store.Person) views.PersonModel {
	return views.PersonModel{
		ID: p.ID, Login: p.Login, Name: p.Name, Role: string(p.Role), CreatedAt: p.CreatedAt, SignedInAt: p.SignedInAt,
	}
}

// peopleShow lists who has an account and which links are open.
func (s *Server) peopleShow(c echo.Context) error {
	notice := c.QueryParam("notice")
	if notice != "removed" && notice != "cancelled" && notice != "signed-out" {
		notice = ""
	}
	return s.showPeople(c, http.StatusOK, views.InviteForm{Notice: notice})
}

func (s *Server) showPeople(c echo.Context, status int, form views.InviteForm) error {
	ctx := c.Request().Context()
	people, err := s.store.People(ctx)
	if err != nil {
		return err
	}
	open, err := s.store.Invitations(ctx, s.cfg.Now())
	if err != nil {
		return err
	}
	var models []views.PersonModel
	for _, p := range people {
		models = append(models, personModel(p))
	}
	var links []views.LinkModel
	for _, i := range open {
		links = append(links, views.LinkModel{ID: i.ID, Role: string(i.Role), Note: i.Note, Reset: i.Person != 0, ExpiresAt: i.ExpiresAt})
	}
	m, err := views.NewPeople(s.page(c), models, links, form)
	if err != nil {
		return err
	}
	return render(c, status, views.People(m))
}

// peopleReturn answers the addresses of the forms of the page.
func (s *Server) peopleReturn(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, string(views.PeopleURL(s.home(c))))
}
