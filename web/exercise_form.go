package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"redeliver/exercises"
	"redeliver/web/store"
	"redeliver/web/views"
)

// exerciseForm is the form of an exercise as it was sent.
type exerciseForm struct {
	exercise *exercises.Exercise
	base     int64
	files    []store.File
	noted    store.Noted
}

// readForm reads the form that views.Exercise draws.
func (s *Server) readForm(c echo.Context) (exerciseForm, error) {
	e, err := s.exerciseIn(c, nameOf(c))
	if err != nil {
		return exerciseForm{}, err
	}
	sent, err := postedForm(c)
	if err != nil {
		return exerciseForm{}, err
	}
	form := exerciseForm{exercise: e}
	form.base, err = strconv.ParseInt(sent.Get(views.BaseField), 10, 64)
	if err != nil || form.base < 0 {
		return exerciseForm{}, badRequest("base version is %q", sent.Get(views.BaseField))
	}
	for _, f := range e.Starter {
		values := sent[views.FieldOf(f.Name)]
		if len(values) != 1 {
			return exerciseForm{}, badRequest("%d fields for %s", len(values), f.Name)
		}
		form.files = append(form.files, store.File{Name: f.Name, Content: []byte(unixLines(values[0]))})
	}
	form.noted, err = s.noted(c, form, sent[views.PastesField])
	return form, err
}

// unixLines undoes what browsers do to the line ends of a form.
func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

func (f exerciseForm) size() (n int) {
	for _, file := range f.files {
		n += len(file.Content)
	}
	return n
}

// again is the form as it was sent, to be shown with a reason.
func (f exerciseForm) again(state string) views.FormModel {
	return views.FormModel{Base: f.base, Files: fileModels(f.exercise, f.files), State: state}
}

// showTooLarge refuses a text and leaves it in the form.
func (s *Server) showTooLarge(c echo.Context, f exerciseForm) error {
	words := s.page(c).Words
	form := f.again("")
	var err error
	if form.Alert, err = words.Text("limit.too-large", "Size", f.size(), "Max", maxSource); err != nil {
		return err
	}
	return s.showForm(c, http.StatusRequestEntityTooLarge, f.exercise, form)
}

// showConflict shows both texts. The form is now based on the newest version:
// who sends it again has seen the other text.
func (s *Server) showConflict(c echo.Context, f exerciseForm, newest store.Draft) error {
	words := s.page(c).Words
	form := f.again("")
	form.Base = newest.Version
	for i := range form.Files {
		form.Files[i].Other, form.Files[i].HasOther = contentOf(newest.Files, form.Files[i].Name)
	}
	title, err1 := words.Text("conflict.title")
	alert, err2 := words.Text("conflict.text", "N", newest.Version, "Time", views.ClockTime(newest.SavedAt))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	form.AlertTitle, form.Alert = title, alert
	return s.showForm(c, http.StatusConflict, f.exercise, form)
}
