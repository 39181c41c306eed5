package trace_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

func step(lane, event, text string) verdict.Step {
	return verdict.Step{Lane: lane, Event: event, Text: text}
}

// laneNames writes lanes as "A(A A2) middle B(B)".
func laneNames(t trace.Timeline) string {
	var names []string
	for _, l := range t.Lanes {
		if l.Name == trace.Middle {
			names = append(names, "middle")
			continue
		}
		names = append(names, l.Name+"("+strings.Join(l.Lives, " ")+")")
	}
	return strings.Join(names, " ")
}

func TestTimelineLanes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		steps []verdict.Step
		want  string
	}{
		{"OneInstance", []verdict.Step{step("A", trace.Deliver, ""), step("", trace.Check, "")}, "A(A) middle"},
		{"TwoInstancesByName", []verdict.Step{step("B", trace.SQL, ""), step("A", trace.SQL, "")}, "A(A) middle B(B)"},
		{"LivesStayInTheirLane", []verdict.Step{step("A", trace.Crash, ""), step("A2", trace.Restart, ""), step("A2", trace.Crash, ""), step("A3", trace.Restart, "")}, "A(A A2 A3) middle"},
		{"ThreeInstances", []verdict.Step{step("A", trace.SQL, ""), step("C2", trace.SQL, ""), step("B", trace.SQL, "")}, "A(A) middle B(B) C(C2)"},
		{"NoInstance", []verdict.Step{step("", trace.Produce, "")}, "middle"},
		{"Nothing", nil, "middle"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := laneNames(trace.NewTimeline(tc.steps)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTimelineLinesEndWithTheProcess(t *testing.T) {
	t.Parallel()
	tl := trace.NewTimeline([]verdict.Step{
		step("", trace.Produce, ""), step("A", trace.Deliver, ""), step("A", trace.Crash, ""), step("B", trace.Deliver, ""), step("A2", trace.Restart, ""),
	})
	const dead, begins, lives, ends = "dead", "begins", "lives", "ends"
	want := [][]string{ // A, middle, B
		{dead, lives, dead}, {begins, lives, dead}, {ends, lives, dead}, {dead, lives, begins}, {begins, lives, lives},
	}
	var got [][]string
	for _, r := range tl.Rows {
		var row []string
		for _, l := range r.Lines {
			row = append(row, map[trace.Line]string{{}: dead, {After: true}: begins, {Before: true, After: true}: lives, {Before: true}: ends}[l])
		}
		got = append(got, row)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTimelineMarks(t *testing.T) {
	t.Parallel()
	type marks struct {
		Fault, Again, Waits bool
		Arrow               trace.Arrow
	}
	for _, tc := range []struct {
		name string
		step verdict.Step
		want marks
	}{
		{"Delivery", step("A", trace.Deliver, "A receives payments/0 offset 0."), marks{Arrow: trace.FromMiddle}},
		{"Redelivery", step("A", trace.Deliver, "A receives payments/0 offset 0 again (delivery 2)."), marks{Again: true, Arrow: trace.FromMiddle}},
		{"Call", step("A", trace.SQL, "INSERT again"), marks{Arrow: trace.ToMiddle}},
		{"LockWait", step("A", trace.SQL, "BEGIN IMMEDIATE → SQLITE_BUSY"), marks{Waits: true, Arrow: trace.ToMiddle}},
		{"WaitForALock", step("A", trace.Wait, "INSERT → waits"), marks{Waits: true, Arrow: trace.ToMiddle}},
		{"Redis", step("A", trace.Redis, "GET k"), marks{Arrow: trace.ToMiddle}},
		{"OffsetCommit", step("A", trace.CommitOffset, ""), marks{Arrow: trace.ToMiddle}},
		{"FaultOfAnInstance", step("A", trace.Fault, ""), marks{Fault: true, Arrow: trace.ToMiddle}},
		{"FaultOfTheProducer", step("", trace.Fault, ""), marks{Fault: true}},
		{"Crash", step("A", trace.Crash, ""), marks{Fault: true}},
		{"Limit", step("A", trace.Limit, ""), marks{Fault: true}},
		{"Return", step("A", trace.Return, ""), marks{}},
		{"Check", step("", trace.Check, ""), marks{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := trace.NewTimeline([]verdict.Step{tc.step}).Rows[0]
			if diff := cmp.Diff(tc.want, marks{r.Fault, r.Again, r.Waits, r.Arrow}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// delivered is a record that is handled and committed: 8 steps, of which one
// changes a row.
func delivered(lane, again string) []verdict.Step {
	write := step(lane, trace.SQL, "INSERT INTO charges")
	write.Rows = []string{"+charges(1)"}
	return []verdict.Step{
		step(lane, trace.Deliver, lane+" receives payments/0 offset 0"+again), step(lane, trace.SQL, "BEGIN"),
		step(lane, trace.SQL, "SELECT 1"), step(lane, trace.SQL, "select 2"), write, step(lane, trace.SQL, "commit"),
		step(lane, trace.Return, "Handle returns nil."), step(lane, trace.CommitOffset, "Commits offset 1."),
	}
}

// blocks writes what is shown: the number of steps in each block.
func blocks(steps []verdict.Step) string {
	tl := trace.NewTimeline(steps)
	var sizes []string
	for _, b := range tl.Blocks() {
		if b.Folded {
			sizes = append(sizes, fmt.Sprintf("[%d]", len(b.Rows)))
			continue
		}
		sizes = append(sizes, "1")
	}
	return strings.Join(sizes, " ")
}

func concat(lists ...[]verdict.Step) (all []verdict.Step) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func TestTimelineFolds(t *testing.T) {
	t.Parallel()
	decisive := delivered("A", "")
	decisive[2].Decisive = true
	busy := delivered("A", "")
	busy[2].Text = "SELECT 1 → SQLITE_BUSY"
	rolledBack := delivered("A", "")
	rolledBack[5], rolledBack[4].Rows = step("A", trace.SQL, "ROLLBACK"), nil
	many := concat(delivered("A", ""), delivered("A", " again"), delivered("A", " again"), delivered("A", " again"))
	faults := make([]verdict.Step, 20)
	for i := range faults {
		faults[i] = step("A", trace.Fault, "")
	}
	for _, tc := range []struct {
		name  string
		steps []verdict.Step
		want  string
	}{
		{"ShortStoryNothing", delivered("A", ""), "1 1 1 1 1 1 1 1"},
		{"WhatChangesNothing", concat(delivered("A", ""), delivered("A", " again")), "1 [3] 1 1 1 1 1 [3] 1 1 1 1"},
		{"NotTheDecisive", concat(decisive, delivered("A", " again")), "[2] 1 1 1 [3] 1 [3] 1 [3]"},
		{"NotALockWait", concat(busy, delivered("A", " again")), "[2] 1 1 1 [3] 1 [3] 1 [3]"},
		{"ARollbackWithoutEffect", concat(rolledBack, delivered("A", " again")), "1 [6] 1 1 [3] 1 1 1 1"},
		{"TheOrdinaryToo", many, "[4] 1 [3] 1 [3] 1 [3] 1 [3] 1 [3] 1 [3] 1 [3]"},
		{"NeverAFault", faults, strings.TrimSpace(strings.Repeat("1 ", 20))},
		{
			"NoRunOfTwoInstances", concat(delivered("A", "")[:3], delivered("B", "")[:4], delivered("A", "")[4:], delivered("B", "")[4:]),
			"[2] 1 [3] 1 1 [3] 1 [3]",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := blocks(tc.steps); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// What an instance saw before the other one went on is the first half of a
// check-then-act story.
func TestTimelineShowsTheLastLook(t *testing.T) {
	t.Parallel()
	steps := concat(delivered("A", "")[:4], delivered("B", ""), delivered("A", "")[4:])
	tl := trace.NewTimeline(steps)
	if r := tl.Rows[3]; r.Step.Text != "select 2" || r.Fold != 0 {
		t.Errorf("step 4 is %q, fold %d", r.Step.Text, r.Fold)
	}
	if r := tl.Rows[1]; r.Fold == 0 {
		t.Errorf("%q is not folded", r.Step.Text)
	}
}

func TestMermaid(t *testing.T) {
	t.Parallel()
	write := step("A", trace.SQL, `INSERT INTO t VALUES ('a;b#c', "<x>", '%%{init: {}}%%', $1);`)
	write.File, write.Line, write.Rows = "handler.go", 31, []string{"+t(1, 'a;b')"}
	lost := step("A", trace.Fault, "COMMIT\n→ error")
	got := trace.Mermaid([]verdict.Step{
		step("A", trace.Deliver, "A receives it."), write, lost, step("A", trace.Crash, "A dies."), step("A2", trace.Restart, "A new process."), step("A", trace.SQL, "wrap: SELECT"), step("", trace.Check, "Twice."),
	})
	want := `sequenceDiagram
    participant lane0 as Instance A
    participant lane1 as Kafka and database
    lane1->>lane0: A receives it.
    lane0->>lane1: INSERT INTO t VALUES ('a#59;b#35;c', #34;#60;x#62;#34;, '#37;#37;#123;init: #123;#125;#125;#37;#37;', #36;1)#59; (handler.go:31)
    Note over lane1: +t(1, 'a#59;b')
    lane0-xlane1: COMMIT → error
    Note over lane0: A dies.
    Note over lane0: A2: A new process.
    lane0->>lane1: wrap#58; SELECT
    Note over lane1: Twice.
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	steps := concat(delivered("A", ""), delivered("A", " again"))
	b, err := trace.JSON(steps)
	if err != nil {
		t.Fatal(err)
	}
	var back trace.Timeline
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(trace.NewTimeline(steps), back); diff != "" {
		t.Errorf("it does not come back (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(b), `"fold": 2`) || !strings.Contains(string(b), `"arrow": "to-middle"`) {
		t.Errorf("got %s", b)
	}
}
