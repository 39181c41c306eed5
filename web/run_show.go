package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"redeliver/exercises"
	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
	"redeliver/web/jobs"
	"redeliver/web/store"
	"redeliver/web/views"
)

// runShow runs the schedule of a token again and shows what it did, as a page or
// as a file. Whoever has the token may see that, but not the source behind it.
func (s *Server) runShow(c echo.Context) error {
	c.Response().Header().Set("X-Robots-Tag", "noindex, nofollow")
	text, file := cutFile(c.Param("token"))
	r, err := s.findRun(c.Request().Context(), text)
	if err != nil {
		return err
	}
	v, err := s.runAgain(c, r)
	if err != nil {
		return err
	}
	steps := stepsOf(v)
	switch file {
	case views.TextFile:
		return c.String(http.StatusOK, v.Summary+"\n\n"+trace.Text(steps))
	case views.MermaidFile:
		return c.String(http.StatusOK, trace.Mermaid(steps))
	case views.JSONFile:
		b, err := trace.JSON(steps)
		if err != nil {
			return err
		}
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, b)
	case views.PictureFile:
		return s.sendCard(c, "run "+r.token.String(), func() (views.Card, error) {
			m, err := s.runModel(c, r, v, steps)
			if err != nil {
				return views.Card{}, err
			}
			return views.NewRunCard(m, steps), nil
		})
	default:
		m, err := s.runModel(c, r, v, steps)
		if err != nil {
			return err
		}
		return render(c, http.StatusOK, views.Run(m))
	}
}

func (s *Server) runModel(c echo.Context, r foundRun, v verdict.Verdict, steps []verdict.Step) (views.RunModel, error) {
	p := s.page(c)
	state := views.RunState{
		Token: r.token.String(), Exercise: r.exercise.Name(), Public: r.exercise.Visibility == "public",
		Title: s.titleOf(r.exercise.Name(), p.Lang()), Owner: r.owner, Phase: r.token.Schedule.Phase,
		Database: r.token.Schedule.Database, Choices: r.token.Schedule.String(), Verdict: v, Steps: steps, Twin: r.twin,
	}
	if r.owner == views.OfStarter || r.owner == views.OfWrong { // nobody's secret
		for _, f := range r.files {
			state.Files = append(state.Files, views.FileModel{Name: f.Name, Content: string(f.Content)})
		}
	}
	return views.NewRun(p, state)
}

// cutFile takes the ending of a file from an address.
func cutFile(param string) (token string, file views.RunFile) {
	for _, f := range []views.RunFile{views.TextFile, views.MermaidFile, views.JSONFile, views.PictureFile} {
		if token, ok := strings.CutSuffix(param, string(f)); ok {
			return token, f
		}
	}
	return param, ""
}

// stepsOf is the trace with the steps that decide marked, where there is one.
func stepsOf(v verdict.Verdict) []verdict.Step {
	if len(v.Findings) > 0 && len(v.Findings[0].Trace) > 0 {
		return v.Findings[0].Trace
	}
	return v.Replay.Trace
}

// foundRun is a token with what it needs to be run.
type foundRun struct {
	token    schedule.Token
	exercise *exercises.Exercise
	files    []exercises.File
	owner    views.RunOwner
	twin     string // from a stored verdict; "" if there is none
}

// findRun reads a token and finds what it was made for. The errors are problems
// with a sentence each.
func (s *Server) findRun(ctx context.Context, text string) (foundRun, error) {
	token, err := schedule.ParseToken(text)
	switch {
	case errors.Is(err, schedule.ErrTokenVersion):
		return foundRun{}, &problem{status: http.StatusGone, message: "run.token-version", cause: err}
	case err != nil:
		return foundRun{}, &problem{status: http.StatusNotFound, message: "run.malformed", cause: err}
	case token.Engine != verdict.Engine:
		return foundRun{}, &problem{
			status: http.StatusGone, message: "run.engine", places: []any{"Then", token.Engine, "Now", verdict.Engine}, anew: s.anew(token),
		}
	}
	exercise, ok := s.catalog.Exercise(token.Exercise)
	if !ok {
		return foundRun{}, &problem{status: http.StatusGone, message: "run.exercise-gone", places: []any{"Name", token.Exercise}}
	}
	if hash := strings.TrimPrefix(exercise.Hash(), "sha256:"); !strings.HasPrefix(hash, token.ExerciseHash) {
		return foundRun{}, &problem{status: http.StatusGone, message: "run.exercise-changed", places: []any{"Name", token.Exercise}, anew: s.anew(token)}
	}
	return s.findSource(ctx, foundRun{token: token, exercise: exercise})
}

// findSource looks among what comes with the exercise and among what was
// submitted.
func (s *Server) findSource(ctx context.Context, r foundRun) (foundRun, error) {
	r.files, r.owner, _ = sampleOf(r.exercise, r.token.SourceHash)
	found, err := s.store.FindSource(ctx, r.exercise.Name(), r.token.SourceHash)
	switch {
	case errors.Is(err, store.ErrNotFound) && r.files == nil:
		return foundRun{}, &problem{status: http.StatusNotFound, message: "run.source-gone", cause: err}
	case errors.Is(err, store.ErrNotFound):
		return r, nil
	case err != nil:
		return foundRun{}, err
	}
	if r.files == nil {
		r.owner = views.OfSubmission
		for _, f := range found.Files {
			r.files = append(r.files, exercises.File(f))
		}
	}
	if found.Verdict != nil {
		r.twin = twinOf(*found.Verdict, r.token.String())
	}
	return r, nil
}

// anew is where the handler of an old token can be watched today: the starter and the
// handlers that are wrong on purpose have addresses that outlast engines and versions.
// It is nil for any other source.
func (s *Server) anew(token schedule.Token) func(root views.Root) templ.SafeURL {
	e, err := s.exercise(token.Exercise)
	if err != nil {
		return nil
	}
	switch _, owner, name := sampleOf(e, token.SourceHash); owner {
	case views.OfStarter, views.OfWrong:
		return func(root views.Root) templ.SafeURL { return views.WatchURL(root, e.Name(), name) }
	default:
		return nil
	}
}

// sampleOf finds a source among those that come with an exercise.
func sampleOf(e *exercises.Exercise, hash string) (files []exercises.File, owner views.RunOwner, name string) {
	is := func(files []exercises.File) bool {
		return strings.HasPrefix(verdict.SourceHash(func(yield func(string, []byte) bool) {
			for _, f := range files {
				if !yield(f.Name, f.Content) {
					return
				}
			}
		}), hash)
	}
	if is(e.Starter) {
		return e.Starter, views.OfStarter, ""
	}
	for _, s := range e.Solutions {
		if is(s.Files) {
			return s.Files, views.OfSolution, s.Name
		}
	}
	for _, s := range e.Wrong {
		if is(s.Files) {
			return s.Files, views.OfWrong, s.Name
		}
	}
	return nil, "", ""
}

// twinOf finds the nearest schedule that passes in the verdict that a token
// comes from: one replay alone has no neighbours.
func twinOf(v verdict.Verdict, token string) string {
	for _, f := range v.Findings {
		if f.Schedule == token {
			return f.PassingTwin
		}
	}
	return ""
}

// runAgain runs the schedule, or takes what it has shown a short while ago. Only
// what really runs counts against the address.
func (s *Server) runAgain(c echo.Context, r foundRun) (verdict.Verdict, error) {
	token := r.token.String()
	v, ok := s.queue.Replayed(token)
	if !ok {
		if !s.runs.allow(c.RealIP()) {
			return v, later(c, 60, &problem{status: http.StatusTooManyRequests, message: "run.too-many"})
		}
		var err error
		v, err = s.queue.Replay(c.Request().Context(), jobs.Request{
			Exercise: r.exercise.Name(), Files: r.files, Seed: r.token.Seed, Replay: token,
		})
		if err != nil {
			return v, replayProblem(c, err)
		}
	}
	if v.Replay == nil {
		return v, &problem{status: http.StatusNotFound, message: "run.rejected"}
	}
	return v, nil
}

func replayProblem(c echo.Context, err error) error {
	var changed *jobs.ChangedError
	switch {
	case errors.As(err, &changed):
		return &problem{status: http.StatusGone, message: "run.changed", places: []any{"Text", changed.Text}}
	case errors.Is(err, jobs.ErrBusy), errors.Is(err, context.DeadlineExceeded):
		return later(c, 10, &problem{status: http.StatusServiceUnavailable, message: "run.busy", cause: err})
	case errors.Is(err, jobs.ErrNoGrader):
		return &problem{status: http.StatusServiceUnavailable, message: "run.no-grader", cause: err}
	default:
		return err
	}
}
