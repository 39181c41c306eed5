package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// autoField marks a draft that the editor saves by itself.
const autoField = "auto"

// draftSave keeps the text as the newest version. The editor asks for JSON; a form
// gets a page.
func (s *Server) draftSave(c echo.Context) error {
	form, err := s.readForm(c)
	if err != nil {
		return err
	}
	asJSON := c.Request().Header.Get(echo.HeaderAccept) == echo.MIMEApplicationJSON
	if form.size() > maxSource {
		if asJSON {
			return s.answerProblem(c, http.StatusRequestEntityTooLarge, "limit.too-large", "Size", form.size(), "Max", maxSource)
		}
		return s.showTooLarge(c, form)
	}
	browser, err := s.writer(c)
	if err != nil {
		return err
	}
	name, now := form.exercise.Name(), s.cfg.Now()
	version, err := s.store.SaveDraft(c.Request().Context(), browser, store.NewDraft{
		Exercise: name, Base: form.base, Files: form.files, Auto: c.Request().PostForm.Has(autoField),
	}, now)
	var conflict *store.ConflictError
	switch {
	case errors.As(err, &conflict) && asJSON:
		return s.answerProblem(c, http.StatusConflict, "autosave.conflict", "N", conflict.Newest.Version, "Time", views.ClockTime(conflict.Newest.SavedAt))
	case errors.As(err, &conflict):
		return s.showConflict(c, form, conflict.Newest)
	case err != nil:
		return err
	case asJSON:
		state, err := s.page(c).Words.Text("exercise.version", "N", version, "Time", views.ClockTime(now))
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, draftAnswer{Version: version, State: state})
	}
	notice := "saved"
	if version <= form.base {
		notice = "unchanged"
	}
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.ExerciseURL(s.langOf(c), name), notice)))
}

// draftAnswer is what the editor is told: what was saved, or why nothing was.
type draftAnswer struct {
	Version int64  `json:"version,omitempty"` // the base of what is saved next
	State   string `json:"state,omitempty"`   // one sentence
	Problem string `json:"problem,omitempty"` // one sentence or more
}

func (s *Server) answerProblem(c echo.Context, status int, message string, places ...any) error {
	text, err := s.page(c).Words.Text(message, places...)
	if err != nil {
		return err
	}
	return c.JSON(status, draftAnswer{Problem: text})
}
