package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"redeliver/exercises"
	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/views"
)

// exerciseShow shows the newest draft, or the version that the address names.
func (s *Server) exerciseShow(c echo.Context) error {
	e, err := s.exerciseIn(c, nameOf(c))
	if err != nil {
		return err
	}
	version, asked, err := askedVersion(c)
	if err != nil {
		return err
	}
	form, err := s.newestForm(c, e)
	if err != nil {
		return err
	}
	if asked && version != form.Base {
		if form, err = s.olderForm(c, e, form.Base, version); err != nil {
			return err
		}
	}
	if form.Notice, err = s.formNotice(c); err != nil {
		return err
	}
	return s.showForm(c, http.StatusOK, e, form)
}

// exerciseReturn answers the addresses that forms post to: after a form that was
// not accepted, such an address stands in the browser.
func (s *Server) exerciseReturn(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, string(views.ExerciseURL(s.rootOf(c), nameOf(c))))
}

// nameOf is the name of the exercise in the address.
func nameOf(c echo.Context) string { return c.Param("pack") + "/" + c.Param("slug") }

func askedVersion(c echo.Context) (version int64, asked bool, err error) {
	text := c.QueryParam("version")
	if text == "" {
		return 0, false, nil
	}
	version, err = strconv.ParseInt(text, 10, 64)
	if err != nil || version < 0 {
		return 0, false, fmt.Errorf("version %q: %w", text, store.ErrNotFound)
	}
	return version, true, nil
}

// newestForm holds the newest draft, or the starter if there is none.
func (s *Server) newestForm(c echo.Context, e *exercises.Exercise) (views.FormModel, error) {
	words := s.page(c).Words
	d, err := s.store.NewestDraft(c.Request().Context(), s.introduce(c), e.Name())
	if errors.Is(err, store.ErrNotFound) {
		state, err := words.Text("exercise.from-starter")
		return views.FormModel{Files: fileModels(e, nil), State: state}, err
	}
	if err != nil {
		return views.FormModel{}, err
	}
	state, err := words.Text("exercise.version", "N", d.Version, "Time", views.ClockTime(d.SavedAt))
	return views.FormModel{Base: d.Version, Files: fileModels(e, d.Files), State: state}, err
}

// olderForm holds an earlier version. Its base is the newest one: who saves it
// has seen that there is a newer one.
func (s *Server) olderForm(c echo.Context, e *exercises.Exercise, newest, version int64) (views.FormModel, error) {
	words := s.page(c).Words
	if version == 0 {
		state, err := words.Text("exercise.old-starter", "Newest", newest)
		return views.FormModel{Base: newest, Files: fileModels(e, nil), State: state}, err
	}
	d, err := s.store.Draft(c.Request().Context(), s.browser(c), e.Name(), version)
	if err != nil {
		return views.FormModel{}, err
	}
	state, err := words.Text("exercise.old-version", "Shown", version, "Newest", newest)
	return views.FormModel{Base: newest, Files: fileModels(e, d.Files), State: state}, err
}

// formNotice says what the form did that led here.
func (s *Server) formNotice(c echo.Context) (string, error) {
	switch notice := c.QueryParam("notice"); notice {
	case "saved", "unchanged", "reset":
		return s.page(c).Words.Text("notice." + notice)
	default:
		return "", nil
	}
}

// fileModels puts the files in the order of the exercise. A file that a draft
// of an older version of the exercise lacks is the starter's.
func fileModels(e *exercises.Exercise, files []store.File) []views.FileModel {
	out := make([]views.FileModel, 0, len(e.Starter))
	for _, starter := range e.Starter {
		f := views.FileModel{Name: starter.Name, Content: string(starter.Content)}
		if content, ok := contentOf(files, starter.Name); ok {
			f.Content = content
		}
		out = append(out, f)
	}
	return out
}

func contentOf(files []store.File, name string) (string, bool) {
	for _, f := range files {
		if f.Name == name {
			return string(f.Content), true
		}
	}
	return "", false
}

// showForm draws the page of an exercise around a form.
func (s *Server) showForm(c echo.Context, status int, e *exercises.Exercise, form views.FormModel) error {
	p := s.page(c)
	text, err := s.texts.of(e, p.Lang())
	if err != nil {
		return err
	}
	sit, sits := sittingOf(c)
	hints := text.hints
	if sits && !sit.assignment.Hints {
		hints = nil
	}
	m, err := views.NewExercise(p, e, text.statement, hints, form)
	if err != nil {
		return err
	}
	m.NotGraded = s.cfg.CanGrade != nil && !s.cfg.CanGrade(e)
	browser := s.browser(c)
	recent, err := s.store.Submissions(c.Request().Context(), browser, e.Name(), listed)
	if err != nil {
		return err
	}
	if len(recent) > 0 {
		newest, err := s.store.Submission(c.Request().Context(), browser, recent[0].PublicID)
		if err != nil {
			return err
		}
		addDiagnostics(m.Form.Files, newest)
	}
	for i := range recent {
		recent[i].Outcome = shownOutcome(c, recent[i].Outcome)
	}
	m.Submissions = s.lines(recent, p.Lang())
	if !sits {
		if m.Prediction, err = s.prediction(c, e, len(recent) > 0); err != nil {
			return err
		}
	}
	drafts, err := s.store.Drafts(c.Request().Context(), browser, e.Name(), listed)
	if err != nil {
		return err
	}
	for _, d := range drafts {
		m.Versions = append(m.Versions, views.DraftLine{Version: d.Version, At: d.SavedAt})
	}
	return render(c, status, views.Exercise(m))
}

// addDiagnostics puts what the compiler said of a submission beside the text, as
// long as the text is still the one that it read.
func addDiagnostics(files []views.FileModel, sub store.Submission) {
	if sub.Verdict == nil {
		return
	}
	for _, f := range files {
		if content, ok := contentOf(sub.Files, f.Name); !ok || content != f.Content {
			return
		}
	}
	for _, f := range sub.Verdict.Findings {
		if f.Kind != verdict.Compile && f.Kind != verdict.Policy {
			continue
		}
		for i := range files {
			if files[i].Name == f.File {
				files[i].Diagnostics = append(files[i].Diagnostics, views.Diagnostic{Line: f.Line, Column: f.Column, Message: f.Message})
			}
		}
	}
}
