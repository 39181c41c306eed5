package grader_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/verdict"
)

// A balance may never rise: what a transaction does in between is nobody's
// business, what it commits is.
func TestHistory(t *testing.T) {
	t.Parallel()
	e := *chargeOnce(t)
	e.Phases = []string{"happy-path"}
	e.Histories = []exercises.History{{Name: "balances", Table: "accounts", Columns: []string{"id", "balance"}}}
	e.Invariants = []exercises.Invariant{{
		Name: "no balance rises", Kind: "misordered", Object: "account",
		SQL: `SELECT h.id AS object, h.at, h.balance - before.balance AS rise FROM balances h
			JOIN balances before ON before.id = h.id AND before.at = h.at - 1 AND before.balance < h.balance ORDER BY h.at LIMIT 1`,
		Message: map[string]string{"en": "Commit {at} raised the balance by {rise}."},
	}}
	g := newGrader(t, 1)
	for _, tc := range []struct {
		name, body string
		want       []string
	}{
		{"InsideATransaction", `tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance + 7"); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance - 8"); err != nil {
		return err
	}
	return tx.Commit()`, nil},
		{"BetweenTwoCommits", `if _, err := db.ExecContext(ctx, "UPDATE accounts SET balance = balance - 8"); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "UPDATE accounts SET balance = balance + 7")
	return err`, []string{"Commit 2 raised the balance by 7."}},
		{"Unseen", `_, err := db.ExecContext(ctx, "DELETE FROM balances")
	if err == nil {
		panic("the history is in the submission's database")
	}
	return nil`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			source := "package handler\n\nimport (\n\t\"context\"\n\t\"database/sql\"\n\n\t\"github.com/twmb/franz-go/pkg/kgo\"\n)\n\n" +
				"func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {\n\t" + tc.body + "\n}\n"
			v := grade(t, g, grader.Request{Exercise: &e, Files: []exercises.File{{Name: "handler.go", Content: []byte(source)}}})
			var got []string
			for _, f := range v.Findings {
				got = append(got, f.Message)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if (v.Outcome == verdict.Passed) != (tc.want == nil) {
				t.Errorf("outcome %s: %s", v.Outcome, v.Summary)
			}
		})
	}
}
