package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"redeliver/web/similarity"
	"redeliver/web/store"
	"redeliver/web/views"
)

// compareShow sets two candidates of an assignment side by side.
func (s *Server) compareShow(c echo.Context) error {
	a, err := s.assignmentIn(c)
	if err != nil {
		return err
	}
	ctx, p := c.Request().Context(), s.page(c)
	list, err := s.store.Candidates(ctx, a)
	if err != nil {
		return err
	}
	m := views.CompareModel{Page: p, Facts: s.facts(a, p.Lang())}
	for _, candidate := range list {
		m.Choices = append(m.Choices, views.CandidateChoice{ID: candidate.ID, Name: candidate.Name})
	}
	var pair []store.Candidate
	for i, field := range []string{views.FirstField, views.SecondField} {
		candidate, chosen, err := chosenOf(list, c.QueryParam(field))
		if err != nil {
			return err
		}
		if chosen {
			m.Chosen[i], pair = candidate.ID, append(pair, candidate)
		}
	}
	status := http.StatusOK
	switch {
	case len(pair) < 2:
	case pair[0].ID == pair[1].ID:
		status, m.Same = http.StatusUnprocessableEntity, true
	default:
		if err := s.compare(c, a, pair, &m); err != nil {
			return err
		}
	}
	if m, err = views.NewCompare(m); err != nil {
		return err
	}
	return render(c, status, views.Compare(m))
}

// chosenOf finds who a form names among the candidates of the assignment.
func chosenOf(list []store.Candidate, text string) (candidate store.Candidate, chosen bool, err error) {
	if text == "" {
		return store.Candidate{}, false, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	i := slices.IndexFunc(list, func(c store.Candidate) bool { return c.ID == id })
	if err != nil || i < 0 {
		return store.Candidate{}, false, store.ErrNotFound
	}
	return list[i], true, nil
}

// compare fills in what two candidates did.
func (s *Server) compare(c echo.Context, a store.Assignment, pair []store.Candidate, m *views.CompareModel) error {
	for _, candidate := range pair {
		sit, err := s.read(c.Request().Context(), candidate, a)
		if err != nil {
			return err
		}
		line, err := s.candidateLine(c, sit)
		if err != nil {
			return err
		}
		m.Sides = append(m.Sides, line)
	}
	for i, choice := range m.Facts.Exercises {
		e, err := s.compareExercise(c, pair, choice, m.Sides[0].Outcomes[i], m.Sides[1].Outcomes[i])
		if err != nil {
			return err
		}
		m.Exercises = append(m.Exercises, e)
	}
	return nil
}

// compareExercise compares the best submissions of two candidates for an exercise.
func (s *Server) compareExercise(c echo.Context, pair []store.Candidate, choice views.ExerciseChoice, outcomes ...views.ExerciseOutcome) (views.ComparedExercise, error) {
	out := views.ComparedExercise{ExerciseChoice: choice}
	e, installed := s.catalog.Exercise(choice.Name)
	out.Gone = !installed
	ctx := c.Request().Context()
	var found []prints
	for i, o := range outcomes {
		side := views.ComparedText{Outcome: o}
		if o.Runs > 0 && installed {
			sub, err := s.store.Submission(ctx, pair[i].Browser, o.Best.PublicID)
			if err != nil {
				return out, err
			}
			side.Files = fileModels(e, sub.Files)
			p, err := s.printsOf(ctx, e, store.SourceHash(sub.Files), func() ([]store.File, error) { return sub.Files, nil })
			if err != nil {
				return out, err
			}
			found = append(found, p)
		}
		out.Sides = append(out.Sides, side)
	}
	if len(found) == 2 {
		out.Alike = alikenessOf(found[0], found[1])
	}
	return out, nil
}

// alikenessOf is what two sources have in common, for a page.
func alikenessOf(a, b prints) views.Alikeness {
	out := views.Alikeness{Compared: true}
	for i, p := range []prints{a, b} {
		out.Broken[i], out.Long[i] = errors.Is(p.none, similarity.ErrSyntax), errors.Is(p.none, similarity.ErrTooLong)
	}
	if a.none != nil || b.none != nil {
		return out
	}
	ab := similarity.Compare(a.Prints, b.Prints)
	out.Percent[0], out.Figure[0] = ab.Percent()
	out.Percent[1], out.Figure[1] = similarity.Compare(b.Prints, a.Prints).Percent()
	for i := range out.Figure {
		out.Above[i] = out.Figure[i] && out.Percent[i] >= similarity.Threshold
	}
	if out.Above[0] || out.Above[1] {
		for _, p := range ab.Passages {
			out.Passages = append(out.Passages, views.Passage{views.Span(p.A), views.Span(p.B)})
		}
	}
	out.Threshold = similarity.Threshold
	return out
}
