package grader

import (
	"testing"

	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

var errDuplicate = failure{kind: verdict.Duplicate, invariant: "once", object: "p-1"} //nolint:gochecknoglobals // a constant

// knowing returns an explorer that may run nothing: it knows the schedules that
// fail with f and those that pass.
func knowing(t *testing.T, f failure, failing, passing []string) *explorer {
	t.Helper()
	x := &explorer{found: newFound(), plans: schedule.Facts{Effects: make([]schedule.Effect, 6)}}
	x.runs = maxShrinkRuns
	for _, choices := range failing {
		x.known[choices] = knownRun{schedule: parsed(t, choices), failures: []failure{f}}
	}
	for _, choices := range passing {
		x.known[choices] = knownRun{schedule: parsed(t, choices)}
	}
	return x
}

func parsed(t *testing.T, choices string) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(choices)
	if err != nil {
		t.Fatal(err)
	}
	s.Phase = schedule.Random
	return s
}

func TestShrink(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name             string
		start            string
		failing, passing []string
		want             string
	}{
		{"DeletesWhatIsNotNeeded", "one crash@2 crash@5 jump-25h@6", []string{"one crash@5 jump-25h@6", "one crash@5"}, []string{"one"}, "one crash@5"},
		{"KeepsWhatIsNeeded", "one fail@5 jump-25h@6", nil, []string{"one fail@5", "one jump-25h@6"}, "one fail@5 jump-25h@6"},
		{"TakesFewerRecords", "copies fail@6", []string{"one fail@0"}, []string{"one"}, "one fail@0"},
		{"MovesAFaultToTheFirstRecord", "all crash@15", []string{"one crash@3"}, []string{"one", "all"}, "one crash@3"},
		{"FindsTheSameFaultElsewhere", "copies crash@17", []string{"one crash@4"}, []string{"one", "copies"}, "one crash@4"},
		{"FoldsARebalance", "one rebalance@0 switch@0 switch@3", []string{"one rebalance@3"}, []string{"one"}, "one rebalance@3"},
		{"KeepsTwoInstances", "two switch@3", []string{"one switch@3"}, []string{"two"}, "two switch@3"},
		{"NeverShowsAFaultThatMayNotHappen", "one crash@2 crash@50", []string{"one crash@50"}, nil, "one crash@2 crash@50"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			x := knowing(t, errDuplicate, tc.failing, tc.passing)
			got, err := x.shrink(t.Context(), parsed(t, tc.start), errDuplicate)
			if err != nil || got.String() != tc.want {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

// A shorter schedule that shows another failure is no shorter story of this one.
func TestShrinkKeepsTheFailure(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]failure{
		"Kind":      {kind: verdict.Lost, invariant: "once", object: "p-1"},
		"Invariant": {kind: verdict.Duplicate, invariant: "debits", object: "p-1"},
		"Object":    {kind: verdict.Duplicate, invariant: "once", object: "p-2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := knowing(t, other, []string{"one crash@2", "one crash@5"}, nil)
			got, err := x.shrink(t.Context(), parsed(t, "one crash@2 crash@5"), errDuplicate)
			if err != nil || got.String() != "one crash@2 crash@5" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// Phases that enumerate single faults are the shortest already.
func TestShrinkLeavesSingleFaults(t *testing.T) {
	t.Parallel()
	x := knowing(t, errDuplicate, []string{"one"}, nil)
	s := parsed(t, "one crash@2")
	s.Phase = schedule.CrashPoints
	if got, err := x.shrink(t.Context(), s, errDuplicate); err != nil || got.String() != "one crash@2" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestElsewhere(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name             string
		start            string
		failing, passing []string
		want             string
	}{
		{"Nearest", "one crash@5", []string{"one crash@4"}, []string{"one crash@3", "one crash@7", "one fail@5"}, "one crash@3"},
		{"OnlyOneDeviationMoves", "one crash@2 crash@5", nil, []string{"one crash@1 crash@4", "one crash@2 crash@9"}, "one crash@2 crash@9"},
		{"SameRecords", "one crash@5", nil, []string{"all crash@4"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, ok := knowing(t, errDuplicate, tc.failing, tc.passing).elsewhere(parsed(t, tc.start))
			if ok != (tc.want != "") || ok && got.String() != tc.want {
				t.Errorf("got %q, %v; want %q", got, ok, tc.want)
			}
		})
	}
}

func TestClassOf(t *testing.T) {
	t.Parallel()
	for choices, want := range map[string]string{
		"one": "undisturbed", "all": "undisturbed", "one crash@1": "redelivery", "one lose@3": "redelivery", "one rewind@6": "redelivery",
		"copy": "copy", "copies crash@3": "copy", "one rebalance@1": "concurrency", "two switch@2": "concurrency", "copies rebalance@1": "concurrency",
		"one fail@5 jump-25h@6": "time",
	} {
		if got := classOf(parsed(t, choices)); got != want {
			t.Errorf("%q is %q, want %q", choices, got, want)
		}
	}
}
