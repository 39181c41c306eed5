package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// candidateShow is the report about a candidate.
func (s *Server) candidateShow(c echo.Context) error {
	notice := c.QueryParam("notice")
	if !slices.Contains([]string{"extra", "cancelled", "noted"}, notice) {
		notice = ""
	}
	return s.showCandidate(c, http.StatusOK, notice, views.FormProblem{})
}

func (s *Server) showCandidate(c echo.Context, status int, notice string, problem views.FormProblem) error {
	sit, _ := sittingOf(c)
	ctx, p := c.Request().Context(), s.page(c)
	line, err := s.candidateLine(c, sit)
	if err != nil {
		return err
	}
	judgements, err := s.store.Judgements(ctx, sit.candidate)
	if err != nil {
		return err
	}
	m := views.CandidateModel{
		Page: p, Facts: s.facts(sit.assignment, p.Lang()), Line: line, Deadline: sit.reading.Deadline,
		EndedBy: string(sit.candidate.EndedBy), Note: judgementOf(judgements, "").Note,
	}
	closest, err := s.closest(ctx, sit)
	if err != nil {
		return err
	}
	for i, choice := range m.Facts.Exercises {
		e := views.ExerciseReport{ExerciseChoice: choice, Outcome: line.Outcomes[i], Closest: closest[choice.Name]}
		if e.Events, e.Pastes, err = s.eventsOf(ctx, sit, choice.Name); err != nil {
			return err
		}
		if len(e.Pastes) == store.MaxPastes {
			e.PastesKept = store.MaxPastes
		}
		said := judgementOf(judgements, choice.Name)
		e.Note, e.Rubric = said.Note, s.rubric(choice.Name, said)
		m.Exercises = append(m.Exercises, e)
	}
	if m, err = views.NewCandidate(m, notice, problem); err != nil {
		return err
	}
	return render(c, status, views.Candidate(m))
}

func judgementOf(list []store.Judgement, exercise string) store.Judgement {
	for _, j := range list {
		if j.Exercise == exercise {
			return j
		}
	}
	return store.Judgement{}
}

// rubric is what the exercise names to look for, with what was met.
func (s *Server) rubric(exercise string, said store.Judgement) (lines []views.RubricLine) {
	e, ok := s.catalog.Exercise(exercise)
	if !ok {
		return nil
	}
	met := strings.Fields(said.Met)
	for i, text := range e.Rubric {
		number := strconv.Itoa(i + 1)
		lines = append(lines, views.RubricLine{Number: number, Text: text, Met: slices.Contains(met, number)})
	}
	return lines
}

// candidateReturn answers the addresses of the forms of the report.
func (s *Server) candidateReturn(c echo.Context) error { return s.toCandidate(c, "") }

func (s *Server) toCandidate(c echo.Context, notice string) error {
	sit, _ := sittingOf(c)
	return c.Redirect(http.StatusSeeOther,
		string(views.WithNotice(views.CandidateURL(s.home(c), sit.assignment.ID, sit.candidate.ID), notice)))
}

// playbackShow is one step of what a candidate wrote for an exercise.
func (s *Server) playbackShow(c echo.Context) error {
	e, err := s.exerciseIn(c, nameOf(c))
	if err != nil {
		return err
	}
	sit, _ := sittingOf(c)
	ctx, p := c.Request().Context(), s.page(c)
	m := views.PlaybackModel{
		Page: p, Facts: s.facts(sit.assignment, p.Lang()), Name: sit.candidate.Name, Person: sit.candidate.ID,
		Exercise: choiceOfHead(&e.Head, p.Lang()), From: sit.candidate.StartedAt,
	}
	if m.Events, _, err = s.events(ctx, sit.candidate.Browser, e.Name()); err != nil {
		return err
	}
	if m.Step, err = stepOf(c, m.Events); err != nil {
		return err
	}
	if m.Step > 0 {
		before := views.StarterRef
		if m.Step > 1 {
			before = m.Events[m.Step-2].Ref
		}
		if m.Old, err = s.written(ctx, sit.candidate.Browser, e, before); err != nil {
			return err
		}
		if m.Files, err = s.written(ctx, sit.candidate.Browser, e, m.Events[m.Step-1].Ref); err != nil {
			return err
		}
	}
	if m, err = views.NewPlayback(m); err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Playback(m))
}

// stepOf is the step that the address names: a place, a version of the draft, or the
// last one.
func stepOf(c echo.Context, events views.EventsOf) (int, error) {
	if version, asked, err := askedVersion(c); err != nil || asked {
		i := slices.IndexFunc(events, func(e views.ReportEvent) bool { return e.Version == version })
		if err == nil && (i < 0 || version == 0) {
			err = store.ErrNotFound
		}
		return i + 1, err
	}
	text := c.QueryParam("at")
	if text == "" {
		return len(events), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(events) {
		return 0, store.ErrNotFound
	}
	return n, nil
}
