package web

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"redeliver/exercises"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
	"redeliver/web/jobs"
	"redeliver/web/store"
	"redeliver/web/views/htmlcheck"
)

// tokenFor is a token for files of an exercise, changed by the functions.
func tokenFor(e *exercises.Exercise, files []store.File, change ...func(*schedule.Token)) schedule.Token {
	t := schedule.Token{
		Engine: verdict.Engine, Exercise: e.Name(), ExerciseHash: strings.TrimPrefix(e.Hash(), "sha256:")[:16],
		SourceHash: store.SourceHash(files)[:16], Seed: 1,
		Schedule: schedule.Schedule{Phase: schedule.CrashPoints, Database: "sqlite", Set: schedule.One, Deviations: []schedule.Deviation{{At: 5, Do: schedule.Crash}}},
	}
	for _, f := range change {
		f(&t)
	}
	return t
}

func starterOf(e *exercises.Exercise) (files []store.File) {
	for _, f := range e.Starter {
		files = append(files, store.File(f))
	}
	return files
}

// replayed is what the grader answers for a token.
func replayed(token string) verdict.Verdict {
	v := verdictOf(verdict.Failed)
	v.Replay = &verdict.Replay{Schedule: token, Trace: []verdict.Step{
		{Step: 1, Lane: "A", Event: "sql", Text: "INSERT INTO charges", File: "handler.go", Line: 34, Rows: []string{"+charges(1)"}},
		{Step: 2, Lane: "A", Event: "crash", Text: "A dies.", Rows: []string{}, Decisive: true},
	}}
	return v
}

// setupRuns answers every replay and counts them.
func setupRuns(t *testing.T, cfg Config) (b *testBundle, asked *atomic.Int32) {
	t.Helper()
	b, asked = setup(t, cfg, testCatalog()), &atomic.Int32{}
	b.grader.replay = func(_ context.Context, r jobs.Request) (verdict.Verdict, error) {
		asked.Add(1)
		return replayed(r.Replay), nil
	}
	return b, asked
}

func TestRun(t *testing.T) {
	t.Parallel()
	exercise := testCatalog()[0]
	starter := starterOf(exercise)

	t.Run("RunsTheScheduleAgainOnce", func(t *testing.T) {
		t.Parallel()
		b, asked := setupRuns(t, Config{})
		token := tokenFor(exercise, starter).String()
		for range 2 {
			a := b.visitor(t).get(t, "/en/runs/"+token, http.StatusOK)
			if a.header.Get("X-Robots-Tag") != "noindex, nofollow" {
				t.Errorf("X-Robots-Tag %q", a.header.Get("X-Robots-Tag"))
			}
			htmlcheck.Page(t, a.body, htmlcheck.NothingInline, htmlcheck.LinksWithin,
				htmlcheck.In("h1", htmlcheck.Text("A run of “Charge once”")),
				htmlcheck.In(".run .verdict.is-failed", htmlcheck.Text("A violation in this schedule This is the sentence of the verdict.")),
				htmlcheck.Count(".run .tl-row", 2),
				htmlcheck.In(".facts", htmlcheck.Text("Exercise Charge once Source the exercise's starter Phase A crash at every point "+
					"Database sqlite Schedule one crash@5")),
				htmlcheck.NotIn(".tl-twin"), htmlcheck.NotIn("a.place"))
		}
		if asked.Load() != 1 {
			t.Errorf("ran %d times", asked.Load())
		}
	})

	t.Run("Files", func(t *testing.T) {
		t.Parallel()
		b, asked := setupRuns(t, Config{})
		path := "/en/runs/" + tokenFor(exercise, starter).String()
		for ending, want := range map[string][2]string{
			".txt":  {"text/plain", "This is the sentence of the verdict.\n\n    1  A  INSERT INTO charges"},
			".mmd":  {"text/plain", "sequenceDiagram\n"},
			".json": {"application/json", "{\n  \"lanes\": ["},
		} {
			a := b.visitor(t).get(t, path+ending, http.StatusOK)
			if !strings.HasPrefix(a.header.Get("Content-Type"), want[0]) || !strings.HasPrefix(a.body, want[1]) || a.header.Get("X-Robots-Tag") == "" {
				t.Errorf("%s: %s, %.80q", ending, a.header.Get("Content-Type"), a.body)
			}
		}
		if asked.Load() != 1 {
			t.Errorf("ran %d times", asked.Load())
		}
	})

	t.Run("WhoeverHasTheTokenSeesTheRunButNotTheSource", func(t *testing.T) {
		t.Parallel()
		b, _ := setupRuns(t, Config{})
		b.start(t)
		v := b.visitor(t)
		path, _ := v.submit(t, 0, "package handler // a secret\n")
		token := tokenFor(exercise, []store.File{
			{Name: "schema.sql", Content: []byte("-- empty\n")}, {Name: "handler.go", Content: []byte("package handler // a secret\n")},
		}).String()
		ofSubmission := htmlcheck.In(".facts", htmlcheck.Contains("Source a submission"))
		htmlcheck.Page(t, b.visitor(t).get(t, "/en/runs/"+token, http.StatusOK).body, ofSubmission, htmlcheck.NotIn(".tl-twin"))

		graded := verdictOf(verdict.Failed)
		graded.Findings = []verdict.Finding{{Kind: verdict.Duplicate, Schedule: "rd1.other", PassingTwin: "rd1.no"}, {Kind: verdict.Lost, Schedule: token, PassingTwin: "rd1.twin"}}
		b.grader.verdicts <- graded
		b.graded(t, v, path)
		a := b.visitor(t).get(t, "/en/runs/"+token, http.StatusOK)
		htmlcheck.Page(t, a.body, ofSubmission, htmlcheck.In(".tl-twin a", htmlcheck.Attr("href", "/en/runs/rd1.twin")))
		if strings.Contains(a.body, "secret") {
			t.Error("the page shows the source of another browser")
		}
	})

	t.Run("SamplesAreFound", func(t *testing.T) {
		t.Parallel()
		b, _ := setupRuns(t, Config{})
		e := b.srv.catalog.(fakeCatalog)[0]
		right, wrong := exercises.File{Name: "handler.go", Content: []byte("right")}, exercises.File{Name: "handler.go", Content: []byte("wrong")}
		e.Solutions, e.Wrong = []exercises.Sample{{Name: "one", Files: []exercises.File{right}}}, []exercises.Sample{{Name: "two", Files: []exercises.File{wrong}}}
		for want, file := range map[string]exercises.File{"a reference solution": right, "a handler that is wrong on purpose": wrong} {
			a := b.visitor(t).get(t, "/en/runs/"+tokenFor(e, []store.File{store.File(file)}).String(), http.StatusOK)
			htmlcheck.Page(t, a.body, htmlcheck.In(".facts", htmlcheck.Contains(want)))
		}
	})

	t.Run("WithoutLanguageLeadsToOne", func(t *testing.T) {
		t.Parallel()
		b, _ := setupRuns(t, Config{})
		token := tokenFor(exercise, starter).String()
		if a := b.visitor(t).get(t, "/runs/"+token+".txt", http.StatusFound); a.header.Get("Location") != "/en/runs/"+token+".txt" {
			t.Errorf("leads to %s", a.header.Get("Location"))
		}
	})
}

func TestRunThatCannotBeRepeated(t *testing.T) {
	t.Parallel()
	exercise := testCatalog()[0]
	starter := starterOf(exercise)
	good := tokenFor(exercise, starter).String()
	const other = "0123456789abcdef"
	b, asked := setupRuns(t, Config{})
	for name, tc := range map[string]struct {
		token  string
		status int
		says   string
	}{
		"Cut":        {good[:len(good)-3], http.StatusNotFound, "cut or changed on its way"},
		"Flipped":    {good[:20] + "A" + good[21:], http.StatusNotFound, "cut or changed on its way"},
		"Nonsense":   {"x", http.StatusNotFound, "cut or changed on its way"},
		"TooLong":    {"rd1." + strings.Repeat("A", schedule.MaxToken), http.StatusNotFound, "cut or changed on its way"},
		"NewFormat":  {"rd2" + good[3:], http.StatusGone, "another version of Redeliver"},
		"Engine":     {tokenFor(exercise, starter, func(t *schedule.Token) { t.Engine = "0" }).String(), http.StatusGone, "made by engine 0, this is engine " + verdict.Engine},
		"NoExercise": {tokenFor(exercise, starter, func(t *schedule.Token) { t.Exercise = "core/deleted" }).String(), http.StatusGone, "core/deleted is not installed"},
		"Exercise":   {tokenFor(exercise, starter, func(t *schedule.Token) { t.ExerciseHash = other }).String(), http.StatusGone, "The exercise has changed"},
		"Source":     {tokenFor(exercise, starter, func(t *schedule.Token) { t.SourceHash = other }).String(), http.StatusNotFound, "The source of this run is not here any more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := b.visitor(t).get(t, "/en/runs/"+tc.token, tc.status)
			htmlcheck.Page(t, a.body, htmlcheck.In("main", htmlcheck.Contains(tc.says)))
			if name == "Engine" || name == "Exercise" { // the starter can be watched as it is today
				htmlcheck.Page(t, a.body, htmlcheck.In("main a", htmlcheck.Attr("href", exercisePage+"/watch")))
			} else {
				htmlcheck.Page(t, a.body, htmlcheck.NotIn("main a[href*=watch]"))
			}
			if asked.Load() != 0 {
				t.Error("something was run")
			}
		})
	}
}

func TestRunIsBounded(t *testing.T) {
	t.Parallel()
	exercise := testCatalog()[0]
	at := func(n int) string {
		return "/en/runs/" + tokenFor(exercise, starterOf(exercise), func(t *schedule.Token) { t.Schedule.Deviations[0].At = n }).String()
	}

	t.Run("ByAddress", func(t *testing.T) {
		t.Parallel()
		b, _ := setupRuns(t, Config{RunsPerMinute: 2})
		v := b.visitor(t)
		v.get(t, at(1), http.StatusOK)
		v.get(t, at(2), http.StatusOK)
		a := v.get(t, at(3), http.StatusTooManyRequests)
		htmlcheck.Page(t, a.body, htmlcheck.In("main", htmlcheck.Contains("asked for many runs")))
		if a.header.Get("Retry-After") != "60" {
			t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
		}
		v.get(t, at(1), http.StatusOK) // what is known costs nothing
	})

	for name, tc := range map[string]struct {
		v      verdict.Verdict
		err    error
		status int
		says   string
	}{
		"Busy":     {err: jobs.ErrBusy, status: http.StatusServiceUnavailable, says: "Other runs are being repeated"},
		"TimeOut":  {err: context.DeadlineExceeded, status: http.StatusServiceUnavailable, says: "Other runs are being repeated"},
		"NoGrader": {err: jobs.ErrNoGrader, status: http.StatusServiceUnavailable, says: "runs no code"},
		"Changed":  {err: &jobs.ChangedError{Text: "The token was made with seed 2."}, status: http.StatusGone, says: "The token was made with seed 2."},
		"Rejected": {v: verdictOf(verdict.Rejected), status: http.StatusNotFound, says: "is not accepted by this engine"},
		"Broken":   {err: http.ErrHandlerTimeout, status: http.StatusInternalServerError, says: "Something went wrong here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := setupRuns(t, Config{})
			b.grader.replay = func(context.Context, jobs.Request) (verdict.Verdict, error) { return tc.v, tc.err }
			a := b.visitor(t).get(t, at(1), tc.status)
			htmlcheck.Page(t, a.body, htmlcheck.In("main", htmlcheck.Contains(tc.says)))
			if (tc.err == jobs.ErrBusy) != (a.header.Get("Retry-After") == "10") && name != "TimeOut" { //nolint:errorlint // a table
				t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
			}
		})
	}
}
