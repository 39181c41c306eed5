package grader_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/sandbox"
	"redeliver/grader/verdict"
)

// computedSeconds is the sentence of the limit for all schedules.
func computedSeconds(n int) string {
	return fmt.Sprintf("The schedules of this submission computed for more than %d s together.", n)
}

// What a submission computes counts wherever it does: here in the package
// initialisation, which every process has. testdata/hostile has the handler and
// its statements.
func TestComputingOfInitialisations(t *testing.T) {
	t.Parallel()
	e := chargeOnce(t)
	files := changed(t, solution(t, e), "\ntype Payment", `
var waste = func() (n uint32) {
	for i := range uint32(20_000_000) {
		n ^= i * n
	}
	return n
}()

type Payment`)
	g := newGraderWith(t, grader.Config{Workers: 2, Computing: 2 * time.Second, Sandbox: sandbox.Options{InitTime: time.Minute}})
	v := grade(t, g, grader.Request{Exercise: e, Files: files})
	if v.Outcome != verdict.Failed || v.Summary != computedSeconds(2) || !slices.Equal(kinds(v), []string{"timeout"}) {
		t.Errorf("%s: %s, %v", v.Outcome, v.Summary, kinds(v))
	}
}

// What schedules showed before the limit was met stays, and comes first: here a
// handler that never returns when a record comes again.
func TestComputingKeepsFindings(t *testing.T) {
	t.Parallel()
	e := chargeOnce(t)
	files := changed(t, e.Starter, "\n\ttx, err", `
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM charges").Scan(&n); err != nil {
		return err
	}
	for n > 0 {
	}
	tx, err`)
	g := newGraderWith(t, grader.Config{Workers: 2, Computing: 8 * time.Second, Sandbox: sandbox.Options{CallTime: 500 * time.Millisecond}})
	v := grade(t, g, grader.Request{Exercise: e, Files: files})
	last := v.Findings[len(v.Findings)-1]
	if v.Outcome != verdict.Failed || len(v.Findings) < 2 || !strings.Contains(v.Summary, "did not return within 0.5 s") || last.Message != computedSeconds(8) {
		t.Errorf("%s: %s\n%+v", v.Outcome, v.Summary, v.Findings)
	}
}

func changed(t *testing.T, files []exercises.File, old, with string) []exercises.File {
	t.Helper()
	text := string(files[0].Content)
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q stands %d times in\n%s", old, strings.Count(text, old), text)
	}
	return []exercises.File{{Name: files[0].Name, Content: []byte(strings.Replace(text, old, with, 1))}}
}
