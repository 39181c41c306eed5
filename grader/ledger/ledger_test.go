package ledger_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"modernc.org/sqlite"

	"redeliver/grader/ledger"
)

const schema = `
CREATE TABLE accounts (id TEXT PRIMARY KEY, balance INTEGER NOT NULL);
CREATE TABLE charges (id INTEGER PRIMARY KEY, payment_id TEXT NOT NULL, amount INTEGER NOT NULL);
CREATE TABLE processed_events (event_id TEXT PRIMARY KEY, processed_at TEXT NOT NULL);`

type testBundle struct {
	l   *ledger.Ledger
	dir string
	now time.Time
}

func setup(t testing.TB) *testBundle {
	t.Helper()
	return setupWith(t, ledger.Limits{Statement: 200 * time.Millisecond, Rows: 100})
}

func setupWith(t testing.TB, limits ledger.Limits) *testBundle {
	t.Helper()
	b := &testBundle{dir: t.TempDir(), now: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel() // a ledger does not depend on the context that it was opened with
	l, err := ledger.Open(ctx, b.dir, limits, func() time.Time { return b.now })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(b.dir); err != nil || len(left) > 0 {
			t.Errorf("files left: %v, %v", left, err)
		}
	})
	start := []ledger.Statement{{SQL: "INSERT INTO accounts VALUES (:id, 50000)", Args: []driver.NamedValue{{Name: "id", Ordinal: 1, Value: "acc-1"}}}}
	if err := l.Prepare(t.Context(), ledger.Schema{SQL: schema}, start); err != nil {
		t.Fatal(err)
	}
	if err := l.Reset(1); err != nil {
		t.Fatal(err)
	}
	b.l = l
	return b
}

func (b *testBundle) conn(t testing.TB, instance string, id uint64) ledger.Conn {
	t.Helper()
	c, err := b.l.Conn(instance, id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func exec(t testing.TB, c ledger.Conn, query string) ledger.Result {
	t.Helper()
	r, err := c.Exec(context.Background(), query, nil)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return r
}

func TestRowDifferences(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.conn(t, "A", 1)
	for _, tc := range []struct {
		query string
		want  []string
	}{
		{"INSERT INTO charges(payment_id, amount) VALUES ('p-1', 4900)", []string{"+charges(1, 'p-1', 4900)"}},
		{"UPDATE accounts SET balance = balance - 4900", []string{"accounts('acc-1'): balance 50000 → 45100"}},
		{"UPDATE accounts SET balance = balance", []string{"accounts('acc-1'): unchanged"}},
		{"DELETE FROM charges", []string{"-charges(1, 'p-1', 4900)"}},
		{"INSERT INTO processed_events VALUES ('it''s', '') ON CONFLICT DO NOTHING", []string{"+processed_events('it''s', '')"}},
		{"INSERT INTO processed_events VALUES ('it''s', '') ON CONFLICT DO NOTHING", nil},
	} {
		if diff := cmp.Diff(tc.want, exec(t, c, tc.query).Changes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.query, diff)
		}
	}
}

// What an effect touches decides which orders of two instances are tried.
func TestAccess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.conn(t, "A", 1)
	run := func(query string) ledger.Access {
		r, err := c.Query(t.Context(), query, nil)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return r.Access
	}
	var got []string
	say := func(what string, a ledger.Access) {
		got = append(got, fmt.Sprintf("%s: reads %v, writes %v, durable %v", what, a.Reads, a.Writes, a.Durable))
	}
	say("autocommit read", run("SELECT balance FROM accounts"))
	say("autocommit write", run("UPDATE accounts SET balance = 1"))
	for _, commit := range []bool{true, false} {
		if err := c.Begin(t.Context(), driver.TxOptions{}); err != nil {
			t.Fatal(err)
		}
		if commit {
			say("first read", run("SELECT balance FROM accounts"))
			say("second read", run("SELECT count(*) FROM charges"))
		}
		say("first write", run("INSERT INTO charges(payment_id, amount) VALUES ('p', 1)"))
		say("second write", run("UPDATE accounts SET balance = 2"))
		end, name := c.Rollback, "rollback"
		if commit {
			end, name = c.Commit, "commit"
		}
		a, err := end()
		if err != nil {
			t.Fatal(err)
		}
		say(name, a)
	}
	say("begin immediate", run("BEGIN IMMEDIATE"))
	say("write", run("DELETE FROM charges"))
	say("commit as text", run("COMMIT"))
	want := []string{
		"autocommit read: reads [table:accounts], writes [], durable false",
		"autocommit write: reads [db], writes [lock db table:accounts], durable true",
		"first read: reads [db], writes [], durable false",
		"second read: reads [], writes [], durable false",
		"first write: reads [db], writes [lock], durable false",
		"second write: reads [], writes [], durable false",
		"commit: reads [], writes [lock db table:charges table:accounts], durable true",
		"first write: reads [db], writes [lock], durable false",
		"second write: reads [], writes [], durable false",
		"rollback: reads [], writes [lock], durable false",
		"begin immediate: reads [db], writes [lock], durable false",
		"write: reads [db], writes [lock], durable false",
		"commit as text: reads [db], writes [lock db table:charges], durable true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before, err := b.l.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := b.conn(t, "A", 1)
	exec(t, c, "CREATE TABLE mine (x)")
	exec(t, c, "UPDATE accounts SET balance = 0")
	if after, err := b.l.State(t.Context()); err != nil || after == before {
		t.Fatalf("the state did not change, err %v", err)
	}
	if err := b.l.Reset(1); err != nil {
		t.Fatal(err)
	}
	if after, err := b.l.State(t.Context()); err != nil || after != before {
		t.Errorf("the state is not the first one again, err %v", err)
	}
}

// A killed process loses its open transaction and its locks.
func TestKill(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.conn(t, "A", 1)
	if err := a.Begin(t.Context(), driver.TxOptions{}); err != nil {
		t.Fatal(err)
	}
	exec(t, a, "UPDATE accounts SET balance = 1")
	other := b.conn(t, "B", 1)
	_, err := other.Exec(t.Context(), "UPDATE accounts SET balance = 2", nil)
	var busy *sqlite.Error
	if !errors.As(err, &busy) || busy.Code() != 5 {
		t.Fatalf("while A writes: got %v, want SQLITE_BUSY", err)
	}
	if n := b.l.OpenTransactions("A"); n != 1 {
		t.Errorf("A has %d open transactions, want 1", n)
	}
	if err := b.l.Kill("A"); err != nil {
		t.Fatal(err)
	}
	exec(t, other, "UPDATE accounts SET balance = 3")
	rows, err := b.l.Query(t.Context(), "SELECT balance FROM accounts")
	if err != nil || rows.Rows[0][0] != int64(3) {
		t.Errorf("got %v, err %v, want 3", rows.Rows, err)
	}
}

// What leaves the sandbox's database is refused for what it does, however it
// is spelt.
func TestRules(t *testing.T) {
	t.Parallel()
	b := setup(t)
	outside := b.dir + "/outside.db"
	for _, tc := range []struct{ name, query, err, refused string }{
		{"Attach", "ATTACH '" + outside + "' AS o", "not authorized", "reach files"},
		{"AttachInAComment", "/* x */ aTTach/**/'" + outside + "' AS o", "not authorized", "reach files"},
		{"AttachSecond", "SELECT 1; ATTACH '" + outside + "' AS o", "not authorized", "reach files"},
		{"VacuumInto", "VACUUM INTO '" + outside + "'", "authorization denied", "reach files"},
		{"Pragma", "PRAGMA journal_mode = DELETE", "not authorized", "PRAGMA"},
		{"PragmaFunction", "SELECT * FROM pragma_database_list", "not authorized", "PRAGMA"},
		{"LoadExtension", "SELECT load_extension('x')", "not authorized", "load_extension"},
		{"TotalChanges", "SELECT Total_Changes()", "not authorized", "keeps connections open"},
		{"VirtualTable", "CREATE VIRTUAL TABLE v USING fts5(x)", "not authorized", "Virtual tables"},
		{"DropExerciseTable", "DROP TABLE charges", "not authorized", "cannot be dropped"},
		{"AlterExerciseTable", "ALTER TABLE Charges ADD COLUMN x", "not authorized", "cannot be altered"},
		{"WritableSchema", "UPDATE sqlite_master SET sql = ''", "may not be modified", ""},
		{"Malformed", "SELEC 1", `near "SELEC": syntax error`, ""},
		{"OwnTable", "CREATE TABLE IF NOT EXISTS mine (x); DROP TABLE mine", "", ""},
		{"TooManyParameters", "SELECT ?1, ?99999", "variable number must be between", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := b.conn(t, "A", 1)
			_, err := c.Exec(t.Context(), tc.query, nil)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got error %v, want %q", err, tc.err)
			}
			if got := c.Refused(); !strings.Contains(got, tc.refused) || (tc.refused == "") != (got == "") {
				t.Errorf("refused: got %q, want %q", got, tc.refused)
			}
		})
	}
	if _, err := os.Stat(outside); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file outside the sandbox was made: %v", err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT %s FROM n"
	for _, tc := range []struct{ name, query, want string }{
		{"BillionRows", fmt.Sprintf(count, 1_000_000_000, "count(*)"), "did not finish within 0.2 s"},
		{"TooManyRows", fmt.Sprintf(count, 101, "i"), "larger than the sandbox allows"},
		{"TooManyBytes", "SELECT zeroblob(1000000) UNION ALL SELECT zeroblob(1000000)", "larger than the sandbox allows"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := b.conn(t, "A", 1).Query(t.Context(), tc.query, nil)
			var limit *ledger.LimitError
			if !errors.As(err, &limit) || !strings.Contains(limit.Text, tc.want) {
				t.Errorf("got %v, want a limit with %q", err, tc.want)
			}
		})
	}
	// A gigabyte of the server's memory in a statement of 40 characters.
	t.Run("LengthOfText", func(t *testing.T) {
		_, err := b.conn(t, "B", 1).Query(t.Context(), "SELECT length(printf('%.*c', 900000000, 'x'))", nil)
		if err == nil || !strings.Contains(err.Error(), "too big") {
			t.Errorf("got %v, want a text that is too big", err)
		}
	})
	t.Run("FileSize", func(t *testing.T) {
		b := setupWith(t, ledger.Limits{Statement: time.Minute})
		_, err := b.conn(t, "A", 1).Exec(t.Context(), "CREATE TABLE big AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) SELECT zeroblob(1000000) AS b FROM n", nil)
		if err == nil || !strings.Contains(err.Error(), "full") {
			t.Errorf("got %v, want a full database", err)
		}
	})
	t.Run("Connections", func(t *testing.T) {
		for i := range uint64(ledger.MaxConns) {
			b.conn(t, "C", i)
		}
		if _, err := b.l.Conn("C", 99); !errors.Is(err, ledger.ErrTooManyConns) {
			t.Errorf("got %v, want ErrTooManyConns", err)
		}
	})
}

// Time and randomness belong to the schedule, in every spelling.
func TestClockAndRandomness(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.conn(t, "A", 1)
	rows, err := c.Query(t.Context(), `SELECT datetime('now'), datetime(), date('NOW'), time('now', '+1 hour'), strftime('%Y'),
		strftime('%H:%M', 'now'), CURRENT_TIMESTAMP, CURRENT_DATE, unixepoch('now'), datetime('2001-02-03'), julianday('now') > 2461042`, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []driver.Value{
		"2026-01-02 03:04:05", "2026-01-02 03:04:05", "2026-01-02", "04:04:05", "2026",
		"03:04", "2026-01-02 03:04:05", "2026-01-02", b.now.Unix(), "2001-02-03 00:00:00", int64(1),
	}
	if diff := cmp.Diff(want, rows.Rows[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	draw := func(seed uint64) string {
		if err := b.l.Reset(seed); err != nil {
			t.Fatal(err)
		}
		rows, err := b.conn(t, "A", 1).Query(t.Context(), "SELECT random(), hex(randomblob(8)), random()", nil)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(rows.Rows)
	}
	if first, again, other := draw(7), draw(7), draw(8); first != again || first == other {
		t.Errorf("random: %s, %s with the same seed, %s with another", first, again, other)
	}
}

// A schema that a candidate wrote runs under the rules, and its errors are told.
func TestSubmittedSchema(t *testing.T) {
	t.Parallel()
	fill := []ledger.Statement{{SQL: "INSERT INTO accounts VALUES ('acc-1', 1)"}}
	for _, tc := range []struct{ name, sql, want string }{
		{"Fine", schema + "CREATE UNIQUE INDEX one ON charges (payment_id);", ""},
		{"Malformed", "CREATE TABEL accounts (id)", "syntax error"},
		{"MissingTable", "CREATE TABLE charges (id)", "The harness cannot fill the tables"},
		{"Attach", "ATTACH 'x.db' AS x", "reach files"},
		{"Pragma", "PRAGMA journal_mode = DELETE", "PRAGMA changes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := setup(t).l.Prepare(t.Context(), ledger.Schema{SQL: tc.sql, Submitted: true}, fill)
			var refused *ledger.SchemaError
			if (err == nil) != (tc.want == "") || err != nil && (!errors.As(err, &refused) || !strings.Contains(refused.Text, tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func BenchmarkReset(b *testing.B) {
	bundle := setup(b)
	for b.Loop() {
		if err := bundle.l.Reset(1); err != nil {
			b.Fatal(err)
		}
		c := bundle.conn(b, "A", 1)
		exec(b, c, "INSERT INTO charges(payment_id, amount) VALUES ('p-1', 4900)")
	}
}

func BenchmarkStatement(b *testing.B) {
	bundle := setup(b)
	c := bundle.conn(b, "A", 1)
	for b.Loop() {
		exec(b, c, "UPDATE accounts SET balance = balance - 1 WHERE id = 'acc-1'")
	}
}

// SQL of a pack reaches no file of the server, and its queries change nothing.
func TestPackSQL(t *testing.T) {
	t.Parallel()
	b := setup(t)
	outside := b.dir + "/outside.db"
	for _, tc := range []struct{ name, query, refused string }{
		{"Attach", "ATTACH '" + outside + "' AS o", "reach files"},
		{"AttachSecond", "SELECT 1 AS object; ATTACH '" + outside + "' AS o", "reach files"},
		{"VacuumInto", "VACUUM INTO '" + outside + "'", "reach files"},
		{"Pragma", "PRAGMA writable_schema = ON", "PRAGMA"},
		{"LoadExtension", "SELECT load_extension('x') AS object", "load_extension"},
	} {
		t.Run("Setup"+tc.name, func(t *testing.T) {
			err := b.l.Prepare(t.Context(), ledger.Schema{SQL: "CREATE TABLE charges (id)"}, []ledger.Statement{{SQL: tc.query}})
			var wrong *ledger.PackError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("got %v, want a PackError with %q", err, tc.refused)
			}
		})
	}
	if err := b.l.Prepare(t.Context(), ledger.Schema{SQL: "CREATE TABLE charges (id)"}, nil); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, query, refused string }{
		{"Attach", "SELECT 1 AS object; ATTACH '" + outside + "' AS o", "only read"},
		{"Delete", "WITH x AS (SELECT 1 AS object) DELETE FROM charges RETURNING 1 AS object", "only read"},
		{"Create", "SELECT 1 AS object; CREATE TABLE x (y)", "only read"},
		{"Pragma", "SELECT name AS object FROM pragma_database_list", "only read"},
		{"LoadExtension", "SELECT load_extension('x') AS object", "load_extension"},
	} {
		t.Run("Query"+tc.name, func(t *testing.T) {
			if _, err := b.l.QueryPack(t.Context(), tc.query); err == nil || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("got %v, want %q", err, tc.refused)
			}
		})
	}
	rows, err := b.l.QueryPack(t.Context(), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT max(i) AS object FROM n")
	if err != nil || rows.Rows[0][0] != int64(3) {
		t.Errorf("a query that reads: %v, err %v", rows.Rows, err)
	}
	if _, err := os.Stat(outside); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file outside the database was made: %v", err)
	}
}
