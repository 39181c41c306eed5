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

// With two databases each phase and each finding says which one it is about.
func TestReportTellsDatabasesApart(t *testing.T) {
	t.Parallel()
	got := trace.Report(verdict.Verdict{
		Findings: []verdict.Finding{{Kind: verdict.Duplicate, Phase: "interleavings", Database: "read-committed", Message: "Twice."}},
		Coverage: []verdict.Coverage{
			{Phase: "happy-path", Schedules: 3, Complete: true, Database: "sqlite"},
			{Phase: "cluster", LeftOut: "no members", Database: "sqlite"},
			{Phase: "happy-path", Schedules: 3, Complete: true, Database: "read-committed"},
			{Phase: "cluster", LeftOut: "no members", Database: "read-committed"},
			{Phase: "interleavings", Schedules: 9, Database: "read-committed", Outside: []string{"a third transaction"}},
		},
	})
	for _, want := range []string{
		"1. duplicate (interleavings, on read-committed)\n",
		"Complete:\n on sqlite:\n   happy-path ", "\n on read-committed:\n   happy-path ",
		"In part, because the model cannot tell about some schedules:\n on read-committed:\n   interleavings ", "\n      cannot be told: a third transaction\n",
		"databases other than SQLite as it is set up here and the model of READ COMMITTED: ",
		"\nThe database read-committed is a model of PostgreSQL's READ COMMITTED, ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "Sampled:") || strings.Count(got, "no members") != 1 {
		t.Errorf("the report says something twice or wrong:\n%s", got)
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
