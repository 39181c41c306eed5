package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/views"
)

// signInShow is the form. Who is signed in is led on.
func (s *Server) signInShow(c echo.Context) error {
	if _, ok := s.person(c); ok {
		return c.Redirect(http.StatusSeeOther, string(views.AccountURL(s.home(c))))
	}
	alert := ""
	owned, err := s.store.HasOwner(c.Request().Context())
	if err != nil {
		return err
	}
	if !owned {
		alert = "no-owner"
	}
	return s.showSignIn(c, http.StatusOK, "", alert)
}

// showSignIn shows the form with the name that was typed, and never the password.
func (s *Server) showSignIn(c echo.Context, status int, login, alert string) error {
	m, err := views.NewSignIn(s.page(c), login, alert, s.provider != nil)
	if err != nil {
		return err
	}
	return render(c, status, views.SignIn(m))
}

// signInCreate signs somebody in.
func (s *Server) signInCreate(c echo.Context) error {
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	login, password := sent.Get(views.LoginField), sent.Get(views.PasswordField)
	ctx := c.Request().Context()
	allowed, err := s.signIns.allow(ctx, auth.FoldLogin(login), c.RealIP())
	if err != nil {
		return err
	}
	if !allowed {
		retryAfter(c, int(signInPeriod.Seconds()))
		return s.showSignIn(c, http.StatusTooManyRequests, login, "limit")
	}
	who, err := s.auth.SignIn(ctx, login, password, network(c.RealIP()))
	switch {
	case errors.Is(err, auth.ErrBusy):
		retryAfter(c, 5)
		return s.showSignIn(c, http.StatusServiceUnavailable, login, "busy")
	case errors.Is(err, auth.ErrRefused):
		return s.showSignIn(c, http.StatusUnprocessableEntity, login, "refused")
	case err != nil:
		return err
	}
	if err := s.signIn(c, who); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.AccountURL(s.home(c))))
}
