package ledger_test

import (
	"database/sql/driver"
	"fmt"
	"testing"
	"time"

	"redeliver/grader/ledger"
)

// odd has the kinds of tables that are put back in different ways.
const odd = `
CREATE TABLE accounts (id TEXT PRIMARY KEY, balance INTEGER NOT NULL);
CREATE TABLE numbered (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT);
CREATE TABLE plain (rowid TEXT, x);
CREATE TABLE keyed (a TEXT, b BLOB, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE UNIQUE INDEX one ON plain (x);`

// What a schedule finds does not depend on what the one before it did, although
// connections and the file are used again.
func TestEveryScheduleStartsAlike(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, more string }{
		{"WithSQL", ""},
		{"Trigger", "CREATE TRIGGER tr AFTER DELETE ON accounts BEGIN INSERT INTO plain VALUES (old.id, old.id); END;"},
		{"GeneratedColumn", "CREATE TABLE g (a INTEGER, b AS (a + 1));"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := oddLedger(t, tc.more)
			want := look(t, l)
			for _, query := range []string{
				"SELECT 1", "UPDATE accounts SET balance = 1", "DELETE FROM accounts", "DELETE FROM keyed", "DELETE FROM plain",
				"INSERT INTO numbered (x) VALUES ('b'), ('c')", "INSERT INTO plain VALUES ('z', 9)", "UPDATE numbered SET id = id + 5",
				"BEGIN; DELETE FROM accounts", "SAVEPOINT s; DELETE FROM keyed", "BEGIN IMMEDIATE", "CREATE TABLE mine (x)",
				"CREATE TEMP TABLE accounts (mine)", "CREATE INDEX mine ON accounts (balance)", "ANALYZE", "DROP TABLE IF EXISTS absent",
				"INSERT INTO numbered (x) SELECT zeroblob(900000) FROM (VALUES (1), (2), (3), (4), (5))", // more than the log may grow
			} {
				c := conn(t, l, "A")
				if _, err := c.Exec(t.Context(), query, nil); err != nil {
					t.Fatalf("%s: %v", query, err)
				}
				if got := look(t, l); got != want {
					t.Errorf("after %q:\n%s\nat first:\n%s", query, got, want)
				}
			}
		})
	}
}

// A process that begins gets a connection that remembers nothing of the last one.
func TestConnectionOfAProcessThatDied(t *testing.T) {
	t.Parallel()
	l := oddLedger(t, "")
	if err := l.Reset(1); err != nil {
		t.Fatal(err)
	}
	want := remembered(t, l)
	for _, query := range []string{
		"INSERT INTO numbered (x) VALUES ('b'), ('c')", "UPDATE accounts SET balance = 1", "BEGIN; DELETE FROM accounts", "SELEC",
		"SELECT 1; DELETE FROM keyed; SELEC", "CREATE TEMP TABLE accounts (mine)",
	} {
		_, _ = conn(t, l, "A").Exec(t.Context(), query, nil) // SELEC fails
		if err := l.Kill("A"); err != nil {
			t.Fatal(err)
		}
		if got := remembered(t, l); got != want {
			t.Errorf("after %q: got %s, want %s", query, got, want)
		}
		if err := l.Kill("A"); err != nil {
			t.Fatal(err)
		}
	}
}

func oddLedger(t *testing.T, more string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), t.TempDir(), ledger.Limits{Statement: time.Minute}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	start := []ledger.Statement{
		{SQL: "INSERT INTO accounts VALUES ('a', 50), ('b', 60)"},
		{SQL: "INSERT INTO numbered (id, x) VALUES (7, 'a')"},
		{SQL: "INSERT INTO plain VALUES ('r', 1.5), ('s', NULL), ('t', x'00ff')"},
		{SQL: "DELETE FROM plain WHERE rowid = 's'"},
		{SQL: "INSERT INTO keyed VALUES ('k', x'01')"},
	}
	if err := l.Prepare(t.Context(), ledger.Schema{SQL: odd + more}, start); err != nil {
		t.Fatal(err)
	}
	return l
}

func conn(t *testing.T, l *ledger.Ledger, instance string) ledger.Conn {
	t.Helper()
	c, err := l.Conn(instance, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// look resets and writes down what a schedule can see.
func look(t *testing.T, l *ledger.Ledger) string {
	t.Helper()
	if err := l.Reset(1); err != nil {
		t.Fatal(err)
	}
	c := conn(t, l, "B")
	text := ""
	for _, query := range []string{
		"SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2", "SELECT * FROM accounts", "SELECT * FROM numbered", "SELECT _rowid_, * FROM plain",
		"SELECT * FROM keyed", "SELECT * FROM sqlite_sequence", "SELECT changes(), last_insert_rowid()",
	} {
		rows, err := c.Query(t.Context(), query, nil)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		text += fmt.Sprintln(rows.Rows)
	}
	for _, query := range []string{"BEGIN", "INSERT INTO numbered (x) VALUES ('new')", "ROLLBACK"} {
		res, err := c.Exec(t.Context(), query, nil)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		text += fmt.Sprintf("%s: %+v\n", query, res)
	}
	state, err := l.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return text + fmt.Sprintf("%x", state)
}

// remembered is what SQLite keeps for a connection.
func remembered(t *testing.T, l *ledger.Ledger) string {
	t.Helper()
	c := conn(t, l, "A")
	first, err := c.Exec(t.Context(), "DROP TABLE IF EXISTS absent", nil) // changes no count
	if err != nil {
		t.Fatal(err)
	}
	rows, err := c.Query(t.Context(), "SELECT changes(), last_insert_rowid()", nil)
	if err != nil {
		t.Fatal(err)
	}
	begin := c.Begin(t.Context(), driver.TxOptions{})
	_, err = c.Rollback()
	return fmt.Sprint(first.Affected, first.LastInsertID, rows.Rows, begin, err)
}
