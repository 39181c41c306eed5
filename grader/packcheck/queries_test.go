package packcheck_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/packcheck"
	"redeliver/grader/verdict"
)

// noJudge is for exercises that must not get as far as being graded.
type noJudge struct{}

func (noJudge) Grade(context.Context, grader.Request) (verdict.Verdict, error) {
	return verdict.Verdict{}, errors.New("a sample was graded although the exercise is broken")
}

// What is wrong with an exercise's SQL is told with its place, before anything is
// graded.
func TestBrokenQueries(t *testing.T) {
	t.Parallel()
	const lost = "SELECT payment_id AS object FROM expected"
	for _, tc := range []struct {
		name   string
		change func(e *exercises.Exercise)
		want   string
	}{
		{"Syntax", func(e *exercises.Exercise) { e.Invariants[0].SQL = "SELECT object FORM charges" }, `core/charge-once/exercise.yaml:23:10: The query of "no payment is charged twice" does not work: SQL logic error: near "charges"`},
		{"UnknownTable", func(e *exercises.Exercise) { e.Invariants[0].SQL = "SELECT id AS object FROM nowhere" }, "no such table: nowhere"},
		{"Deletes", func(e *exercises.Exercise) {
			e.Invariants[0].SQL = "WITH x AS (SELECT 1) DELETE FROM charges RETURNING 1 AS object"
		}, "A query may only read."},
		{"ReadsFiles", func(e *exercises.Exercise) { e.Invariants[0].SQL = "SELECT 1 AS object; ATTACH '/tmp/x.db' AS x" }, "A query may only read."},
		{"NoObject", func(e *exercises.Exercise) {
			e.Invariants[0].SQL = "SELECT payment_id AS thing, 2 AS times FROM expected -- object"
		}, "has no column called object"},
		{"UnknownPlaceholder", func(e *exercises.Exercise) {
			e.Invariants[0].SQL, e.Invariants[0].Message = lost, map[string]string{"en": "{object} {tines}"}
		}, `The message in en of "no payment is charged twice" names {tines}; the query has the columns object.`},
		{"Schema", func(e *exercises.Exercise) { e.Schema = "CREATE TABEL charges (id)" }, "schema.sql: "},
		{"Setup", func(e *exercises.Exercise) { e.Events.SetupSQL = []string{"ATTACH '/tmp/x.db' AS x"} }, "reach files outside"},
		{"History", func(e *exercises.Exercise) {
			e.Histories = []exercises.History{{Name: "kept", Table: "charges", Columns: []string{"colour"}}}
		}, "The history kept cannot be kept: SQL logic error: no such column"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			pack, problems := exercises.Load(exercises.Builtin(), "core")
			if pack == nil {
				t.Fatal(problems)
			}
			tc.change(pack.Exercises[0])
			r, err := packcheck.Check(t.Context(), packcheck.Config{Judge: noJudge{}, Dir: t.TempDir(), Exercise: "charge-once"}, "", pack)
			if err != nil {
				t.Fatal(err)
			}
			got := r.Problems()
			if r.Passed || len(got) != 1 || !strings.Contains(got[0], tc.want) {
				t.Errorf("%s", cmp.Diff([]string{tc.want}, got))
			}
		})
	}
}
