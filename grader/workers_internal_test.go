package grader

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/schedule"
)

// Whose rank is lower gets the next worker, and of one rank who asked first.
func TestWorkersGoByRank(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkers(1)
		first, err := w.borrow(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan rank, 10)
		for _, r := range []rank{2, 1, 2, urgent, 1} {
			go func() {
				mine, err := w.borrow(t.Context(), r)
				if err != nil {
					t.Error(err)
				}
				got <- r
				w.giveBack(mine)
			}()
			synctest.Wait() // it waits in the queue
		}
		w.giveBack(first)
		var order []rank
		for range 5 {
			order = append(order, <-got)
		}
		if diff := cmp.Diff([]rank{urgent, 1, 1, 2, 2}, order); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// Who gives up waiting takes no worker with him.
func TestWorkersSurviveImpatience(t *testing.T) {
	t.Parallel()
	w := newWorkers(1)
	mine, err := w.borrow(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.borrow(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	w.giveBack(mine)
	if again, err := w.borrow(t.Context(), 0); err != nil || again != mine {
		t.Errorf("got %v, %v, want the worker", again, err)
	}
}

// A phase waits for what it is planned from, and for the happy path in any case.
func TestPlannable(t *testing.T) {
	t.Parallel()
	at := func(phases ...string) (first []int) {
		for k := range phases {
			n := 0
			for !plannable(phases, k, n) {
				n++
			}
			first = append(first, n)
		}
		return first
	}
	if diff := cmp.Diff([]int{0, 1, 1, 2, 1, 1}, at(schedule.HappyPath, schedule.CrashPoints, schedule.Zombie,
		schedule.DoubleCrash, schedule.Random, schedule.Cluster)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 1, 1}, at(schedule.HappyPath, schedule.DoubleCrash, schedule.CrashAndInterleave)); diff != "" {
		t.Errorf("without those that they are planned from (-want +got):\n%s", diff)
	}
}
