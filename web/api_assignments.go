package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// apiAssignmentLine is an assignment in a list. Times are RFC 3339 in UTC.
type apiAssignmentLine struct {
	ID         int64      `json:"id"`
	Title      string     `json:"title"`
	Maker      string     `json:"maker,omitempty"` // absent: the account is gone
	Minutes    int        `json:"minutes"`         // 0: no limit
	OpensAt    *time.Time `json:"opens_at,omitempty"`
	ClosesAt   *time.Time `json:"closes_at,omitempty"`
	CreatedAt  time.Time  `json:"created_at"`
	Candidates int        `json:"candidates"`
	Sitting    int        `json:"sitting"`
	Ended      int        `json:"ended"`
}

// apiAssignment is an assignment by itself. What is not in the second half is what a
// program sends to make one.
type apiAssignment struct {
	apiTask
	ID        int64     `json:"id"`
	OpenLink  bool      `json:"open_link"`
	CreatedAt time.Time `json:"created_at"`
}

// apiTask is what is asked of candidates.
type apiTask struct {
	Title      string     `json:"title"`
	Note       string     `json:"note,omitempty"`
	Lang       string     `json:"lang"`
	Exercises  []string   `json:"exercises"`
	WarmUp     string     `json:"warm_up,omitempty"`
	Minutes    int        `json:"minutes"`
	OpensAt    *time.Time `json:"opens_at,omitempty"`
	ClosesAt   *time.Time `json:"closes_at,omitempty"`
	Hints      bool       `json:"hints"`
	Approaches bool       `json:"approaches"`
	AllPhases  bool       `json:"all_phases"`
	RetainDays int        `json:"retain_days"`
}

func apiAssignmentOf(a store.Assignment) apiAssignment {
	return apiAssignment{
		ID: a.ID, OpenLink: a.Open, CreatedAt: a.CreatedAt.UTC(),
		apiTask: apiTask{
			Title: a.Title, Note: a.Note, Lang: a.Lang, Exercises: a.Exercises, WarmUp: a.WarmUp, Minutes: int(a.Limit.Minutes()),
			OpensAt: momentOf(a.OpensAt), ClosesAt: momentOf(a.ClosesAt), Hints: a.Hints, Approaches: a.Approaches,
			AllPhases: a.AllPhases, RetainDays: a.RetainDays,
		},
	}
}

// apiAssignments lists what the person may see, the newest first.
func (s *Server) apiAssignments(c echo.Context) error {
	before, limit, err := askedPage(c, "before")
	if err != nil {
		return err
	}
	list, err := s.store.Assignments(c.Request().Context(), s.actor(c), before, limit+1)
	if err != nil {
		return err
	}
	lines := make([]apiAssignmentLine, 0, len(list))
	for _, a := range list {
		lines = append(lines, apiAssignmentLine{
			ID: a.ID, Title: a.Title, Maker: a.Maker, Minutes: int(a.Limit.Minutes()), OpensAt: momentOf(a.OpensAt),
			ClosesAt: momentOf(a.ClosesAt), CreatedAt: a.CreatedAt.UTC(), Candidates: a.Candidates, Sitting: a.Sitting, Ended: a.Ended,
		})
	}
	return c.JSON(http.StatusOK, cut(c, "before", lines, limit, func(a apiAssignmentLine) int64 { return a.ID }))
}

// apiAssignmentCreate makes one, by the rules of the form.
func (s *Server) apiAssignmentCreate(c echo.Context) error {
	var sent apiTask
	if err := readBody(c, &sent); err != nil {
		return err
	}
	for _, name := range append(sent.Exercises, sent.WarmUp) {
		if _, ok := s.catalog.Exercise(name); !ok && name != "" {
			return unprocessable("exercises", "There is no exercise %q.", name)
		}
	}
	if !s.words.Has(sent.Lang) {
		return unprocessable("lang", "There is no language %q.", sent.Lang)
	}
	a, err := s.assignmentOf(sent.form())
	if statusOf(err) == http.StatusBadRequest {
		return unprocessable("exercises", "Each exercise stands there once, and the warm-up is one that everybody may see.")
	}
	if err != nil {
		return s.inWords(err)
	}
	by := s.actor(c)
	id, err := s.store.Assign(c.Request().Context(), by, a, s.cfg.Now())
	if err != nil {
		return err
	}
	return s.answerAssignment(c, http.StatusCreated, id)
}

// form is the same as the page would send it.
func (t apiTask) form() views.AssignForm {
	typed := func(at *time.Time) string {
		if at == nil {
			return ""
		}
		return at.UTC().Format(views.TypedTime)
	}
	form := views.AssignForm{
		Title: t.Title, Note: t.Note, Lang: t.Lang, WarmUp: t.WarmUp, Opens: typed(t.OpensAt), Closes: typed(t.ClosesAt),
		Retain: strconv.Itoa(t.RetainDays), Exercises: t.Exercises,
	}
	if t.Minutes != 0 {
		form.Minutes = strconv.Itoa(t.Minutes)
	}
	for what, sees := range map[string]bool{"hints": t.Hints, "approaches": t.Approaches, "phases": t.AllPhases} {
		if sees {
			form.Sees = append(form.Sees, what)
		}
	}
	return form
}

// apiAssignmentShow is one of them.
func (s *Server) apiAssignmentShow(c echo.Context) error {
	id, err := numberOf(c, "aid")
	if err != nil {
		return err
	}
	return s.answerAssignment(c, http.StatusOK, id)
}

func (s *Server) answerAssignment(c echo.Context, status int, id int64) error {
	a, err := s.store.Assignment(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	return c.JSON(status, apiAssignmentOf(a))
}

// apiAssignmentClose lets nobody begin any more.
func (s *Server) apiAssignmentClose(c echo.Context) error {
	id, err := numberOf(c, "aid")
	if err != nil {
		return err
	}
	if err := s.store.CloseAssignment(c.Request().Context(), s.actor(c), id, s.cfg.Now()); err != nil {
		return err
	}
	return s.answerAssignment(c, http.StatusOK, id)
}
