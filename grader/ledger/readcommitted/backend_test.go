package readcommitted_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// schema is that of every scenario and program. PostgreSQL reads it with serial
// in place of AUTOINCREMENT.
const schema = `
CREATE TABLE test (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);
INSERT INTO test (id, value) VALUES (1, 10), (2, 20);
CREATE TABLE acc (id INTEGER PRIMARY KEY, bal INTEGER NOT NULL CHECK (bal > -1000));
INSERT INTO acc (id, bal) VALUES (1, 0), (2, 0);
CREATE TABLE processed (id TEXT PRIMARY KEY);
CREATE TABLE bag (id TEXT);
CREATE TABLE outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT);
CREATE TABLE pair (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
`

func tables() []string { return []string{"acc", "bag", "outbox", "pair", "processed", "test"} }

// waits is the answer of a statement that has none yet.
const waits = "waits"

// backend is the model or a real PostgreSQL, with the sessions 0 and 1.
type backend interface {
	// say returns the answer of a statement, or waits.
	say(session int, text string) string
	// resumed returns the answer of a session that waited, "" when it still does.
	resumed(session int) string
	// rows lists a table's committed rows, in any order.
	rows(table string) []string
}

// transcript is what a backend answers to the steps, each "A text" or "B text",
// and what is in the tables then. A session that waits says nothing.
func transcript(b backend, steps []string) string {
	var out strings.Builder
	waiting := map[int]string{}
	for _, step := range steps {
		session, text := int(step[0]-'A'), step[2:]
		if waiting[session] != "" {
			continue
		}
		answer := b.say(session, text)
		fmt.Fprintf(&out, "%s => %s\n", step, answer)
		if answer == waits {
			waiting[session] = step
		}
		if other := 1 - session; waiting[other] != "" {
			if answer := b.resumed(other); answer != "" {
				fmt.Fprintf(&out, "   %s => %s\n", waiting[other], answer)
				delete(waiting, other)
			}
		}
	}
	for _, name := range tables() {
		rows := b.rows(name)
		slices.Sort(rows)
		fmt.Fprintf(&out, "%s: %s\n", name, strings.Join(rows, " "))
	}
	return out.String()
}

// answerRows writes a result, sorted: without ORDER BY there is no order.
func answerRows(rows []string) string {
	slices.Sort(rows)
	return "[" + strings.Join(rows, " ") + "]"
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
