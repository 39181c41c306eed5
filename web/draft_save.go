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
	saved, ok, err := s.keepText(c, form, c.Request().PostForm.Has(autoField))
	switch {
	case err != nil || !ok:
		return err
	case wantsJSON(c):
		return c.JSON(http.StatusOK, saved)
	}
	notice := "saved"
	if saved.Version <= form.base {
		notice = "unchanged"
	}
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.ExerciseURL(s.rootOf(c), form.exercise.Name()), notice)))
}

// keepText saves the text of a form as the newest version. It is false when that
// was refused: then the reason has been answered.
func (s *Server) keepText(c echo.Context, form exerciseForm, auto bool) (draftAnswer, bool, error) {
	if form.size() > maxSource {
		if wantsJSON(c) {
			return draftAnswer{}, false, s.answerProblem(c, http.StatusRequestEntityTooLarge, "limit.too-large", "Size", form.size(), "Max", maxSource)
		}
		return draftAnswer{}, false, s.showTooLarge(c, form)
	}
	browser, err := s.writer(c)
	if err != nil {
		return draftAnswer{}, false, err
	}
	now := s.cfg.Now()
	if sit, sits := sittingOf(c); sits && s.isOver(sit) {
		now = sit.reading.Deadline // it was on its way then
	}
	version, err := s.store.SaveDraft(c.Request().Context(), browser, store.NewDraft{
		Exercise: form.exercise.Name(), Base: form.base, Files: form.files, Auto: auto, Noted: form.noted,
	}, now)
	var conflict *store.ConflictError
	switch {
	case errors.As(err, &conflict) && wantsJSON(c):
		return draftAnswer{}, false, s.answerProblem(c, http.StatusConflict, "autosave.conflict", "N", conflict.Newest.Version, "Time", views.ClockTime(conflict.Newest.SavedAt))
	case errors.As(err, &conflict):
		return draftAnswer{}, false, s.showConflict(c, form, conflict.Newest)
	case err != nil:
		return draftAnswer{}, false, err
	}
	state, err := s.page(c).Words.Text("exercise.version", "N", version, "Time", views.ClockTime(now))
	return draftAnswer{Version: version, State: state}, err == nil, err
}

// wantsJSON tells the editor's requests from a form's.
func wantsJSON(c echo.Context) bool {
	return c.Request().Header.Get(echo.HeaderAccept) == echo.MIMEApplicationJSON
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
