package ledger_test

import (
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/ledger"
	"redeliver/grader/ledger/readcommitted"
)

func setupModel(t testing.TB, schema ledger.Schema) *ledger.Ledger {
	t.Helper()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l, err := ledger.OpenReadCommitted(t.Context(), ledger.Limits{Rows: 100}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	start := []ledger.Statement{{SQL: "INSERT INTO accounts VALUES (?, 50000)", Args: []driver.NamedValue{{Ordinal: 1, Value: "acc-1"}}}}
	for range 2 { // a second time leaves nothing of the first
		if err := l.Prepare(t.Context(), schema, start); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Reset(1); err != nil {
		t.Fatal(err)
	}
	return l
}

func modelConn(t testing.TB, l *ledger.Ledger, instance string) ledger.Conn {
	t.Helper()
	c, err := l.Conn(instance, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The second writer of a key waits; the death of the first lets it go on, and
// what both did is in the diffs, the access and the committed rows.
func TestModelWaits(t *testing.T) {
	t.Parallel()
	l := setupModel(t, ledger.Schema{SQL: schema})
	a, b := modelConn(t, l, "A"), modelConn(t, l, "B")
	must(t, a.Begin(t.Context(), driver.TxOptions{}))
	must(t, b.Begin(t.Context(), driver.TxOptions{}))
	const mark = "INSERT INTO processed_events VALUES ('e-1', datetime('now'))"
	res, err := a.Exec(t.Context(), mark, nil)
	must(t, err)
	if diff := cmp.Diff([]string{"+processed_events('e-1', '2026-01-02 03:04:05')"}, res.Changes); diff != "" || res.Affected != 1 {
		t.Errorf("%d rows\n%s", res.Affected, diff)
	}
	_, err = b.Exec(t.Context(), mark, nil)
	var waiting *readcommitted.Waiting
	if !errors.As(err, &waiting) || waiting.For.Name() != "A" || l.Holder("B") != "A" || l.Holder("A") != "" {
		t.Fatalf("%v, holder %q", err, l.Holder("B"))
	}
	if l.OpenTransactions("A") != 1 {
		t.Error("A has no open transaction")
	}
	must(t, l.Kill("A"))
	if l.Holder("B") != "" {
		t.Error("B still waits for a dead process")
	}
	res, err = b.Exec(t.Context(), mark, nil)
	must(t, err)
	if !slices.Contains(res.Access.Reads, "table:processed_events") || !slices.Contains(res.Access.Writes, "lock:processed_events(event_id 'e-1')") {
		t.Errorf("access %v", res.Access)
	}
	set, err := b.Query(t.Context(), "UPDATE accounts SET balance = balance - 1 RETURNING balance", nil)
	must(t, err)
	if diff := cmp.Diff([]string{"accounts('acc-1'): balance 50000 → 49999"}, set.Changes); diff != "" || set.Rows[0][0] != int64(49999) {
		t.Errorf("%v\n%s", set.Rows, diff)
	}
	access, err := b.Commit()
	must(t, err)
	if !access.Durable || !slices.Contains(access.Writes, "table:accounts") {
		t.Errorf("access %v", access)
	}
	rows, err := l.Query(t.Context(), "SELECT balance, (SELECT count(*) FROM processed_events) FROM accounts")
	must(t, err)
	if diff := cmp.Diff([][]driver.Value{{int64(49999), int64(1)}}, rows.Rows); diff != "" {
		t.Error(diff)
	}
}

// A fault that the schedule injects aborts the transaction.
func TestModelFail(t *testing.T) {
	t.Parallel()
	l := setupModel(t, ledger.Schema{SQL: schema})
	a := modelConn(t, l, "A")
	must(t, a.Begin(t.Context(), driver.TxOptions{}))
	a.Fail()
	if _, err := a.Exec(t.Context(), "DELETE FROM accounts", nil); !errors.Is(err, readcommitted.ErrAborted) {
		t.Error(err)
	}
	if _, err := a.Commit(); !errors.Is(err, readcommitted.ErrCommitAborted) {
		t.Error(err)
	}
}

// The rules hold here too, and what the grader writes for itself does not stand
// before the submission's tables in the next schedule.
func TestModelRules(t *testing.T) {
	t.Parallel()
	l := setupModel(t, ledger.Schema{SQL: schema, Submitted: true})
	a := modelConn(t, l, "A")
	for _, query := range []string{"ATTACH ':memory:' AS other", "PRAGMA table_info(accounts)", "SELECT load_extension('x')"} {
		if _, err := a.Query(t.Context(), query, nil); err == nil || a.Refused() == "" {
			t.Errorf("%s: %v, refused %q", query, err, a.Refused())
		}
		if err := a.Prepare(t.Context(), query); err == nil {
			t.Errorf("prepared %s", query)
		}
	}
	must(t, a.Prepare(t.Context(), "SELECT balance FROM accounts FOR UPDATE"))
	if _, err := a.Query(t.Context(), "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n", nil); err == nil {
		t.Error("a result without end")
	} else if limit := (*ledger.LimitError)(nil); !errors.As(err, &limit) {
		t.Error(err)
	}
	must(t, l.Exec(t.Context(), "CREATE TEMP TABLE accounts (id TEXT)"))
	before, err := l.State(t.Context())
	must(t, err)
	must(t, l.Reset(1))
	rows, err := modelConn(t, l, "A").Query(t.Context(), "SELECT balance FROM accounts", nil)
	must(t, err)
	if len(rows.Rows) != 1 || rows.Rows[0][0] != int64(50000) {
		t.Errorf("%v", rows.Rows)
	}
	if after, err := l.State(t.Context()); err != nil || after != before {
		t.Errorf("another state, %v", err)
	}
}

func TestModelSchema(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, sql, want string }{
		{"Trigger", schema + "CREATE TRIGGER t AFTER INSERT ON charges BEGIN SELECT 1; END;", "Triggers are not available"},
		{"Pragma", schema + "PRAGMA foreign_keys = ON;", "PRAGMA changes the connection"},
		{"Syntax", "CREATE TABLEX accounts (id)", "syntax error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := setupModel(t, ledger.Schema{SQL: schema})
			err := l.Prepare(t.Context(), ledger.Schema{SQL: tc.sql, Submitted: true}, nil)
			var wrong *ledger.SchemaError
			if !errors.As(err, &wrong) || !strings.Contains(wrong.Text, tc.want) {
				t.Errorf("%v", err)
			}
		})
	}
}
