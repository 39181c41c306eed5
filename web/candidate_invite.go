package web

import (
	"errors"
	"net/http"
	"time"

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
	extra, ok := extraOf(sent)
	err = check("extra", "range", ok)
	var made newCandidateLink
	if err == nil {
		made, err = s.invite(c, a, form.Name, extra)
	}
	var field *auth.FieldError
	if errors.As(err, &field) {
		form.Problem = views.FormProblem{Field: field.Name, Reason: field.Reason}
		return s.showAssignment(c, statusOfField(field), a, form, "")
	}
	if err != nil {
		return err
	}
	return s.showCandidateLink(c, a, made.name, made.token)
}

// statusOfField tells what is wrong in itself from what there is no room for.
func statusOfField(f *auth.FieldError) int {
	if f.Reason == "full" {
		return http.StatusConflict
	}
	return http.StatusUnprocessableEntity
}

// newCandidateLink is a link that was made. Its token is nowhere else.
type newCandidateLink struct {
	id          int64
	name, token string
}

// invite makes a link for a candidate, or says with an *auth.FieldError why not.
func (s *Server) invite(c echo.Context, a store.Assignment, typed string, extra time.Duration) (newCandidateLink, error) {
	name, err := auth.Name(typed)
	if err != nil {
		return newCandidateLink{}, err
	}
	token := auth.NewToken()
	id, err := s.store.AddCandidate(c.Request().Context(), s.actor(c), a.ID,
		store.Invited{Name: name, TokenHash: store.HashToken(token), Extra: extra}, s.cfg.Now())
	if errors.Is(err, store.ErrFull) {
		err = &auth.FieldError{Name: "name", Reason: "full"}
	}
	return newCandidateLink{id, name, token}, err
}

// candidateLink is the address that a token stands in.
func (s *Server) candidateLink(c echo.Context, a store.Assignment, token string) string {
	return s.siteAddress(c) + string(views.SittingURL(s.cfg.BasePath.In(a.Lang), token))
}

// showCandidateLink shows a link once, in the language of the assignment.
func (s *Server) showCandidateLink(c echo.Context, a store.Assignment, name, token string) error {
	p := s.page(c)
	m, err := views.NewCandidateLink(p, s.facts(a, p.Lang()), name, s.candidateLink(c, a, token))
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
