//go:build !synctests || realtime

package grader_test

import (
	"strings"
	"testing"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/verdict"
)

// A server that cannot keep the submission's own clients in virtual time says so
// and judges nothing.
func TestClientsNeedTheBuildTag(t *testing.T) {
	t.Parallel()
	pack, problems := exercises.LoadDirectory("testdata/clients")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	e := pack.Exercises[0]
	v := grade(t, newGrader(t, 0), grader.Request{Exercise: e, Files: e.Solutions[0].Files})
	if v.Outcome != verdict.Inconclusive || !strings.Contains(v.Summary, "go build -tags synctests") {
		t.Errorf("%s: %s", v.Outcome, v.Summary)
	}
}
