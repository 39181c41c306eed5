package trace_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

func steps() []verdict.Step {
	var r trace.Recorder
	r.Add(verdict.Step{Lane: "A", Event: trace.Deliver, Text: "payments/0 offset 0, attempt 1"})
	r.Add(verdict.Step{
		Lane: "A", Event: trace.SQL, Text: "UPDATE accounts SET balance = balance - 4900 WHERE id = 'acc-1' AND the statement is longer than a line of the terminal",
		File: "handler.go", Line: 31, Rows: []string{"accounts('acc-1'): balance 50000 → 45100"}, Decisive: true,
	})
	r.Add(verdict.Step{Lane: "A", Event: trace.Crash, Text: "the process dies"})
	r.Add(verdict.Step{Lane: "A2", Event: trace.Restart, Text: "a new process starts"})
	return r.Steps()
}

func TestText(t *testing.T) {
	t.Parallel()
	want := strings.TrimPrefix(`
    1  A   payments/0 offset 0, attempt 1
>   2  A   UPDATE accounts SET balance = balance - 4900 WHERE id = 'acc-1' AND the statement is       handler.go:31
           longer than a line of the terminal
             accounts('acc-1'): balance 50000 → 45100
!   3  A   the process dies
    4  A2  a new process starts
`, "\n")
	if diff := cmp.Diff(want, trace.Text(steps())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	sum := func(name string, change func([]verdict.Step)) string {
		s := steps()
		change(s)
		h := trace.NewHash()
		h.Add(name, s)
		return h.String()
	}
	nothing := func([]verdict.Step) {}
	first := sum("one", nothing)
	if !strings.HasPrefix(first, "sha256:") || len(first) != 71 {
		t.Errorf("got %q", first)
	}
	if sum("one", nothing) != first {
		t.Error("equal traces have different hashes")
	}
	for name, other := range map[string]string{
		"name":     sum("two", nothing),
		"text":     sum("one", func(s []verdict.Step) { s[0].Text += " " }),
		"row":      sum("one", func(s []verdict.Step) { s[1].Rows = nil }),
		"decisive": sum("one", func(s []verdict.Step) { s[1].Decisive = false }),
	} {
		if other == first {
			t.Errorf("a change of %s keeps the hash", name)
		}
	}
}
