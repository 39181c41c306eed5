//go:build synctests && !realtime

package grader_test

import (
	"slices"
	"testing"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// The timeline shows what transactions leave in the outputs: markers, and how far a
// reader of committed records gets while a transaction is open whose process is gone.
func TestMarkers(t *testing.T) {
	t.Parallel()
	e, ok := exercises.Open(exercises.Builtin(), nil).Exercise("core/kafka-transactions")
	if !ok {
		t.Fatal("core/kafka-transactions is missing")
	}
	for _, c := range []struct {
		wrong, phase string
		want         []string
	}{
		{"offsets-committed-within", "crash-points", []string{
			"A transaction is open in invoices/0, whose log ends at offset 3. A reader with read_committed gets the records before offset 0, until the transaction ends or times out.",
			"The broker writes the abort marker at offset 3 of invoices/0. A reader with read_committed gets the records before offset 4.",
		}},
		{"offsets-outside", "redelivery", []string{
			"The broker writes the commit marker at offset 3 of invoices/0. A reader with read_committed gets the records before offset 4.",
			"The broker writes the commit marker at offset 7 of invoices/0. A reader with read_committed gets the records before offset 8.",
		}},
	} {
		i := slices.IndexFunc(e.Wrong, func(s exercises.Sample) bool { return s.Name == c.wrong })
		v := grade(t, newGrader(t, 0), grader.Request{Exercise: e, Files: e.Wrong[i].Files})
		k := slices.IndexFunc(v.Findings, func(f verdict.Finding) bool { return f.Phase == c.phase })
		if k < 0 {
			t.Errorf("%s: nothing was found in %s", c.wrong, c.phase)
			continue
		}
		var got []string
		for _, s := range v.Findings[k].Trace {
			if s.Event == trace.Marker {
				got = append(got, s.Text)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: got %q", c.wrong, c.phase, got)
		}
	}
}
