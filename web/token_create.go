package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
)

// tokenPrefix begins every token, so that whoever finds one in a file knows what it is.
const tokenPrefix = "redeliver_"

// maxTokenName bounds the name of a token, in characters.
const maxTokenName = 80

// tokenCreate makes a token for programs of who is signed in, and shows it. The token
// is nowhere but in this answer.
func (s *Server) tokenCreate(c echo.Context) error {
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	form := views.TokenForm{Name: strings.TrimSpace(sent.Get(views.NameField)), Days: sent.Get(views.DaysField)}
	days := 0
	read := form.Days == "" || number(form.Days, 1, 1000, &days)
	made := store.Token{Name: form.Name}
	if days > 0 {
		made.ExpiresAt = s.cfg.Now().AddDate(0, 0, days)
	}
	token := tokenPrefix + auth.NewToken()
	err = errors.Join(textField("token", form.Name, 1, maxTokenName), check("days", "range", read))
	if err == nil {
		err = s.store.AddToken(c.Request().Context(), s.actor(c), store.HashToken(token), made, s.cfg.Now())
	}
	if errors.Is(err, store.ErrFull) {
		err = &auth.FieldError{Name: "token", Reason: "full"}
	}
	var field *auth.FieldError
	if errors.As(err, &field) {
		form.Problem = views.FormProblem{Field: field.Name, Reason: field.Reason}
		return s.showAccountWith(c, statusOfField(field), views.FormProblem{}, form, "")
	}
	if err != nil {
		return err
	}
	m, err := views.NewToken(s.page(c), tokenLine(made), token)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Token(m))
}

// tokenRevoke ends a token of who is signed in.
func (s *Server) tokenRevoke(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	if err := s.store.RevokeToken(c.Request().Context(), s.actor(c), id, s.cfg.Now()); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.AccountURL(s.home(c)), "revoked")))
}

func tokenLine(t store.Token) views.TokenLine {
	return views.TokenLine{ID: t.ID, Name: t.Name, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, UsedAt: t.UsedAt}
}

// tokenLines are the tokens of a person.
func (s *Server) tokenLines(c echo.Context, person int64) (lines []views.TokenLine, err error) {
	list, err := s.store.Tokens(c.Request().Context(), person, s.cfg.Now())
	for _, t := range list {
		lines = append(lines, tokenLine(t))
	}
	return lines, err
}
