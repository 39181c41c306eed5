package packcheck_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/build"
	"redeliver/grader/packcheck"
	"redeliver/grader/verdict"
)

// compiler is shared with other tests through the user's cache.
var compiler *build.Compiler

func TestMain(m *testing.M) {
	flag.Parse()
	cache, err := os.UserCacheDir()
	if err == nil {
		compiler = build.New(build.Config{Dir: filepath.Join(cache, "redeliver-test")})
		err = compiler.Prepare(context.Background(), nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare the compiler:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func example(t *testing.T) *exercises.Pack {
	t.Helper()
	pack, problems := exercises.Load(exercises.Example(), ".")
	if pack == nil {
		t.Fatal(problems)
	}
	return pack
}

// What was judged is judged again only where the pack has changed.
func TestCompare(t *testing.T) {
	t.Parallel()
	judge, err := grader.New(grader.Config{Dir: t.TempDir(), Workers: 2}, compiler)
	if err != nil {
		t.Fatal(err)
	}
	before, after := example(t), example(t)
	e := after.Exercises[0]
	e.Version = "0.2.0"
	e.Invariants = slices.DeleteFunc(e.Invariants, func(inv exercises.Invariant) bool { return inv.Kind == "misordered" })
	stored := func(id int64, kind, name string, outcome verdict.Outcome, kinds ...verdict.Kind) packcheck.Submission {
		s := packcheck.Submission{ID: id, Exercise: "example/grant-once", Seed: 1, Verdict: verdict.Verdict{Outcome: outcome, Engine: "0", ExerciseVersion: "0.1.0"}}
		samples := before.Exercises[0].Wrong
		if kind == "solutions" {
			samples = before.Exercises[0].Solutions
		}
		s.Files = samples[slices.IndexFunc(samples, func(s exercises.Sample) bool { return s.Name == name })].Files
		for _, k := range kinds {
			s.Verdict.Findings = append(s.Verdict.Findings, verdict.Finding{Kind: k})
		}
		return s
	}
	all := func(yield func(packcheck.Submission, error) bool) {
		for _, s := range []packcheck.Submission{
			stored(1, "solutions", "grant-id", verdict.Passed),
			stored(2, "wrong", "add-then-take-back", verdict.Failed, verdict.Duplicate, verdict.Misordered),
			{ID: 3, Exercise: "core/charge-once"},
			stored(4, "wrong", "add-then-take-back", verdict.Failed, verdict.Duplicate, verdict.Misordered),
			stored(5, "wrong", "offset-as-key", verdict.Passed), // an older engine let it through
		} {
			if !yield(s, nil) {
				return
			}
		}
	}
	d, err := packcheck.Compare(t.Context(), judge, before, after, all)
	if err != nil {
		t.Fatal(err)
	}
	if d.Judged != 4 || d.Same != 1 || len(d.Changes) != 2 {
		t.Fatalf("%d judged, %d stay, changes: %v", d.Judged, d.Same, d.Changes)
	}
	pack, engine := d.Changes[0], d.Changes[1]
	if diff := cmp.Diff([]int64{2, 4}, pack.Submissions); diff != "" {
		t.Errorf("copies are graded once (-want +got):\n%s", diff)
	}
	for _, tc := range []struct {
		change packcheck.Change
		want   []string
	}{
		{pack, []string{"submission 2, 4: failed → failed; no longer misordered", `Version 0.1.0 → 0.2.0: drops the invariant "no balance goes down".`}},
		{engine, []string{"submission 5: passed → failed; now also duplicate", "Not because of the new pack", "judged by engine 0"}},
	} {
		for _, want := range tc.want {
			if !strings.Contains(tc.change.String(), want) {
				t.Errorf("%q does not stand in:\n%s", want, tc.change)
			}
		}
	}
	same, err := packcheck.Compare(t.Context(), judge, before, before, all)
	if err != nil || same.Judged != 0 {
		t.Errorf("an unchanged pack: %+v, err %v", same, err)
	}
}
