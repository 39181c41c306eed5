package web

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"redeliver/grader/verdict"
	"redeliver/web/store"
)

// The format of the files, for who reads them.
const exportFormat, exportVersion = "redeliver-candidates", 1

// exportedAssignment is the JSON of an assignment, and, with one candidate and
// everything that it wrote, that of a candidate. Times are RFC 3339 in UTC.
type exportedAssignment struct {
	Format     string              `json:"format"`
	Version    int                 `json:"version"`
	Assignment string              `json:"assignment"`
	Minutes    int                 `json:"minutes"` // 0: no limit
	Exercises  []string            `json:"exercises"`
	Candidates []exportedCandidate `json:"candidates"`
}

type exportedCandidate struct {
	ID           int64              `json:"id"`
	Name         string             `json:"name"`
	State        string             `json:"state"` // invited, sits, ended, cancelled
	StartedAt    *time.Time         `json:"started_at,omitempty"`
	EndedAt      *time.Time         `json:"ended_at,omitempty"`
	EndedBy      store.Ending       `json:"ended_by,omitempty"` // time, candidate, cancelled
	Deadline     *time.Time         `json:"deadline,omitempty"` // while it sits, as the clock stands
	ExtraMinutes int                `json:"extra_minutes"`
	GivenBackMs  int64              `json:"given_back_ms"`
	Note         string             `json:"note,omitempty"`
	Exercises    []exportedExercise `json:"exercises"`
}

type exportedExercise struct {
	Exercise    string               `json:"exercise"`
	Outcome     verdict.Outcome      `json:"outcome,omitempty"` // the best one; absent: nothing is graded
	Runs        int                  `json:"runs"`
	Rubric      []string             `json:"rubric,omitempty"`
	Met         []int                `json:"met,omitempty"` // lines of the rubric, from 1
	Note        string               `json:"note,omitempty"`
	Events      []exportedEvent      `json:"events,omitempty"` // what was written, without the text
	Drafts      []exportedDraft      `json:"drafts,omitempty"`
	Pastes      []exportedPaste      `json:"pastes,omitempty"`
	PastesFull  bool                 `json:"pastes_full,omitempty"` // as many as are kept: there may have been more
	Submissions []exportedSubmission `json:"submissions,omitempty"`
}

// exportedEvent is a draft or a submission.
type exportedEvent struct {
	At         time.Time       `json:"at"`
	Draft      int64           `json:"draft,omitempty"` // its version
	Auto       bool            `json:"auto,omitempty"`  // the editor saved it by itself
	Size       int64           `json:"size,omitempty"`  // bytes
	Submission string          `json:"submission,omitempty"`
	Outcome    verdict.Outcome `json:"outcome,omitempty"` // absent: it is not graded yet; "replaced": nor will it be
	WaitedMs   int64           `json:"waited_ms,omitempty"`
}

type exportedDraft struct {
	Version int64             `json:"version"`
	At      time.Time         `json:"at"`
	Auto    bool              `json:"auto"` // the editor saved it by itself
	Files   map[string]string `json:"files"`
	// PastesNoted is false of a form that was sent without a script.
	PastesNoted bool `json:"pastes_noted"`
}

// exportedPaste says that text was pasted. The lines are of the draft with that
// version, which may have been thinned out.
type exportedPaste struct {
	At       time.Time `json:"at"`
	Version  int64     `json:"version"`
	File     string    `json:"file"`
	FromLine int       `json:"from_line"`
	ToLine   int       `json:"to_line"`
	Lines    int       `json:"lines"`      // as it was pasted
	Size     int       `json:"characters"` // likewise
	Moved    bool      `json:"moved"`      // the text was in the editor or in the task before
}

type exportedSubmission struct {
	ID       string            `json:"id"`
	Exercise string            `json:"exercise"`
	At       time.Time         `json:"at"`
	Outcome  verdict.Outcome   `json:"outcome,omitempty"` // as of an exportedEvent
	Files    map[string]string `json:"files"`
	Verdict  *verdict.Verdict  `json:"verdict,omitempty"`
}

func momentOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// exported is a candidate without what it wrote.
func (s *Server) exported(c echo.Context, sit sitting) (exportedCandidate, error) {
	line, err := s.candidateLine(c, sit)
	if err != nil {
		return exportedCandidate{}, err
	}
	judgements, err := s.store.Judgements(c.Request().Context(), sit.candidate)
	if err != nil {
		return exportedCandidate{}, err
	}
	out := exportedCandidate{
		ID: line.ID, Name: line.Name, State: line.State, StartedAt: momentOf(line.StartedAt), EndedAt: momentOf(line.EndedAt),
		EndedBy: sit.candidate.EndedBy, ExtraMinutes: line.ExtraMin, GivenBackMs: line.GivenBack.Milliseconds(),
		Note: judgementOf(judgements, "").Note, Exercises: []exportedExercise{},
	}
	if sit.candidate.Sits() {
		out.Deadline = momentOf(sit.reading.Deadline)
	}
	for _, o := range line.Outcomes {
		said := judgementOf(judgements, o.Name)
		e := exportedExercise{Exercise: o.Name, Outcome: o.Best.Outcome, Runs: o.Runs, Note: said.Note}
		for _, line := range s.rubric(o.Name, said) {
			e.Rubric = append(e.Rubric, line.Text)
		}
		for _, number := range strings.Fields(said.Met) {
			n, err := strconv.Atoi(number)
			if err != nil {
				return exportedCandidate{}, fmt.Errorf("read judgement: %w", err)
			}
			e.Met = append(e.Met, n)
		}
		out.Exercises = append(out.Exercises, e)
	}
	return out, nil
}

func exportedOf(a store.Assignment) exportedAssignment {
	return exportedAssignment{
		Format: exportFormat, Version: exportVersion, Assignment: a.Title, Minutes: int(a.Limit.Minutes()), Exercises: a.Exercises,
		Candidates: []exportedCandidate{},
	}
}

// allExported are the candidates of the assignment in the address.
func (s *Server) allExported(c echo.Context) (exportedAssignment, error) {
	a, err := s.assignmentIn(c)
	if err != nil {
		return exportedAssignment{}, err
	}
	list, err := s.sittings(c.Request().Context(), a)
	if err != nil {
		return exportedAssignment{}, err
	}
	out := exportedOf(a)
	for _, sit := range list {
		one, err := s.exported(c, sit)
		if err != nil {
			return exportedAssignment{}, err
		}
		out.Candidates = append(out.Candidates, one)
	}
	return out, nil
}

// candidatesJSON gives the results of an assignment as JSON.
func (s *Server) candidatesJSON(c echo.Context) error {
	out, err := s.allExported(c)
	if err != nil {
		return err
	}
	return asFile(c, "candidates.json", out)
}

func asFile(c echo.Context, name string, data any) error {
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="`+name+`"`)
	return c.JSON(http.StatusOK, data)
}

// candidatesCSV gives the results of an assignment as a table, a row for each
// candidate.
func (s *Server) candidatesCSV(c echo.Context) error {
	out, err := s.allExported(c)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	head := []string{"id", "name", "state", "started_at", "ended_at", "ended_by", "extra_minutes", "given_back_minutes"}
	for _, name := range out.Exercises {
		head = append(head, name+" outcome", name+" runs", name+" met")
	}
	rows := [][]string{append(head, "note")}
	for _, one := range out.Candidates {
		rows = append(rows, one.row())
	}
	if err := w.WriteAll(rows); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="candidates.csv"`)
	return c.Blob(http.StatusOK, "text/csv; charset=utf-8", buf.Bytes())
}

func (e exportedCandidate) row() []string {
	at := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return t.Format(time.RFC3339)
	}
	row := []string{
		strconv.FormatInt(e.ID, 10), cell(e.Name), e.State, at(e.StartedAt), at(e.EndedAt), string(e.EndedBy),
		strconv.Itoa(e.ExtraMinutes), strconv.FormatFloat(float64(e.GivenBackMs)/60_000, 'f', 2, 64),
	}
	for _, x := range e.Exercises {
		row = append(row, string(x.Outcome), strconv.Itoa(x.Runs), strings.Trim(fmt.Sprint(x.Met), "[]"))
	}
	return append(row, cell(e.Note))
}

// formula is how a cell begins that a spreadsheet calculates. Those in German and
// Russian end a cell at a semicolon, also inside of our quotes.
var formula = regexp.MustCompile(`^[=+\-@\t\r]|;\s*[=+\-@]`)

// cell keeps spreadsheets from taking what a candidate typed for a formula.
func cell(text string) string {
	return formula.ReplaceAllStringFunc(text, func(begin string) string {
		last := len(begin) - 1
		return begin[:last] + "'" + begin[last:]
	})
}

func exportedSubmissionOf(sub store.Submission) exportedSubmission {
	return exportedSubmission{sub.PublicID, sub.Exercise, sub.CreatedAt.UTC(), sub.Outcome(), filesByName(sub.Files), sub.Verdict}
}

func (s *Server) addPastes(ctx context.Context, b store.Browser, e *exportedExercise) error {
	pastes, err := s.store.Pastes(ctx, b, e.Exercise)
	if err != nil {
		return err
	}
	e.PastesFull = len(pastes) == store.MaxPastes
	for _, p := range pastes {
		e.Pastes = append(e.Pastes, exportedPaste{p.At.UTC(), p.Version, p.File, p.From, p.To, p.Lines, p.Size, p.Moved})
	}
	return nil
}

func filesByName(files []store.File) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		out[f.Name] = string(f.Content)
	}
	return out
}
