package web

import (
	"time"

	"github.com/labstack/echo/v4"

	"redeliver/exercises"
	"redeliver/grader/verdict"
	"redeliver/web/jobs"
	"redeliver/web/store"
	"redeliver/web/views"
)

// closed reports whether it is too late to begin.
func closed(a store.Assignment, now time.Time) bool {
	return !a.ClosesAt.IsZero() && !now.Before(a.ClosesAt)
}

// choiceOf is an exercise as the pages about assignments name it, also one whose
// pack is no longer installed.
func (s *Server) choiceOf(name, lang string) views.ExerciseChoice {
	e, ok := s.catalog.Exercise(name)
	if !ok {
		return views.ExerciseChoice{Name: name, Title: name}
	}
	return choiceOfHead(&e.Head, lang)
}

func choiceOfHead(e *exercises.Head, lang string) views.ExerciseChoice {
	return views.ExerciseChoice{
		Name: e.Name(), Title: e.Title[e.Language(lang)], Level: e.Level, Minutes: e.Minutes, Assigned: e.Visibility != "public",
	}
}

// choices are the exercises that can be assigned.
func (s *Server) choices(lang string) (out []views.ExerciseChoice) {
	for _, head := range s.catalog.All() {
		out = append(out, choiceOfHead(head, lang))
	}
	return out
}

// facts is an assignment as its pages show it.
func (s *Server) facts(a store.Assignment, lang string) views.AssignmentFacts {
	f := views.AssignmentFacts{
		ID: a.ID, Title: a.Title, Note: a.Note, Minutes: int(a.Limit.Minutes()), OpensAt: a.OpensAt, ClosesAt: a.ClosesAt,
		Hints: a.Hints, Approaches: a.Approaches, AllPhase: a.AllPhases, RetainDays: a.RetainDays, Open: a.Open, Lang: a.Lang,
	}
	for _, name := range a.Exercises {
		f.Exercises = append(f.Exercises, s.choiceOf(name, lang))
	}
	if a.WarmUp != "" {
		f.WarmUp = s.choiceOf(a.WarmUp, lang)
	}
	return f
}

// worth orders outcomes: the best one is shown.
var worth = map[verdict.Outcome]int{verdict.Passed: 4, verdict.Failed: 3, views.Withheld: 3, verdict.Rejected: 2, verdict.Inconclusive: 1}

// outcomes says how far a candidate is with each exercise of the assignment.
func (s *Server) outcomes(c echo.Context, sit sitting) ([]views.ExerciseOutcome, error) {
	lang := s.langOf(c)
	var out []views.ExerciseOutcome
	for _, name := range sit.assignment.Exercises {
		list, err := s.store.Submissions(c.Request().Context(), sit.candidate.Browser, name, jobs.MaxPerSitting)
		if err != nil {
			return nil, err
		}
		o := views.ExerciseOutcome{Name: name, Title: s.titleOf(name, lang), Runs: len(list)}
		for i, sub := range list { // the newest first
			sub.Outcome = shownOutcome(c, sub.Outcome)
			if i == 0 || worth[sub.Outcome] > worth[o.Best.Outcome] {
				o.Best = views.SubmissionLine{PublicID: sub.PublicID, Outcome: sub.Outcome, At: sub.CreatedAt}
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// candidateLine is a candidate as the lists show it.
func (s *Server) candidateLine(c echo.Context, sit sitting) (views.CandidateLine, error) {
	outcomes, err := s.outcomes(c, sit)
	return views.CandidateLine{
		ID: sit.candidate.ID, Name: sit.candidate.Name, Self: sit.candidate.Self, State: s.stateOf(sit),
		ExtraMin: int(sit.candidate.Extra.Minutes()), StartedAt: sit.candidate.StartedAt, EndedAt: sit.candidate.EndedAt,
		Left: sit.reading.Left(s.cfg.Now()), GivenBack: sit.reading.GivenBack, Outcomes: outcomes,
	}, err
}

// candidateLines are those of an assignment.
func (s *Server) candidateLines(c echo.Context, a store.Assignment) ([]views.CandidateLine, error) {
	list, err := s.sittings(c.Request().Context(), a)
	if err != nil {
		return nil, err
	}
	lines := make([]views.CandidateLine, 0, len(list))
	for _, sit := range list {
		line, err := s.candidateLine(c, sit)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// assignmentIn finds the assignment in the address, if who is signed in may see it.
func (s *Server) assignmentIn(c echo.Context) (store.Assignment, error) {
	id, err := idOf(c)
	if err != nil {
		return store.Assignment{}, err
	}
	return s.store.Assignment(c.Request().Context(), s.actor(c), id)
}
