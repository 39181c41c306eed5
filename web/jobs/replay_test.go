package jobs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"redeliver/grader/verdict"
)

func TestReplay(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, grade gradeFunc) *testBundle {
		t.Helper()
		return setup(t, filepath.Join(t.TempDir(), "redeliver.db"), grade)
	}

	t.Run("RunsOnceForEachToken", func(t *testing.T) {
		t.Parallel()
		var ran []string
		b := open(t, func(_ context.Context, r Request, _ func(Progress)) (verdict.Verdict, error) {
			ran = append(ran, r.Replay)
			v := verdictOf(verdict.Failed)
			v.Summary = r.Replay
			return v, nil
		})
		for _, token := range []string{"one", "two", "one"} {
			v, err := b.queue.Replay(t.Context(), Request{Replay: token})
			if err != nil || v.Summary != token {
				t.Errorf("%s: %+v, err %v", token, v, err)
			}
		}
		if got := strings.Join(ran, " "); got != "one two" {
			t.Errorf("ran %q", got)
		}
	})

	t.Run("InconclusiveAndErrorsAreNotKept", func(t *testing.T) {
		t.Parallel()
		n := 0
		b := open(t, func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			if n++; n == 1 {
				return verdict.Verdict{}, &ChangedError{Text: "The engine has changed."}
			}
			return verdictOf(verdict.Inconclusive), nil
		})
		var changed *ChangedError
		if _, err := b.queue.Replay(t.Context(), Request{Replay: "x"}); !errors.As(err, &changed) {
			t.Errorf("err %v", err)
		}
		for range 2 {
			if _, err := b.queue.Replay(t.Context(), Request{Replay: "x"}); err != nil {
				t.Error(err)
			}
		}
		if n != 3 {
			t.Errorf("ran %d times", n)
		}
	})

	t.Run("OneAtATimeAndFewWait", func(t *testing.T) {
		t.Parallel()
		var running, most atomic.Int32
		begun, release := make(chan struct{}, 100), make(chan struct{})
		b := open(t, func(ctx context.Context, _ Request, _ func(Progress)) (verdict.Verdict, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			begun <- struct{}{}
			<-release
			return verdictOf(verdict.Passed), ctx.Err()
		})
		var wg sync.WaitGroup
		errs := make(chan error, 20)
		ask := func(i int) {
			wg.Go(func() {
				_, err := b.queue.Replay(t.Context(), Request{Replay: fmt.Sprint(i)})
				errs <- err
			})
		}
		ask(0)
		<-begun
		for i := range 19 {
			ask(i + 1)
		}
		for range 19 - maxWaitingReplays { // those that find no place
			if err := <-errs; !errors.Is(err, ErrBusy) {
				t.Errorf("err %v", err)
			}
		}
		close(release)
		wg.Wait()
		for range 1 + maxWaitingReplays {
			if err := <-errs; err != nil {
				t.Errorf("one that has a place: %v", err)
			}
		}
		if most.Load() != 1 {
			t.Errorf("%d ran at once", most.Load())
		}
	})

	// Strangers with links to runs keep nobody at work from a check.
	t.Run("ChecksHaveATurnOfTheirOwn", func(t *testing.T) {
		t.Parallel()
		begun, release := make(chan struct{}, 100), make(chan struct{})
		b := open(t, func(ctx context.Context, r Request, _ func(Progress)) (verdict.Verdict, error) {
			if r.Replay == "" {
				return verdictOf(verdict.Rejected), nil
			}
			begun <- struct{}{}
			<-release
			return verdictOf(verdict.Passed), ctx.Err()
		})
		var wg sync.WaitGroup
		for i := range 1 + maxWaitingReplays {
			wg.Go(func() {
				if _, err := b.queue.Replay(t.Context(), Request{Replay: fmt.Sprint(i)}); err != nil {
					t.Error(err)
				}
			})
		}
		<-begun
		if _, err := b.queue.Compile(t.Context(), Request{}); err != nil {
			t.Error(err)
		}
		close(release)
		wg.Wait()
	})

	t.Run("WhoeverLeavesGivesUpThePlace", func(t *testing.T) {
		t.Parallel()
		b := open(t, func(ctx context.Context, _ Request, _ func(Progress)) (verdict.Verdict, error) {
			<-ctx.Done()
			return verdict.Verdict{}, ctx.Err()
		})
		for range 2 + maxWaitingReplays {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := b.queue.Replay(ctx, Request{Replay: "x"}); !errors.Is(err, context.Canceled) {
				t.Errorf("err %v", err)
			}
		}
	})

	t.Run("RefusesWithoutCompiler", func(t *testing.T) {
		t.Parallel()
		b := open(t, passes)
		b.grader.preparing.Store(true)
		if _, err := b.queue.Replay(t.Context(), Request{Replay: "x"}); !errors.Is(err, ErrBusy) {
			t.Errorf("err %v", err)
		}
		b.queue.grader = nil
		if _, err := b.queue.Replay(t.Context(), Request{Replay: "x"}); !errors.Is(err, ErrNoGrader) {
			t.Errorf("err %v", err)
		}
	})
}

func TestReplayCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := replayCache{max: 10_000, byToken: map[string][]byte{}}
	v := verdictOf(verdict.Failed)
	v.Summary = strings.Repeat("x", 2_000)
	for i := range 20 {
		if err := c.put(fmt.Sprint(i), v); err != nil {
			t.Fatal(err)
		}
	}
	if c.size > c.max || len(c.byToken) != len(c.order) || len(c.order) < 3 {
		t.Errorf("%d bytes in %d entries, %d in order", c.size, len(c.byToken), len(c.order))
	}
	if _, ok := c.get("0"); ok {
		t.Error("the oldest is still there")
	}
	if got, ok := c.get("19"); !ok || got.Summary != v.Summary {
		t.Error("the newest is not there")
	}
	v.Summary = strings.Repeat("x", 20_000)
	if err := c.put("large", v); err != nil || len(c.order) < 3 {
		t.Errorf("one that is too large pushed out the others, err %v", err)
	}
}

// A text is compiled and not run.
func TestCompile(t *testing.T) {
	t.Parallel()
	failure := errors.New("no compiler")
	rejected := verdictOf(verdict.Rejected)
	rejected.Findings = []verdict.Finding{{Kind: verdict.Compile, Message: "undefined: x"}}
	for _, tc := range []struct {
		name    string
		grade   gradeFunc
		found   int
		problem string
	}{
		{"Compiles", func(ctx context.Context, _ Request, progress func(Progress)) (verdict.Verdict, error) {
			progress(Progress{Stage: "build"})
			if ctx.Err() != nil {
				return verdict.Verdict{}, errors.New("ended before it was built")
			}
			progress(Progress{Stage: StageExplore})
			<-ctx.Done() // nothing runs
			return verdict.Verdict{}, ctx.Err()
		}, 0, ""},
		{"DoesNot", func(context.Context, Request, func(Progress)) (verdict.Verdict, error) { return rejected, nil }, 1, ""},
		{"Unknown", func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			return verdictOf(verdict.Inconclusive), nil
		}, 0, "ended inconclusive"},
		{"Error", func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			return verdict.Verdict{}, failure
		}, 0, "no compiler"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, filepath.Join(t.TempDir(), "redeliver.db"), tc.grade)
			found, err := b.queue.Compile(t.Context(), Request{})
			if len(found) != tc.found || (err == nil) != (tc.problem == "") || err != nil && !strings.Contains(err.Error(), tc.problem) {
				t.Errorf("found %+v, err %v", found, err)
			}
		})
	}
}
