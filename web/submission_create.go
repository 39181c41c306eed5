package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/jobs"
	"redeliver/web/store"
	"redeliver/web/views"
)

// submissionCreate hands the text in and leads to the page of the submission.
func (s *Server) submissionCreate(c echo.Context) error {
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
	receipt, err := s.queue.Submit(c.Request().Context(), jobs.Submission{
		Browser: browser, Exercise: form.exercise.Name(), ExerciseVersion: form.exercise.Version,
		Base: form.base, Files: form.files, Seed: jobs.Seed, Noted: form.noted,
	})
	var conflict *store.ConflictError
	if errors.As(err, &conflict) {
		return s.showConflict(c, form, conflict.Newest)
	}
	if err != nil {
		return err
	}
	return s.answer(c, form, receipt)
}

func (s *Server) answer(c echo.Context, form exerciseForm, r jobs.Receipt) error {
	c.Set(submissionKey, r.PublicID)
	notice := ""
	switch r.Answer {
	case jobs.TooMany:
		return s.showRefused(c, http.StatusTooManyRequests, form, "limit.too-many")
	case jobs.QueueFull:
		return s.showRefused(c, http.StatusServiceUnavailable, form, "limit.queue-full")
	case jobs.Running, jobs.Stored:
		notice = string(r.Answer)
	case jobs.Created:
	}
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.SubmissionURL(s.rootOf(c), r.PublicID), notice)))
}

// showRefused says why a submission was not taken. The text was saved as a
// draft, and the form shows that draft.
func (s *Server) showRefused(c echo.Context, status int, f exerciseForm, reason string) error {
	form, err := s.newestForm(c, f.exercise)
	if err != nil {
		return err
	}
	if form.Alert, err = s.page(c).Words.Text(reason, "N", jobs.MaxPerHour); err != nil {
		return err
	}
	retryAfter(c, 300)
	return s.showForm(c, status, f.exercise, form)
}
