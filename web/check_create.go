package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"redeliver/exercises"
	"redeliver/grader/verdict"
	"redeliver/web/jobs"
	"redeliver/web/views"
)

// checkCreate saves the text and says what a grading would refuse before it runs
// anything. The editor asks for JSON; a form gets a page.
func (s *Server) checkCreate(c echo.Context) error {
	form, err := s.readForm(c)
	if err != nil {
		return err
	}
	saved, ok, err := s.keepText(c, form, true)
	if err != nil || !ok {
		return err
	}
	checked, status, err := s.check(c, form)
	if err != nil {
		return err
	}
	if wantsJSON(c) {
		checked.draftAnswer = saved
		return c.JSON(status, checked)
	}
	shown := form.again(saved.State)
	shown.Base = saved.Version
	for i := range shown.Files {
		shown.Files[i].Diagnostics = checked.Diagnostics[views.FieldOf(shown.Files[i].Name)]
	}
	if checked.Passed {
		shown.Notice = checked.Said
	} else {
		shown.Alert = checked.Said
	}
	return s.showForm(c, status, form.exercise, shown)
}

// checkAnswer is what the editor is told about a text that it has sent.
type checkAnswer struct {
	draftAnswer
	Said   string `json:"said"` // one sentence or more
	Passed bool   `json:"passed"`
	// Diagnostics stand beside the text, by the field of the file.
	Diagnostics map[string][]views.Diagnostic `json:"diagnostics"`
}

// check compiles. That it could not be found out is an answer, too, for which the
// status is that of a server that is busy.
func (s *Server) check(c echo.Context, form exerciseForm) (checkAnswer, int, error) {
	files := make([]exercises.File, 0, len(form.files))
	for _, f := range form.files {
		files = append(files, exercises.File(f))
	}
	words := s.page(c).Words
	answer := checkAnswer{Diagnostics: map[string][]views.Diagnostic{}}
	findings, err := s.queue.Compile(c.Request().Context(), jobs.Request{Exercise: form.exercise.Name(), Files: files, Seed: jobs.Seed})
	switch {
	case errors.Is(err, jobs.ErrBusy), errors.Is(err, context.DeadlineExceeded):
		retryAfter(c, 10)
		answer.Said, err = words.Text("check.busy")
		return answer, http.StatusServiceUnavailable, err
	case errors.Is(err, jobs.ErrNoGrader):
		answer.Said, err = words.Text("check.no-grader")
		return answer, http.StatusServiceUnavailable, err
	case err != nil:
		return answer, 0, err
	case len(findings) == 0:
		answer.Passed = true
		answer.Said, err = words.Text("check.passed")
		return answer, http.StatusOK, err
	}
	count, err := words.Count("check.failed", len(findings))
	answer.Said = strings.Join(append([]string{count}, answer.place(form, findings)...), " ")
	return answer, http.StatusOK, err
}

// place puts each finding beside its text, and returns what belongs to no place,
// or the first of those that do.
func (a *checkAnswer) place(form exerciseForm, findings []verdict.Finding) (said []string) {
	first := ""
	for _, f := range findings {
		if _, ok := contentOf(form.files, f.File); !ok || f.Line == 0 {
			said = append(said, f.Message)
			continue
		}
		d := views.Diagnostic{Line: f.Line, Column: f.Column, Message: f.Message}
		if first == "" {
			first = d.In(f.File) + " " + f.Message
		}
		field := views.FieldOf(f.File)
		a.Diagnostics[field] = append(a.Diagnostics[field], d)
	}
	if len(said) == 0 {
		said = append(said, first)
	}
	return said
}
