package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/views"
)

// passwordChange sets a new password and leaves only this browser signed in. The
// old password is asked for, and guessed no faster here than at the sign-in.
func (s *Server) passwordChange(c echo.Context) error {
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), s.actor(c)
	allowed, err := s.signIns.allow(ctx, by.Person.Login, c.RealIP())
	if err != nil {
		return err
	}
	if !allowed {
		retryAfter(c, int(signInPeriod.Seconds()))
		return s.showAccount(c, http.StatusTooManyRequests, views.FormProblem{Field: "old", Reason: "limit"}, "")
	}
	who, err := s.auth.ChangePassword(ctx, by, sent.Get(views.OldPasswordField), sent.Get(views.PasswordField))
	var field *auth.FieldError
	switch {
	case errors.As(err, &field):
		return s.showAccount(c, http.StatusUnprocessableEntity, views.FormProblem{Field: field.Name, Reason: field.Reason}, "")
	case errors.Is(err, auth.ErrBusy):
		retryAfter(c, 5)
		return s.showAccount(c, http.StatusServiceUnavailable, views.FormProblem{Field: "password", Reason: "busy"}, "")
	case err != nil:
		return err
	}
	if err := s.signIn(c, who); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.AccountURL(s.home(c)), "password")))
}
