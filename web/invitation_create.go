package web

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
)

// invitationCreate makes a link and shows it. This is the one form whose answer
// is a page and no redirect: the link is nowhere but in this answer.
func (s *Server) invitationCreate(c echo.Context) error {
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	form := views.InviteForm{Note: strings.TrimSpace(sent.Get(views.NoteField)), Role: sent.Get(views.RoleField)}
	token, expires, err := s.auth.Invite(c.Request().Context(), s.actor(c), store.Role(form.Role), form.Note)
	var field *auth.FieldError
	switch {
	case errors.As(err, &field) && field.Name == "role":
		return badRequest("invite: %w", err)
	case errors.As(err, &field):
		form.Problem = views.FormProblem{Field: field.Name, Reason: field.Reason}
		return s.showPeople(c, http.StatusUnprocessableEntity, form)
	case errors.Is(err, store.ErrFull):
		form.Problem = views.FormProblem{Field: "note", Reason: "full"}
		return s.showPeople(c, http.StatusConflict, form)
	case err != nil:
		return err
	}
	return s.showLink(c, form.Role, form.Note, token, expires, false)
}

// showLink shows a link once.
func (s *Server) showLink(c echo.Context, role, note, token string, expires time.Time, reset bool) error {
	link := s.siteAddress(c) + string(views.InvitationURL(s.home(c), token))
	m, err := views.NewLink(s.page(c), views.LinkModel{Role: role, Note: note, Reset: reset, ExpiresAt: expires}, link)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Link(m))
}

// siteAddress is the beginning of addresses that people hand on. Without a base
// URL it is what this browser has asked for.
func (s *Server) siteAddress(c echo.Context) string {
	if s.cfg.BaseURL != "" {
		return s.cfg.BaseURL
	}
	return "http://" + c.Request().Host
}
