package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/views"
)

// accountShow is what somebody with an account sees of itself.
func (s *Server) accountShow(c echo.Context) error {
	notice := c.QueryParam("notice")
	if notice != "password" && notice != "revoked" {
		notice = ""
	}
	return s.showAccount(c, http.StatusOK, views.FormProblem{}, notice)
}

func (s *Server) showAccount(c echo.Context, status int, problem views.FormProblem, notice string) error {
	return s.showAccountWith(c, status, problem, views.TokenForm{Days: "90"}, notice)
}

func (s *Server) showAccountWith(c echo.Context, status int, problem views.FormProblem, form views.TokenForm, notice string) error {
	p, _ := s.person(c)
	browsers, err := s.store.CountSessions(c.Request().Context(), p.ID, s.cfg.Now())
	if err != nil {
		return err
	}
	tokens, err := s.tokenLines(c, p.ID)
	if err != nil {
		return err
	}
	m, err := views.NewAccount(s.page(c), personModel(p), browsers, tokens, form, problem, notice)
	if err != nil {
		return err
	}
	return render(c, status, views.Account(m))
}

// accountReturn answers the addresses of the forms of the account, which stay in
// the browser when a form was not accepted.
func (s *Server) accountReturn(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, string(views.AccountURL(s.home(c))))
}
