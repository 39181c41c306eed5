package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
)

// candidateInvite makes a link for one candidate and shows it. As with invitations,
// the link is nowhere but in this answer.
func (s *Server) candidateInvite(c echo.Context) error {
	a, err := s.assignmentIn(c)
	if err != nil {
		return err
	}
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	form := views.LinkForm{Name: sent.Get(views.NameField), Extra: sent.Get(views.ExtraField)}
	refuse := func(status int, field, reason string) error {
		form.Problem = views.FormProblem{Field: field, Reason: reason}
		return s.showAssignment(c, status, a, form, "")
	}
	name, err := auth.Name(form.Name)
	var field *auth.FieldError
	if errors.As(err, &field) {
		return refuse(http.StatusUnprocessableEntity, field.Name, field.Reason)
	}
	if err != nil {
		return err
	}
	extra, ok := extraOf(sent)
	if !ok {
		return refuse(http.StatusUnprocessableEntity, "extra", "range")
	}
	token := auth.NewToken()
	_, err = s.store.AddCandidate(c.Request().Context(), s.actor(c), a.ID,
		store.Invited{Name: name, TokenHash: store.HashToken(token), Extra: extra}, s.cfg.Now())
	if errors.Is(err, store.ErrFull) {
		return refuse(http.StatusConflict, "name", "full")
	}
	if err != nil {
		return err
	}
	return s.showCandidateLink(c, a, name, token)
}

// showCandidateLink shows a link once, in the language of the assignment.
func (s *Server) showCandidateLink(c echo.Context, a store.Assignment, name, token string) error {
	p := s.page(c)
	m, err := views.NewCandidateLink(p, s.facts(a, p.Lang()), name, s.siteAddress(c)+string(views.SittingURL(a.Lang, token)))
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.CandidateLink(m))
}

// openLinkCreate makes the link for everybody, in place of the one before.
func (s *Server) openLinkCreate(c echo.Context) error {
	a, err := s.assignmentIn(c)
	if err != nil {
		return err
	}
	token := auth.NewToken()
	if err := s.store.SetOpenLink(c.Request().Context(), s.actor(c), a.ID, store.HashToken(token), s.cfg.Now()); err != nil {
		return err
	}
	return s.showCandidateLink(c, a, "", token)
}

// openLinkCancel ends the link for everybody. Who has come by it stays.
func (s *Server) openLinkCancel(c echo.Context) error {
	a, err := s.assignmentIn(c)
	if err != nil {
		return err
	}
	if err := s.store.SetOpenLink(c.Request().Context(), s.actor(c), a.ID, "", s.cfg.Now()); err != nil {
		return err
	}
	return s.toAssignment(c, a.ID, "open-cancelled")
}
