//go:build synctests && !realtime

package grader_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/verdict"
)

// clientsPack is a pack of exercises whose submissions make their Kafka clients
// themselves.
func clientsPack(t testing.TB) *exercises.Pack {
	t.Helper()
	pack, problems := exercises.LoadDirectory("testdata/clients")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return pack
}

// What is right passes, and what is wrong fails by what expect.yaml names.
func TestClients(t *testing.T) {
	t.Parallel()
	for _, e := range clientsPack(t).Exercises {
		for _, s := range e.Solutions {
			t.Run(e.Slug+"/"+s.Name, func(t *testing.T) {
				v := grade(t, newGrader(t, 0), grader.Request{Exercise: e, Files: s.Files})
				if v.Outcome != verdict.Passed {
					t.Errorf("%s: %s\n%s", v.Outcome, v.Summary, shortStory(v))
				}
				t.Logf("%d schedules, %d ms, %v", v.Schedules, v.Timings.Total, v.Timings)
			})
		}
		for _, s := range e.Wrong {
			t.Run(e.Slug+"/"+s.Name, func(t *testing.T) {
				v := grade(t, newGrader(t, 0), grader.Request{Exercise: e, Files: s.Files})
				kinds := map[verdict.Kind]bool{}
				for _, f := range v.Findings {
					kinds[f.Kind] = true
				}
				for _, kind := range e.Expect[s.Name].Kinds {
					if !kinds[verdict.Kind(kind)] {
						t.Errorf("no finding of kind %s: %s: %s", kind, v.Outcome, v.Summary)
					}
				}
				t.Logf("%d schedules, %d ms: %s\n%s", v.Schedules, v.Timings.Total, v.Summary, shortStory(v))
			})
		}
	}
}

// A finding about a lost record says what let the group's offset go past it.
func TestClientsAreExplained(t *testing.T) {
	t.Parallel()
	e, ok := exercises.Open(exercises.Builtin(), nil).Exercise("core/commit-order")
	if !ok {
		t.Fatal("no exercise core/commit-order")
	}
	for _, tc := range []struct{ wrong, want string }{
		{"commit-all-in-the-loop", "its offset was committed before the work was done; then A died after the offset commit (handler.go:42)"},
		{"greedy-auto-commit", "its offset was committed before the work was done; then A died before its first call"},
		{"errors-are-skipped", "answered an error, and its offset was committed all the same"},
		{"no-event-id", "Run returned an error, so the batch came again"},
	} {
		i := slices.IndexFunc(e.Wrong, func(s exercises.Sample) bool { return s.Name == tc.wrong })
		if v := grade(t, newGrader(t, 0), grader.Request{Exercise: e, Files: e.Wrong[i].Files}); !strings.Contains(v.Summary, tc.want) {
			t.Errorf("%s: %q is not in %q", tc.wrong, tc.want, v.Summary)
		}
	}
}

// shortStory is the trace of a verdict's first finding.
func shortStory(v verdict.Verdict) string {
	var b strings.Builder
	for _, f := range v.Findings[:min(1, len(v.Findings))] {
		b.WriteString(f.Phase + " " + f.Schedule + "\n")
		for _, s := range f.Trace {
			b.WriteString(s.Lane + " " + s.Event + " " + s.Text + "\n")
		}
	}
	return b.String()
}

// program is a submission whose Run has this body after it has made the client cl.
func program(body string) []exercises.File {
	return []exercises.File{{Name: "handler.go", Content: []byte(`package handler

import (
	"context"
	"database/sql"

	"github.com/twmb/franz-go/pkg/kgo"
)

func Run(ctx context.Context, kafka []kgo.Opt, db *sql.DB) error {
	cl, err := kgo.NewClient(append(kafka, kgo.ConsumerGroup("g"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll())...)
	if err != nil {
		return err
	}
	_ = cl
` + body + `
}
`)}}
}

// A submission that would never come to an end is stopped with a sentence.
func TestClientsAreStopped(t *testing.T) {
	t.Parallel()
	pack := clientsPack(t)
	for name, c := range map[string]struct {
		body, want string
		kind       verdict.Kind
	}{
		"NeverPolls":   {"<-ctx.Done()\n\treturn nil", "without a call of the Kafka client", verdict.Stuck},
		"NeverCommits": {"defer cl.CloseAllowingRebalance()\n\tfor ctx.Err() == nil {\n\t\tcl.PollFetches(ctx)\n\t\tcl.AllowRebalance()\n\t}\n\treturn nil", "nothing of orders/0 is", verdict.Stuck},
		"HotPollLoop":  {"for ctx.Err() == nil {\n\t\tcl.PollRecords(nil, 1)\n\t}\n\treturn nil", "made more than 3000 calls", verdict.Timeout},
		"NeverReturns": {"for {\n\t\tfs := cl.PollFetches(context.Background())\n\t\tcl.CommitRecords(context.Background(), fs.Records()...)\n\t\tcl.AllowRebalance()\n\t}", "Run did not return", verdict.Timeout},
		"CloseWithoutAllowingRebalance": { // as franz-go documents it, it waits for ever
			"cl.PollFetches(ctx)\n\tcl.Close()\n\treturn nil", "in Close", verdict.Timeout},
		"Clients":  {"for range 1000 {\n\t\tif _, err := kgo.NewClient(kafka...); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n\treturn nil", "Kafka clients open at once", verdict.Timeout},
		"Reopened": {"cl.Close()\n\tfor range 1000 {\n\t\tc, err := kgo.NewClient(kafka...)\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\tc.Close()\n\t}\n\treturn nil", "one Kafka client after the other", verdict.Timeout},
		"Records":  {"for range 1_000_000 {\n\t\tif err := cl.ProduceSync(ctx, &kgo.Record{Topic: \"invoices\"}).FirstErr(); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n\treturn nil", "far more records", verdict.Timeout},
		"Bytes":    {"for range 120 {\n\t\tif err := cl.ProduceSync(ctx, &kgo.Record{Topic: \"invoices\", Value: make([]byte, 900_000)}).FirstErr(); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n\treturn nil", "far more bytes", verdict.Timeout},
		"Returns":  {"cl.Close()\n\treturn nil", "Run returned 5 times", verdict.Stuck},
		"Panics":   {"panic(\"boom\")", "boom", verdict.Crash},
	} {
		t.Run(name, func(t *testing.T) {
			v := grade(t, newGrader(t, 0), grader.Request{Exercise: pack.Exercises[1], Files: program(c.body)})
			if len(v.Findings) == 0 || v.Findings[0].Kind != c.kind || !strings.Contains(v.Findings[0].Message, c.want) {
				t.Errorf("%s: %s\n%+v\n%s", v.Outcome, v.Summary, v.Findings, shortStory(v))
			}
		})
	}
}

// What other programs do while a poll with a time-out waits, and what one may count on
// afterwards, holds in the sandbox, too.
func TestTimedPolls(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"commit-order/right/polls-with-a-time-out", // its context has ended; an instance that stands still goes on meanwhile
		"commit-order/right/paused-while-at-work",  // other goroutines run
	} {
		gradesRight(t, name)
	}
}

// A callback of a rebalance may use the database.
func TestCallsInCallbacks(t *testing.T) {
	t.Parallel()
	gradesRight(t, "zombie/right/fencing-token")
}

// A process that stands still with a lock goes on before the caller has lost patience.
func TestPublisherStandsStillWithALock(t *testing.T) {
	t.Parallel()
	gradesRight(t, "stable-event-id/right/kept-in-a-transaction")
}

// A mark that a whole batch may have left is told without a delivery at hand.
func TestMarkOfABatchIsExplained(t *testing.T) {
	t.Parallel()
	h := powerProgram(t, "commit-order/wrong/position-first")
	h.judge(t, gradeOnce(t, newGrader(t, 1), h.exercise, h.files))
}

func gradesRight(t *testing.T, name string) {
	t.Helper()
	h := powerProgram(t, name)
	v := gradeOnce(t, newGrader(t, 1), h.exercise, h.files)
	if v.Outcome != verdict.Passed {
		t.Errorf("%s: %s: %s\n%s", name, v.Outcome, v.Summary, shortStory(v))
	}
}

// powerProgram is a program of the power set.
func powerProgram(t *testing.T, name string) powerHandler {
	t.Helper()
	all := powerHandlers(t)
	i := slices.IndexFunc(all, func(h powerHandler) bool { return h.name == name })
	if i < 0 {
		t.Fatalf("there is no program %s", name)
	}
	return all[i]
}

// A service computes for as long as it runs, and that counts too.
func TestComputingOfClients(t *testing.T) {
	t.Parallel()
	e := clientsPack(t).Exercises[0]
	i := slices.IndexFunc(e.Solutions, func(s exercises.Sample) bool { return s.Name == "commit-after" })
	files := changed(t, e.Solutions[i].Files, "\n\tvar eventID string", `
	for i := range 2_000_000 {
		p.Amount += int64(i % 2)
	}
	p.Amount -= 1_000_000
	var eventID string`)
	g := newGraderWith(t, grader.Config{Workers: 2, Computing: time.Second})
	v := grade(t, g, grader.Request{Exercise: e, Files: files})
	if v.Outcome != verdict.Failed || v.Summary != computedSeconds(1) || !slices.Equal(kinds(v), []string{"timeout"}) {
		t.Errorf("%s: %s, %v", v.Outcome, v.Summary, kinds(v))
	}
}
