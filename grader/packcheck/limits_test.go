package packcheck_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/packcheck"
	"redeliver/grader/verdict"
)

// callsJudge passes solutions, which make so many calls, and fails everything else.
// It notes with which limits it was asked.
type callsJudge struct {
	calls  map[string]int // by the name of a solution; without one it fails
	mu     sync.Mutex
	limits map[string][]int // by the role of what was graded
}

func (j *callsJudge) Grade(_ context.Context, req grader.Request) (verdict.Verdict, error) {
	i := slices.IndexFunc(req.Exercise.Solutions, func(s exercises.Sample) bool {
		return grader.SourceHash(s.Files) == grader.SourceHash(req.Files)
	})
	v, role := verdict.Verdict{Outcome: verdict.Failed}, "other"
	if i >= 0 {
		role = "solution"
		if n, ok := j.calls[req.Exercise.Solutions[i].Name]; ok {
			v = verdict.Verdict{Outcome: verdict.Passed, HostCalls: n}
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := req.Exercise.Limits.HostCalls; !slices.Contains(j.limits[role], n) {
		j.limits[role] = append(j.limits[role], n)
	}
	return v, nil
}

// A limit of calls that exercise.yaml leaves out is twice what solutions need.
func TestLimitOfCalls(t *testing.T) {
	t.Parallel()
	const few, many = "at least 100. Written by `redeliver pack check --update`.\nhost_calls: 100\n", "host_calls: 340\n"
	for _, tc := range []struct {
		name     string
		calls    map[string]int
		recorded string // limits.golden, without its comment
		update   bool
		want     string           // a problem; "": none about the limit
		written  string           // the end of limits.golden
		limits   map[string][]int // that the judge was asked with
	}{
		{
			"Fits",
			map[string]int{"grant-id": 4, "mark-in-the-transaction": 9},
			"host_calls: 100\n", false, "", "host_calls: 100\n",
			map[string][]int{"solution": {100}, "other": {100}},
		},
		{
			"Missing",
			map[string]int{"grant-id": 4, "mark-in-the-transaction": 9},
			"", false, "limits.host_calls is left out and limits.golden is missing", "",
			map[string][]int{"solution": {0}, "other": {0}},
		},
		{
			"TooLow",
			map[string]int{"grant-id": 170, "mark-in-the-transaction": 9},
			"host_calls: 200\n", false,
			"limits.golden allows 200 calls in one delivery; a solution makes 170, so it should be 340.", "host_calls: 200\n",
			map[string][]int{"solution": {200}, "other": {200}},
		},
		{
			"UnknownAsASolutionFails",
			map[string]int{"grant-id": 170},
			"host_calls: 200\n", false, "", "host_calls: 200\n",
			map[string][]int{"solution": {200}, "other": {200}},
		},
		{
			"WrittenFirst",
			map[string]int{"grant-id": 4, "mark-in-the-transaction": 9},
			"", true, "", few,
			map[string][]int{"solution": {10_000}, "other": {100}},
		},
		{
			"WrittenAnew",
			map[string]int{"grant-id": 170, "mark-in-the-transaction": 9},
			"host_calls: 200\n", true, "", many,
			map[string][]int{"solution": {10_000}, "other": {340}},
		},
		{
			"KeptAsASolutionFails",
			map[string]int{"grant-id": 170},
			"host_calls: 200\n", true, "", "host_calls: 200\n",
			map[string][]int{"solution": {10_000}, "other": {200}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "tea-house")
			if err := packcheck.New(dir, "tea-house"); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join(dir, "grant-once", exercises.LimitsFile)
			if err := os.WriteFile(golden, []byte(tc.recorded), 0o600); err != nil {
				t.Fatal(err)
			}
			if tc.recorded == "" {
				if err := os.Remove(golden); err != nil {
					t.Fatal(err)
				}
			}
			pack, problems := exercises.LoadDirectory(dir)
			if pack == nil {
				t.Fatal(problems)
			}
			judge := &callsJudge{calls: tc.calls, limits: map[string][]int{}}
			r, err := packcheck.Check(t.Context(), packcheck.Config{Judge: judge, Dir: t.TempDir(), Workers: 2, Update: tc.update}, dir, pack)
			if err != nil {
				t.Fatal(err)
			}
			said := slices.DeleteFunc(r.Problems(), func(p string) bool { return !strings.Contains(p, "limits.") })
			if (tc.want == "") != (len(said) == 0) || !strings.Contains(strings.Join(said, "\n"), tc.want) {
				t.Errorf("problems %q, want %q", said, tc.want)
			}
			written, err := os.ReadFile(golden)
			if (err == nil) != (tc.written != "") || !strings.HasSuffix(string(written), tc.written) {
				t.Errorf("limits.golden is %q (%v), want %q", written, err, tc.written)
			}
			if diff := cmp.Diff(tc.limits, judge.limits); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}
