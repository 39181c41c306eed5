package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// draftReset makes the starter the newest version. The text in the form is saved
// before, so that the history holds whatever is taken away here.
func (s *Server) draftReset(c echo.Context) error {
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
	ctx, name := c.Request().Context(), form.exercise.Name()
	version, err := s.store.SaveDraft(ctx, browser, store.NewDraft{Exercise: name, Base: form.base, Files: form.files, Noted: form.noted}, s.cfg.Now())
	if err == nil {
		starter := make([]store.File, 0, len(form.exercise.Starter))
		for _, f := range form.exercise.Starter {
			starter = append(starter, store.File(f))
		}
		newest := store.NewDraft{Exercise: name, Base: version, Files: starter, Noted: store.Noted{ByEditor: form.noted.ByEditor}}
		_, err = s.store.SaveDraft(ctx, browser, newest, s.cfg.Now())
	}
	var conflict *store.ConflictError
	if errors.As(err, &conflict) {
		return s.showConflict(c, form, conflict.Newest)
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.ExerciseURL(s.rootOf(c), name), "reset")))
}
