package grader

import (
	"slices"
	"testing"

	"redeliver/exercises"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

// A record that was delivered in vain because a lease had not expired is not stuck
// when the partition then moves and the database is locked once: only deliveries
// after the last deviation count.
func TestStuckCountsFromTheLastDeviation(t *testing.T) {
	t.Parallel()
	e, ok := exercises.Open(exercises.Builtin(), nil).Exercise("core/redis-gap")
	if !ok {
		t.Fatal("no exercise core/redis-gap")
	}
	i := slices.IndexFunc(e.Solutions, func(s exercises.Sample) bool { return s.Name == "lease-and-unique-key" })
	w := worldFor(t, e, e.Solutions[i].Files)
	s, err := schedule.Parse("one crash@5 rebalance@12")
	if err != nil {
		t.Fatal(err)
	}
	s.Phase, s.Database = schedule.Random, verdict.SQLite
	r, err := w.run(t.Context(), s, options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.problem != nil || len(r.violations) > 0 {
		t.Errorf("it failed: %+v, %v", r.problem, r.violations)
	}
	if last := r.deliveries[len(r.deliveries)-1]; last.Attempt <= maxAttempts {
		t.Errorf("the last delivery was number %d: the schedule does not show what it should", last.Attempt)
	}
}
