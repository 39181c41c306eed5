package ledger_test

import (
	"database/sql/driver"
	"errors"
	"testing"

	"modernc.org/sqlite"

	"redeliver/grader/ledger"
	"redeliver/grader/ledger/readcommitted"
)

// Whatever two instances say to the model, it answers, lets them wait or says that
// it cannot tell: it never fails itself, and it can be put back to its start.
func FuzzModel(f *testing.F) {
	for _, s := range [][2]string{
		{"INSERT INTO processed_events VALUES ('e', 'now')", "INSERT OR REPLACE INTO processed_events VALUES ('e', 'later')"},
		{"UPDATE accounts SET balance = (SELECT 1) WHERE id = 'acc-1' RETURNING *", "DELETE FROM accounts"},
		{"SELECT * FROM accounts WHERE id = 'acc-1' FOR UPDATE", "UPDATE accounts SET id = id || 'x'"},
		{"INSERT INTO charges (payment_id, amount) SELECT id, balance FROM accounts", "REPLACE INTO charges VALUES (1, 'p', 2)"},
		{"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9) INSERT INTO charges SELECT i, i, i FROM n", "BEGIN IMMEDIATE; COMMIT"},
		{"INSERT INTO accounts VALUES ('a', 1) ON CONFLICT (id) DO UPDATE SET balance = excluded.balance", "/* \" */ SAVEPOINT [a"},
	} {
		f.Add(s[0], s[1])
	}
	l := setupModel(f, ledger.Schema{SQL: schema})
	f.Fuzz(func(t *testing.T, first, second string) {
		must(t, l.Reset(1))
		a, b := modelConn(t, l, "A"), modelConn(t, l, "B")
		must(t, a.Begin(t.Context(), driver.TxOptions{}))
		for _, call := range []struct {
			conn ledger.Conn
			sql  string
		}{{a, first}, {b, second}, {a, second}, {b, first}, {a, "COMMIT"}, {b, second}} {
			_, err := call.conn.Exec(t.Context(), call.sql, nil)
			isAnswer(t, call.sql, err)
			_, err = call.conn.Query(t.Context(), call.sql, nil)
			isAnswer(t, call.sql, err)
		}
		must(t, l.Kill("A"))
		must(t, l.Kill("B"))
		if _, err := l.State(t.Context()); err != nil {
			t.Error(err)
		}
		must(t, l.Reset(1))
		if rows, err := l.Query(t.Context(), "SELECT balance FROM accounts"); err != nil || len(rows.Rows) != 1 || rows.Rows[0][0] != int64(50000) {
			t.Errorf("the start is %v, %v", rows.Rows, err)
		}
	})
}

// isAnswer checks that an error is the database's, or one of those that stand for
// no answer.
func isAnswer(t *testing.T, sql string, err error) {
	t.Helper()
	var (
		theirs  *sqlite.Error
		own     *readcommitted.Error
		waiting *readcommitted.Waiting
		outside *readcommitted.Outside
		limit   *ledger.LimitError
		broken  *readcommitted.BrokenError
	)
	if errors.As(err, &broken) {
		t.Fatalf("%q: %v", sql, err)
	}
	if err != nil && !errors.As(err, &theirs) && !errors.As(err, &own) && !errors.As(err, &waiting) && !errors.As(err, &outside) && !errors.As(err, &limit) {
		t.Fatalf("%q: %T %v", sql, err, err)
	}
}
