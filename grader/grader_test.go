package grader_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/build"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

// gradings is how often the tests of repetition grade. .ci/run raises it.
var gradings = flag.Int("gradings", 20, "how often the tests of repetition grade")

// compiler is shared: preparing it takes 20 s of processor time the first time
// on a machine, so its files stay in the user's cache.
var compiler *build.Compiler

func TestMain(m *testing.M) {
	flag.Parse()
	cache, err := os.UserCacheDir()
	if err == nil {
		compiler = build.New(build.Config{Dir: filepath.Join(cache, "redeliver-test")})
		err = compiler.Prepare(context.Background(), func(string, int, int) {})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare the compiler:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func newGrader(t testing.TB, workers int) *grader.Grader {
	t.Helper()
	return newGraderWith(t, grader.Config{Workers: workers})
}

func newGraderWith(t testing.TB, cfg grader.Config) *grader.Grader {
	t.Helper()
	cfg.Dir = t.TempDir()
	g, err := grader.New(cfg, compiler)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func chargeOnce(t testing.TB) *exercises.Exercise {
	t.Helper()
	c := exercises.Open(exercises.Builtin(), nil)
	e, ok := c.Exercise("core/charge-once")
	if !ok {
		t.Fatalf("no core/charge-once: %v", c.Problems())
	}
	return e
}

func solution(t testing.TB, e *exercises.Exercise) []exercises.File {
	t.Helper()
	i := slices.IndexFunc(e.Solutions, func(s exercises.Sample) bool { return s.Name == "on-conflict-do-nothing" })
	return e.Solutions[i].Files
}

func grade(t testing.TB, g *grader.Grader, req grader.Request) verdict.Verdict {
	t.Helper()
	if req.Seed == 0 {
		req.Seed = 1
	}
	v, err := g.Grade(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// verdicts are those of handlers that several tests look at. A verdict is a
// function of exercise and source, so each is graded once.
var verdicts sync.Map // of *once, by exercise and source

type once struct {
	sync.Once
	verdict verdict.Verdict
}

// gradeOnce grades with one worker: the tests that call it run side by side.
func gradeOnce(t *testing.T, g *grader.Grader, e *exercises.Exercise, files []exercises.File) verdict.Verdict {
	t.Helper()
	entry, _ := verdicts.LoadOrStore(e.Name()+grader.SourceHash(files), &once{})
	o := entry.(*once)
	o.Do(func() { o.verdict = grade(t, g, grader.Request{Exercise: e, Files: files}) })
	if o.verdict.Outcome == "" {
		t.Fatal("another test could not grade this handler")
	}
	return o.verdict
}

func kinds(v verdict.Verdict) []string {
	var out []string
	for _, f := range v.Findings {
		if k := string(f.Kind); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// A token runs its schedule again with the same trace to the byte.
func TestReplay(t *testing.T) {
	t.Parallel()
	g, e := newGrader(t, 2), chargeOnce(t)
	found := grade(t, g, grader.Request{Exercise: e, Files: e.Starter}).Findings
	if len(found) < 2 {
		t.Fatalf("the starter has %d findings", len(found))
	}
	for _, want := range found {
		v := grade(t, g, grader.Request{Exercise: e, Files: e.Starter, Replay: want.Schedule})
		if v.Outcome != verdict.Failed || v.Schedules != 1 || len(v.Findings) == 0 {
			t.Fatalf("replay of %s: %s, %d schedules", want.Phase, v.Outcome, v.Schedules)
		}
		want.PassingTwin, want.PassesWhen = "", "" // a single schedule has no neighbours
		if diff := cmp.Diff(want, v.Findings[0]); diff != "" {
			t.Errorf("replay of %s (-want +got):\n%s", want.Phase, diff)
		}
		twin := grade(t, g, grader.Request{Exercise: e, Files: e.Starter, Replay: found[0].PassingTwin})
		if twin.Outcome != verdict.Passed || twin.Replay == nil || len(twin.Replay.Trace) == 0 {
			t.Errorf("the twin: %s, %s", twin.Outcome, twin.Summary)
		}
	}
}

func TestReplayRefused(t *testing.T) {
	t.Parallel()
	g, e := newGrader(t, 1), chargeOnce(t)
	token := grade(t, g, grader.Request{Exercise: e, Files: e.Starter}).Findings[0].Schedule
	changed := *e
	changed.Schema += "\n-- changed\n"
	onBoth := *e
	onBoth.Databases = []string{"sqlite", "read-committed"}
	elsewhere, err := schedule.ParseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere.Schedule.Database = "read-committed"
	for _, tc := range []struct {
		name string
		req  grader.Request
		want string
	}{
		{"Source", grader.Request{Exercise: e, Files: solution(t, e), Seed: 1, Replay: token}, "The source has changed"},
		{"Exercise", grader.Request{Exercise: &changed, Files: e.Starter, Seed: 1, Replay: token}, "The exercise has changed"},
		{"DatabasesOfTheExercise", grader.Request{Exercise: &onBoth, Files: e.Starter, Seed: 1, Replay: token}, "The exercise has changed"},
		{"Database", grader.Request{Exercise: e, Files: e.Starter, Seed: 1, Replay: elsewhere.String()}, `the database "read-committed"`},
		{"Seed", grader.Request{Exercise: e, Files: e.Starter, Seed: 2, Replay: token}, "pass --seed 1"},
		{"Cut", grader.Request{Exercise: e, Files: e.Starter, Seed: 1, Replay: token[:40]}, "cut or changed"},
		{"Version", grader.Request{Exercise: e, Files: e.Starter, Seed: 1, Replay: "rd9" + token[3:]}, "another version"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := g.Grade(t.Context(), tc.req)
			var refused *grader.ReplayError
			if !errors.As(err, &refused) || !strings.Contains(refused.Text, tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// Phases are reported as they end, the first finding once.
func TestProgress(t *testing.T) {
	t.Parallel()
	e := chargeOnce(t)
	var got []string
	v := grade(t, newGrader(t, 2), grader.Request{Exercise: e, Files: e.Starter, Progress: func(p grader.Progress) {
		switch {
		case p.Coverage != nil:
			got = append(got, fmt.Sprintf("%s %d/%d", p.Coverage.Phase, p.Coverage.Failed, p.Coverage.Schedules))
		case p.Finding != nil:
			got = append(got, "finding "+string(p.Finding.Kind))
		default:
			got = append(got, string(p.Stage))
		}
	}})
	want := []string{
		"check", "build", "load", "explore", "happy-path 0/3", "finding duplicate", "redelivery 2/2", "producer-duplicate 1/2", "crash-points 1/6",
		"zombie 5/5", "transient-errors 1/5", "lost-replies 1/2", "two-records 0/5", "interleavings 5/10", "double-crash 5/8",
		"crash-and-interleave 22/24", "clock-jumps 4/9", "rewind 4/4", "cluster 6/9", "random 15/24",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if v.Timings.FirstResult <= 0 || v.Timings.FirstResult > v.Timings.Total {
		t.Errorf("timings: %+v", v.Timings)
	}
}

// A cancelled grading is an error of ours and leaves nothing behind.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	e := chargeOnce(t)
	_, err := newGrader(t, 2).Grade(ctx, grader.Request{Exercise: e, Files: e.Starter, Seed: 1, Progress: func(p grader.Progress) {
		if p.Coverage != nil {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
