package grader_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

// TestStories compares what a reader is told about wrong handlers with
// testdata/stories. After a change, run it with -update and read every sentence
// as somebody who sees nothing else.
func TestStories(t *testing.T) {
	t.Parallel()
	g := newGrader(t, 1)
	catalog := exercises.Open(exercises.Builtin(), nil)
	power := map[string]powerHandler{}
	for _, h := range powerHandlers(t) {
		power[strings.Replace(h.name, "/wrong/", "/power/", 1)] = h
	}
	for _, name := range []string{
		"charge-once/starter",
		"charge-once/wrong/account-as-key",
		"charge-once/wrong/commit-forgotten",
		"charge-once/wrong/debit-before-transaction",
		"charge-once/wrong/error-for-a-copy",
		"charge-once/wrong/insert-or-replace",
		"charge-once/wrong/marker-after-commit",
		"charge-once/wrong/marker-committed-first",
		"charge-once/wrong/marker-in-a-goroutine",
		"charge-once/wrong/no-transaction",
		"charge-once/wrong/panic-for-a-copy",
		"charge-once/wrong/rows-affected-ignored",
		"charge-once/wrong/seen-in-memory",
		"charge-once/wrong/two-transactions",
		"charge-once/power/balance-cached",
		"charge-once/power/balance-read-outside",
		"charge-once/power/busy-means-taken",
		"charge-once/power/commit-error-refunded",
		"charge-once/power/compensation-not-atomic",
		"charge-once/power/forgets-after-a-day",
		"charge-once/power/m-debit-error-dropped",
		"ambiguous-commit/wrong/noted-before-commit",
		"check-then-insert/starter",
		"check-then-insert/wrong/conflict-ignored",
		"check-then-insert/wrong/every-error-is-a-copy",
		"check-then-insert/wrong/lock-row",
		"check-then-insert/wrong/transaction-without-key",
		"check-then-insert/wrong/violation-for-ever",
		"forgotten-keys/wrong/deleted-when-done",
		"offset-is-not-a-key/starter",
		"offset-is-not-a-key/wrong/high-watermark",
		"offset-is-not-a-key/wrong/last-payment-only",
		"offset-is-not-a-key/wrong/offset-only",
		"redis-gap/wrong/incr-first",
		"state-not-increment/wrong/check-then-write",
		"state-not-increment/wrong/replaced-in-a-transaction",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts := strings.SplitN(name, "/", 2)
			e, ok := catalog.Exercise("core/" + parts[0])
			if !ok {
				t.Fatal(catalog.Problems())
			}
			files := e.Starter
			if h, ok := power[name]; ok {
				files = h.files
			} else if wrong, ok := strings.CutPrefix(parts[1], "wrong/"); ok {
				files = sampleFiles(t, e.Wrong, wrong)
			}
			got := story(t, gradeOnce(t, g, e, files))
			golden(t, filepath.Join("testdata", "stories", strings.ReplaceAll(name, "/", "_")+".txt"), got)
		})
	}
}

func sampleFiles(t *testing.T, samples []exercises.Sample, name string) []exercises.File {
	t.Helper()
	for _, s := range samples {
		if s.Name == name {
			return s.Files
		}
	}
	t.Fatalf("there is no handler %s", name)
	return nil
}

// story is what a verdict tells, with the schedules that it shows in words.
func story(t *testing.T, v verdict.Verdict) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", v.Outcome, v.Summary)
	for i, f := range v.Findings {
		fmt.Fprintf(&b, "\n%d. %s %s, %s: %s\n", i+1, f.Kind, f.Invariant, f.Phase, choices(t, f.Schedule))
		fmt.Fprintf(&b, "%s\n%s\n", f.Message, f.Explanation)
		for _, s := range f.Trace {
			if s.Decisive {
				fmt.Fprintf(&b, "> %d %s %s [%s:%d] %s\n", s.Step, s.Lane, s.Text, s.File, s.Line, strings.Join(s.Rows, "; "))
			}
		}
		fmt.Fprintf(&b, "passes (%s) when %s\n", choices(t, f.PassingTwin), f.PassesWhen)
	}
	return b.String()
}

// choices reads the schedule in a token.
func choices(t *testing.T, token string) string {
	t.Helper()
	if token == "" {
		return "none"
	}
	tok, err := schedule.ParseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	return tok.Schedule.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
