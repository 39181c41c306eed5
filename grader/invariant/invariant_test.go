package invariant_test

import (
	"database/sql/driver"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
	"redeliver/grader/invariant"
	"redeliver/grader/ledger"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	l, err := ledger.Open(t.Context(), t.TempDir(), ledger.Limits{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	// A table of the submission's that is called like one of the harness.
	schema := `CREATE TABLE charges (payment_id TEXT, amount INTEGER); CREATE TABLE sent (x);
		INSERT INTO charges VALUES ('p-1', 1), ('p-1', 2), ('p-{times}', 3)`
	if err := l.Prepare(t.Context(), ledger.Schema{SQL: schema}, nil); err != nil {
		t.Fatal(err)
	}
	facts := invariant.Facts{
		Sent:      []invariant.Sent{{EventID: "e1", Topic: "payments", Offset: 4, Copies: 2}},
		Delivered: []invariant.Delivered{{EventID: "e1", Attempt: 1, Instance: "A"}, {EventID: "e1", Attempt: 2, Instance: "A2"}},
		Expected: invariant.Table{
			Columns: []string{"event_id", "payment_id"},
			Rows:    [][]driver.Value{{"e1", "p-1"}, {"e2", "p-2"}},
		},
	}
	invariants := []exercises.Invariant{
		{
			Name: "twice", Kind: "duplicate", SQL: "SELECT payment_id AS object, count(*) AS times FROM charges GROUP BY 1 HAVING times > 1",
			Message: map[string]string{"en": "{object}: {times} times", "de": "{times}-mal {object}"},
		},
		{
			Name: "lost", Kind: "lost", SQL: "SELECT payment_id AS object FROM expected WHERE payment_id NOT IN (SELECT payment_id FROM charges)",
			Message: map[string]string{"en": "{object} is missing"},
		},
		{
			Name: "joined", Kind: "duplicate",
			SQL:     `SELECT s.event_id AS object, s."offset" AS at, count(*) AS n FROM sent s JOIN delivered USING (event_id) GROUP BY 1`,
			Message: map[string]string{"en": "{object} at {at}: {n} {unknown}"},
		},
		{Name: "template", Kind: "duplicate", SQL: "SELECT payment_id AS object, 7 AS times FROM charges WHERE amount = 3", Message: map[string]string{"en": "{object}"}},
		{Name: "fine", Kind: "lost", SQL: "SELECT 1 AS object WHERE 0"},
	}
	got, err := invariant.Check(t.Context(), l, facts, invariants)
	if err != nil {
		t.Fatal(err)
	}
	want := []invariant.Violation{
		{
			Invariant: "twice", Kind: "duplicate", Object: "p-1", Values: map[string]string{"object": "p-1", "times": "2"},
			Message: map[string]string{"en": "p-1: 2 times", "de": "2-mal p-1"},
		},
		{Invariant: "lost", Kind: "lost", Object: "p-2", Values: map[string]string{"object": "p-2"}, Message: map[string]string{"en": "p-2 is missing"}},
		{
			Invariant: "joined", Kind: "duplicate", Object: "e1", Values: map[string]string{"object": "e1", "at": "4", "n": "2"},
			Message: map[string]string{"en": "e1 at 4: 2 {unknown}"},
		},
		{ // what a row says is never taken for a template
			Invariant: "template", Kind: "duplicate", Object: "p-{times}", Values: map[string]string{"object": "p-{times}", "times": "7"},
			Message: map[string]string{"en": "p-{times}"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := invariant.Check(t.Context(), l, facts, []exercises.Invariant{{Name: "bad", SQL: "SELEC"}}); err == nil {
		t.Error("a malformed invariant was accepted")
	}
}
