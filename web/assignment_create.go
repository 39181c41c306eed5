package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
)

// The bounds of what is typed, in characters.
const (
	maxTitle = 120
	maxNote  = 2000
)

// maxExtraMinutes bounds the extra time of a candidate.
const maxExtraMinutes = 180

// assignmentNew is the form for a new assignment.
func (s *Server) assignmentNew(c echo.Context) error {
	return s.showAssign(c, http.StatusOK, views.AssignForm{
		Lang: s.langOf(c), Minutes: "90", Retain: "180", Sees: []string{"hints", "phases"},
	})
}

func (s *Server) showAssign(c echo.Context, status int, form views.AssignForm) error {
	p := s.page(c)
	m, err := views.NewAssign(p, form, s.choices(p.Lang()))
	if err != nil {
		return err
	}
	return render(c, status, views.Assign(m))
}

// assignmentCreate stores what the form asks for.
func (s *Server) assignmentCreate(c echo.Context) error {
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	form := views.AssignForm{
		Title: strings.TrimSpace(sent.Get(views.TitleField)), Note: strings.TrimSpace(unixLines(sent.Get(views.NoteField))),
		Lang: sent.Get(views.LangField), WarmUp: sent.Get(views.WarmUpField), Minutes: strings.TrimSpace(sent.Get(views.MinutesField)),
		Opens: sent.Get(views.OpensField), Closes: sent.Get(views.ClosesField), Retain: strings.TrimSpace(sent.Get(views.RetainField)),
		Exercises: sent[views.ExercisesField], Sees: sent[views.SeesField],
	}
	a, err := s.assignmentOf(form)
	var field *auth.FieldError
	if errors.As(err, &field) {
		form.Problem = views.FormProblem{Field: field.Name, Reason: field.Reason}
		return s.showAssign(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	id, err := s.store.Assign(c.Request().Context(), s.actor(c), a, s.cfg.Now())
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.AssignmentURL(s.home(c), id), "made")))
}

// assignmentOf reads the form, or says with an *auth.FieldError what is wrong.
func (s *Server) assignmentOf(form views.AssignForm) (store.Assignment, error) {
	a := store.Assignment{
		Title: form.Title, Note: form.Note, Lang: form.Lang, Exercises: form.Exercises, WarmUp: form.WarmUp,
		Hints: slices.Contains(form.Sees, "hints"), Approaches: slices.Contains(form.Sees, "approaches"), AllPhases: slices.Contains(form.Sees, "phases"),
	}
	if !s.words.Has(a.Lang) {
		return a, badRequest("language %q", a.Lang)
	}
	if a.WarmUp != "" {
		if _, err := s.exercise(a.WarmUp); err != nil {
			return a, badRequest("warm-up %q", a.WarmUp)
		}
	}
	for i, name := range a.Exercises {
		if _, ok := s.catalog.Exercise(name); !ok || slices.Contains(a.Exercises[:i], name) {
			return a, badRequest("exercise %q", name)
		}
	}
	var minutes, days int
	minutesRead := form.Minutes == "" || number(form.Minutes, 30, 180, &minutes)
	daysRead := number(form.Retain, 1, 1000, &days)
	opensRead, closesRead := typedTime(form.Opens, &a.OpensAt), typedTime(form.Closes, &a.ClosesAt)
	a.Limit, a.RetainDays = time.Duration(minutes)*time.Minute, days
	return a, cmp.Or(
		textField("title", a.Title, 1, maxTitle),
		textField("message", a.Note, 0, maxNote),
		check("exercises", "none", len(a.Exercises) > 0),
		check("exercises", "many", len(a.Exercises) <= store.MaxAssigned),
		check("warm-up", "assigned", a.WarmUp == "" || !slices.Contains(a.Exercises, a.WarmUp)),
		check("minutes", "range", minutesRead),
		check("opens", "time", opensRead),
		check("closes", "time", closesRead),
		check("closes", "past", a.ClosesAt.IsZero() || a.ClosesAt.After(s.cfg.Now())),
		check("closes", "order", a.ClosesAt.IsZero() || a.ClosesAt.After(a.OpensAt)),
		check("retain", "range", daysRead),
	)
}

// check is a *auth.FieldError unless ok.
func check(field, reason string, ok bool) error {
	if ok {
		return nil
	}
	return &auth.FieldError{Name: field, Reason: reason}
}

func textField(name, text string, least, most int) error {
	n := utf8.RuneCountInString(text)
	switch {
	case n < least:
		return check(name, "empty", false)
	case n > most:
		return check(name, "long", false)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == utf8.RuneError }):
		return check(name, "characters", false)
	}
	return nil
}

func number(text string, least, most int, to *int) bool {
	n, err := strconv.Atoi(text)
	*to = n
	return err == nil && n >= least && n <= most
}

// typedTime reads a point in time in UTC; what is empty is none.
func typedTime(text string, to *time.Time) bool {
	if text == "" {
		return true
	}
	t, err := time.Parse(views.TypedTime, text)
	*to = t
	return err == nil && t.Year() < 3000
}

// extraOf reads extra minutes; what is empty is none.
func extraOf(sent url.Values) (time.Duration, bool) {
	text, n := strings.TrimSpace(sent.Get(views.ExtraField)), 0
	ok := text == "" || number(text, 0, maxExtraMinutes, &n)
	return time.Duration(n) * time.Minute, ok
}
