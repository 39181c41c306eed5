package jobs

import (
	"context"
	"errors"
	"sync"
	"testing"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

// installed is an exercise with a newer version than that of handIn.
func installed(name string) (string, bool) { return "2.0.0", name == exercise }

// failsThenPasses fails at first; what comes again has the next version, and passes.
func failsThenPasses() gradeFunc {
	var mu sync.Mutex
	seen := map[string]bool{}
	return func(_ context.Context, r Request, _ func(Progress)) (verdict.Verdict, error) {
		mu.Lock()
		defer mu.Unlock()
		source := string(r.Files[0].Content)
		if seen[source] {
			v := verdictOf(verdict.Passed)
			v.ExerciseVersion = "2.0.0"
			return v, nil
		}
		seen[source] = true
		v := verdictOf(verdict.Failed)
		v.Findings = []verdict.Finding{{Kind: verdict.Duplicate}}
		return v, nil
	}
}

func TestRegrade(t *testing.T) {
	t.Parallel()

	t.Run("ReplacesTheVerdict", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, failsThenPasses())
			b.start(t)
			id := b.submit(t, handIn("ada", "package handler"), Created)
			b.next(t)
			gone := handIn("ada", "package handler")
			gone.Exercise = "core/removed"
			b.submit(t, gone, Created)
			b.next(t)
			b.regrade(t, Regrading{Queued: 1, Gone: 1}, false)
			b.ended(t, "regrade")
			s := b.submission(t, "ada", id)
			if s.Verdict.Outcome != verdict.Passed || s.ExerciseVersion != "2.0.0" {
				t.Errorf("submission %+v", s)
			}
			p, err := b.st.Practice(t.Context(), store.BrowserOf("ada"))
			if err != nil || p.Exercises[0].PassedAt.IsZero() || p.Mistakes[0].Times != 1 {
				t.Errorf("practice %+v, err %v", p, err)
			}
			b.regrade(t, Regrading{Gone: 1}, false) // it is up to date
			b.regrade(t, Regrading{Queued: 1, Gone: 1}, true)
		})
	})

	t.Run("WhatCannotBeFoundOutLeavesTheVerdict", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			first := true
			b := setup(t, pathOrURL, func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
				if first {
					first = false
					return verdictOf(verdict.Failed), nil
				}
				return verdict.Verdict{}, errors.New("broken")
			})
			b.start(t)
			id := b.submit(t, handIn("ada", "package handler"), Created)
			b.next(t)
			b.regrade(t, Regrading{Queued: 1}, false)
			for range maxAttempts {
				b.ended(t, "regrade")
			}
			if s := b.submission(t, "ada", id); s.Verdict.Outcome != verdict.Failed {
				t.Errorf("submission %+v", s)
			}
		})
	})

	t.Run("WhoWaitsGoesFirst", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, failsThenPasses())
			b.start(t)
			b.submit(t, handIn("ada", "package handler"), Created)
			b.next(t)
			b.stop(t)
			b.regrade(t, Regrading{Queued: 1}, false)
			b.regrade(t, Regrading{Queued: 1}, false) // the same job
			b.submit(t, handIn("bob", "package handler // later"), Created)
			rows := b.count(t, `SELECT count(*) FROM river_job r JOIN river_job g ON g.priority < r.priority AND g.id > r.id
				WHERE r.kind = 'regrade' AND r.state = 'available' AND g.kind = 'grade' AND g.state = 'available'`)
			if rows != 1 {
				t.Errorf("%d regrades wait behind the submission that came later", rows)
			}
		})
	})
}

func (b *testBundle) regrade(t *testing.T, want Regrading, all bool) {
	t.Helper()
	got, err := b.queue.Regrade(t.Context(), nil, all, installed)
	if err != nil || got != want {
		t.Fatalf("regrading %+v, want %+v, err %v", got, want, err)
	}
}
