package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// draftSave keeps the text as the newest version.
func (s *Server) draftSave(c echo.Context) error {
	form, err := s.readForm(c)
	if err != nil {
		return err
	}
	if form.size() > maxSource {
		return s.showTooLarge(c, form)
	}
	browser, err := s.writer(c)
	if err != nil {
		return err
	}
	name := form.exercise.Name()
	version, err := s.store.SaveDraft(c.Request().Context(), browser,
		store.NewDraft{Exercise: name, Base: form.base, Files: form.files}, s.cfg.Now())
	var conflict *store.ConflictError
	if errors.As(err, &conflict) {
		return s.showConflict(c, form, conflict.Newest)
	}
	if err != nil {
		return err
	}
	notice := "saved"
	if version <= form.base {
		notice = "unchanged"
	}
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.ExerciseURL(s.langOf(c), name), notice)))
}
