package web

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
)

// OIDCCallback is where a provider sends browsers back to, behind Config.BaseURL and
// Config.BasePath.
const OIDCCallback = "/oidc/callback"

// flowTime is how long somebody may take at the provider.
const flowTime = 10 * time.Minute

// flow is what the browser keeps in a cookie meanwhile.
type flow struct {
	auth.Flow
	Lang       string `json:"lang"`
	Invitation string `json:"invitation,omitempty"` // the token of the link that is followed
}

func (s *Server) flowCookie(value string, age time.Duration) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure follows the site's address
		Name: s.hostOnly("oidc"), Value: value, Path: "/", MaxAge: int(age.Seconds()),
		HttpOnly: true, Secure: s.cfg.SecureCookies, SameSite: http.SameSiteLaxMode,
	}
}

// oidcBegin leads to the provider. It is a link and no form: the policy of our
// pages lets forms lead to nowhere else.
func (s *Server) oidcBegin(c echo.Context) error {
	if s.provider == nil {
		return store.ErrNotFound
	}
	f := flow{Lang: s.langOf(c), Invitation: c.Param("token")}
	if f.Invitation != "" {
		if _, err := s.auth.Invitation(c.Request().Context(), f.Invitation); err != nil {
			return s.linkProblem(err)
		}
	}
	address, begun, err := s.provider.Begin(c.Request().Context())
	if errors.Is(err, auth.ErrProvider) {
		return s.providerFailed(c, err)
	}
	if err != nil {
		return err
	}
	f.Flow = begun
	b, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("keep the flow: %w", err)
	}
	c.SetCookie(s.flowCookie(base64.RawURLEncoding.EncodeToString(b), flowTime))
	return c.Redirect(http.StatusFound, address)
}

// oidcFinish signs in who comes back from the provider.
func (s *Server) oidcFinish(c echo.Context) error {
	if s.provider == nil {
		return store.ErrNotFound
	}
	f := s.flowOf(c)
	c.SetCookie(s.flowCookie("", -time.Second)) // it works once
	if !s.signIns.networks.allow(c.RealIP()) {  // each time the provider is asked
		retryAfter(c, int(signInPeriod.Seconds()))
		return s.showSignIn(c, http.StatusTooManyRequests, "", "limit")
	}
	ctx := c.Request().Context()
	who, err := s.provider.Finish(ctx, f.Flow, c.QueryParam("state"), c.QueryParam("code"))
	var known auth.Known
	if err == nil {
		if f.Invitation != "" {
			known, err = s.auth.AcceptWith(ctx, f.Invitation, who, network(c.RealIP()))
		} else {
			known, err = s.auth.SignInWith(ctx, who, network(c.RealIP()))
		}
	}
	if err != nil {
		return s.oidcProblem(c, f, err, who.Subject != "")
	}
	if err := s.signIn(c, known); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.AccountURL(s.cfg.BasePath.In(f.Lang))))
}

// flowOf reads the cookie; a browser without a usable one has begun nothing.
func (s *Server) flowOf(c echo.Context) (f flow) {
	cookie, err := c.Cookie(s.flowCookie("", 0).Name)
	if err != nil {
		return flow{}
	}
	b, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || json.Unmarshal(b, &f) != nil || !s.words.Has(f.Lang) {
		return flow{}
	}
	return f
}

// oidcProblem says why nobody was signed in, on the page where it began.
// identified: the provider has told who it is.
func (s *Server) oidcProblem(c echo.Context, f flow, err error, identified bool) error {
	var field *auth.FieldError
	switch {
	case errors.As(err, &field):
		return s.showInvitationOf(c, f.Invitation, http.StatusConflict, views.NewcomerModel{}, views.FormProblem{Field: field.Name, Reason: field.Reason})
	case errors.Is(err, store.ErrFull):
		return s.showInvitationOf(c, f.Invitation, http.StatusConflict, views.NewcomerModel{}, views.FormProblem{Field: "login", Reason: "full"})
	case errors.Is(err, auth.ErrProvider):
		return s.providerFailed(c, err)
	case errors.Is(err, auth.ErrRefused) && identified:
		return s.showSignIn(c, http.StatusForbidden, "", "unknown")
	case errors.Is(err, auth.ErrRefused):
		return s.showSignIn(c, http.StatusBadRequest, "", "not-begun")
	default:
		return s.linkProblem(err)
	}
}

// providerFailed shows the form, with which somebody who has a password can sign
// in meanwhile.
func (s *Server) providerFailed(c echo.Context, err error) error {
	s.cfg.Log.WarnContext(c.Request().Context(), "the provider of accounts", slog.Any("error", err))
	return s.showSignIn(c, http.StatusBadGateway, "", "provider")
}
