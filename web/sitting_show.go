package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
)

// sittingShow is what a candidate's link leads to, or a link for everybody.
func (s *Server) sittingShow(c echo.Context) error {
	ctx, token := c.Request().Context(), c.Param("token")
	sit, err := s.findSitting(ctx, token)
	if errors.Is(err, store.ErrNotFound) {
		return s.showCome(c, http.StatusOK, "", views.FormProblem{})
	}
	if err != nil {
		return err
	}
	c.Set(sittingKey, sit)
	c.Set(browserKey, sit.candidate.Browser)
	p, now := s.page(c), s.cfg.Now()
	a := sit.assignment
	m := views.SittingModel{
		Page: p, Facts: s.facts(a, p.Lang()), Name: sit.candidate.Name, Extra: int(sit.candidate.Extra.Minutes()),
		Early: now.Before(a.OpensAt), Late: closed(a, s.cfg.Now()),
		EndedBy: string(sit.candidate.EndedBy), HandedIn: sit.candidate.HandedIn,
	}
	if s.isOver(sit) {
		m.EndedBy, m.Refresh = "closing", true
	}
	if m.Outcomes, err = s.outcomes(c, sit); err != nil {
		return err
	}
	if m, err = views.NewSitting(m, c.QueryParam("notice")); err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Sitting(m))
}

func (s *Server) showCome(c echo.Context, status int, name string, problem views.FormProblem) error {
	a, err := s.store.OpenAssignment(c.Request().Context(), store.HashToken(c.Param("token")))
	if err != nil {
		return s.assignmentLinkProblem(err)
	}
	p := s.page(c)
	p.Sitting = views.SittingBar{State: "invited", URL: views.SittingURL(p.Home(), c.Param("token"))}
	m, err := views.NewCome(p, s.facts(a, p.Lang()), p.Sitting.URL, name, closed(a, s.cfg.Now()), problem)
	if err != nil {
		return err
	}
	return render(c, status, views.Come(m))
}

// sittingCome gives who came by a link for everybody a link of its own.
func (s *Server) sittingCome(c echo.Context) error {
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	hash := store.HashToken(c.Param("token"))
	a, err := s.store.OpenAssignment(ctx, hash)
	if err != nil {
		return s.assignmentLinkProblem(err)
	}
	typed := sent.Get(views.NameField)
	if closed(a, s.cfg.Now()) {
		return s.showCome(c, http.StatusGone, typed, views.FormProblem{})
	}
	name, err := auth.Name(typed)
	var field *auth.FieldError
	if errors.As(err, &field) {
		return s.showCome(c, http.StatusUnprocessableEntity, typed, views.FormProblem{Field: field.Name, Reason: field.Reason})
	}
	if err != nil {
		return err
	}
	if !s.places.allow(c.RealIP()) {
		retryAfter(c, 60)
		return s.showCome(c, http.StatusTooManyRequests, typed, views.FormProblem{Field: "name", Reason: "crowd"})
	}
	token := auth.NewToken()
	err = s.store.ComeByOpenLink(ctx, hash, store.Invited{Name: name, TokenHash: store.HashToken(token)}, network(c.RealIP()), s.cfg.Now())
	if errors.Is(err, store.ErrFull) {
		return s.showCome(c, http.StatusConflict, typed, views.FormProblem{Field: "name", Reason: "full"})
	}
	if err != nil {
		return s.assignmentLinkProblem(err)
	}
	return c.Redirect(http.StatusSeeOther, string(views.SittingURL(s.home(c), token)))
}

// sittingStart starts the clock.
func (s *Server) sittingStart(c echo.Context) error {
	sit, _ := sittingOf(c)
	now := s.cfg.Now()
	if s.stateOf(sit) == "invited" && !now.Before(sit.assignment.OpensAt) && !closed(sit.assignment, now) {
		err := s.queue.StartSitting(c.Request().Context(), sit.candidate, network(c.RealIP()))
		if err != nil && !errors.Is(err, store.ErrEnded) { // the page says that it is cancelled
			return err
		}
	}
	return s.toSitting(c, "")
}

// sittingEnd hands everything in before the time is over.
func (s *Server) sittingEnd(c echo.Context) error {
	sit, _ := sittingOf(c)
	if sit.candidate.Sits() {
		if _, err := s.queue.EndSitting(c.Request().Context(), sit.candidate.ID, store.ByCandidate); err != nil {
			return err
		}
	}
	return s.toSitting(c, "")
}

// sittingReturn answers the addresses of the forms.
func (s *Server) sittingReturn(c echo.Context) error { return s.toSitting(c, "") }

func (s *Server) toSitting(c echo.Context, notice string) error {
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.SittingURL(s.home(c), c.Param("token")), notice)))
}
