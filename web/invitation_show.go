package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
)

// invitationShow is the form behind a link. Looking at it does not use the link
// up: programs that preview links look too.
func (s *Server) invitationShow(c echo.Context) error {
	return s.showInvitation(c, http.StatusOK, views.NewcomerModel{}, views.FormProblem{})
}

func (s *Server) showInvitation(c echo.Context, status int, typed views.NewcomerModel, problem views.FormProblem) error {
	return s.showInvitationOf(c, c.Param("token"), status, typed, problem)
}

// showInvitationOf shows the form with what was typed, but for the password.
func (s *Server) showInvitationOf(c echo.Context, token string, status int, typed views.NewcomerModel, problem views.FormProblem) error {
	i, err := s.auth.Invitation(c.Request().Context(), token)
	if err != nil {
		return s.linkProblem(err)
	}
	typed.Role, typed.ExpiresAt, typed.Reset = string(i.Role), i.ExpiresAt, i.Person != 0
	if typed.Reset {
		typed.Login, typed.Name = i.Login, i.Name
	}
	typed.Provider = s.provider != nil
	m, err := views.NewInvitation(s.page(c), views.InvitationURL(s.home(c), token), typed, problem)
	if err != nil {
		return err
	}
	return render(c, status, views.Invitation(m))
}

// linkProblem says of a link that cannot be followed why that may be: its page
// would otherwise send the reader to look for a typing mistake.
func (s *Server) linkProblem(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return &problem{status: http.StatusNotFound, message: "invitation.gone", cause: err}
	}
	return err
}

// invitationAccept follows a link and signs the newcomer in.
func (s *Server) invitationAccept(c echo.Context) error {
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	typed := views.NewcomerModel{Login: sent.Get(views.LoginField), Name: sent.Get(views.NameField)}
	who, err := s.auth.Accept(c.Request().Context(), c.Param("token"),
		auth.Newcomer{Login: typed.Login, Name: typed.Name, Password: sent.Get(views.PasswordField)}, network(c.RealIP()))
	var field *auth.FieldError
	switch {
	case errors.As(err, &field):
		return s.showInvitation(c, http.StatusUnprocessableEntity, typed, views.FormProblem{Field: field.Name, Reason: field.Reason})
	case errors.Is(err, auth.ErrBusy):
		retryAfter(c, 5)
		return s.showInvitation(c, http.StatusServiceUnavailable, typed, views.FormProblem{Field: "password", Reason: "busy"})
	case errors.Is(err, store.ErrFull):
		return s.showInvitation(c, http.StatusConflict, typed, views.FormProblem{Field: "login", Reason: "full"})
	case err != nil:
		return s.linkProblem(err)
	}
	if err := s.signIn(c, who); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.AccountURL(s.home(c))))
}
