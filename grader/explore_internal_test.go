package grader

import (
	"strings"
	"testing"

	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// Two runs of one schedule must show the same, as far as a limit of real time let them
// come.
func TestNotReproducible(t *testing.T) {
	t.Parallel()
	run := func(texts string, cut *problem) *result {
		r := &result{problem: cut}
		for _, text := range strings.Fields(texts) {
			r.steps = append(r.steps, verdict.Step{Event: trace.SQL, Text: text})
		}
		return r
	}
	wall := &problem{kind: verdict.Timeout, wall: true}
	for _, tc := range []struct {
		name string
		a, b *result
		same bool
	}{
		{"Equal", run("begin insert commit", nil), run("begin insert commit", nil), true},
		{"AnotherStep", run("begin insert commit", nil), run("begin update commit", nil), false},
		{"Shorter", run("begin insert commit", nil), run("begin insert", nil), false},
		{"OneWasCutOff", run("begin insert commit", nil), run("begin insert limit", wall), true},
		{"TheFirstWasCutOff", run("begin select limit", wall), run("begin insert commit", nil), true},
		{"BothElsewhere", run("begin insert limit", wall), run("begin insert commit offset limit", wall), true},
		{"AnotherStepBefore", run("begin insert update commit", nil), run("begin select update limit", wall), false},
		{"CutOffAtOnce", run("begin insert commit", nil), run("limit", wall), true},
	} {
		if why := notReproducible(tc.a, tc.b); (why == "") != tc.same {
			t.Errorf("%s: %q", tc.name, why)
		}
	}
}
