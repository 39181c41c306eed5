package web

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// answerSave keeps what a reader answers to a question before opening ours.
func (s *Server) answerSave(c echo.Context) error {
	q, err := s.question(c)
	if err != nil {
		return err
	}
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	// A database of text takes neither broken UTF-8 nor a zero byte.
	text := strings.ReplaceAll(strings.ToValidUTF8(unixLines(sent.Get(views.AnswerField)), "\uFFFD"), "\x00", "\uFFFD")
	if strings.TrimSpace(text) == "" {
		text = ""
	}
	if utf8.RuneCountInString(text) > views.MaxAnswer {
		return s.showQuestion(c, http.StatusRequestEntityTooLarge, q, views.OwnAnswer{Text: text, TooLong: true})
	}
	browser, err := s.writer(c)
	if err != nil {
		return err
	}
	if err := s.store.SaveOwnAnswer(c.Request().Context(), browser, q.Slug, store.OwnAnswer{Text: text, SavedAt: s.cfg.Now()}); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.QuestionURL(s.home(c), q.Slug)+"#answer"))
}

// answerReturn answers the address that the form posts to.
func (s *Server) answerReturn(c echo.Context) error {
	q, err := s.question(c)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.QuestionURL(s.home(c), q.Slug)))
}
