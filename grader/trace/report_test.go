package trace_test

import (
	"strings"
	"testing"

	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// Every phase says in words what it looks at.
func TestCovered(t *testing.T) {
	t.Parallel()
	said := map[string]string{}
	for _, phase := range schedule.Phases() {
		text := trace.Covered(phase)
		if text == phase {
			t.Errorf("phase %s has no words", phase)
		}
		if other, ok := said[text]; ok {
			t.Errorf("phases %s and %s have the same words", phase, other)
		}
		said[text] = phase
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	v := verdict.Verdict{
		Exercise: "core/charge-once", ExerciseVersion: "1.0.0", Engine: "1", Outcome: verdict.Failed, Summary: "Payment p-1 was charged 2 times.",
		Findings: []verdict.Finding{{
			Kind: verdict.Duplicate, Invariant: "no payment is charged twice", Phase: "crash-points", Message: "Payment p-1 was charged 2 times.",
			Explanation: "The process died.", Schedule: "rd1.a", PassingTwin: "rd1.b", PassesWhen: "the process does not die there",
		}},
		Coverage: []verdict.Coverage{
			{Phase: "crash-points", Schedules: 7, Failed: 2, Complete: true},
			{Phase: "random", Schedules: 24, Failed: 0},
		},
		Stdout: "clear\x1b[2J\u202eoverwritten\rend\ttab\xff\n",
	}
	got := trace.Report(v)
	for name, want := range map[string]string{
		"Finding":     "1. duplicate: no payment is charged twice (crash-points)\n   Payment p-1 was charged 2 times. The process died.\n",
		"Replay":      "   again:           --replay rd1.a\n",
		"Twin":        "   It passes when the process does not die there.\n   nearest passing: --replay rd1.b\n",
		"Complete":    "\nComplete:\n   crash-points           7 schedules,  2 failed: the process killed",
		"Sampled":     "\nSampled:\n   random                24 schedules,  0 failed: ",
		"NotCovered":  "\nNot covered:\n   three or more instances",
		"ControlText": `clear\x1b[2J\u202eoverwritten\rend    tab` + "\uFFFD\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(got, want) {
				t.Errorf("the report lacks %q:\n%s", want, got)
			}
		})
	}
	if strings.ContainsAny(got, "\x1b\r\u202e") {
		t.Errorf("a submission can drive the terminal: %q", got)
	}
}

// A title without a phase below it would say that something was looked at.
func TestReportLeavesOutEmptyTitles(t *testing.T) {
	t.Parallel()
	got := trace.Report(verdict.Verdict{Coverage: []verdict.Coverage{{Phase: "happy-path", Schedules: 3, Complete: true}}})
	if !strings.Contains(got, "Complete:") || strings.Contains(got, "Sampled:") {
		t.Errorf("want only Complete and Not covered:\n%s", got)
	}
}
