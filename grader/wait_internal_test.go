package grader

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"redeliver/exercises"
	"redeliver/grader/build/buildtest"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

const lockSchema = `
CREATE TABLE accounts (id TEXT PRIMARY KEY, balance INTEGER NOT NULL);
CREATE TABLE charges (id INTEGER PRIMARY KEY, payment_id TEXT NOT NULL, account TEXT NOT NULL, amount INTEGER NOT NULL);
CREATE TABLE processed_events (event_id TEXT PRIMARY KEY);
`

// lockHandler is a handler with the given body: db, rec and the event's id are
// there, and do executes SQL on a transaction or on db.
func lockHandler(body string) []exercises.File {
	return []exercises.File{{Name: "schema.sql", Content: []byte(lockSchema)}, {Name: "handler.go", Content: []byte(`package handler

import (
	"context"
	"database/sql"

	"github.com/twmb/franz-go/pkg/kgo"
)

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	id := string(rec.Headers[0].Value)
	do := func(on execer, query string, args ...any) error {
		_, err := on.ExecContext(ctx, query, args...)
		return err
	}
	_, _ = id, do
` + body + `
	return nil
}
`)}}
}

// lockHandlers are the ways in which two transactions meet each other's locks.
// They return nil whatever happens, so that nothing is delivered twice and all
// orders can be tried.
func lockHandlers() map[string]string {
	const tx = "	tx, err := db.BeginTx(ctx, nil)\n	if err != nil {\n		return nil\n	}\n	defer tx.Rollback()\n"
	return map[string]string{
		"claim": tx + `
	if do(tx, "INSERT INTO processed_events VALUES (?)", id) == nil {
		tx.Commit()
	}`,
		"claim without a transaction": `
	if do(db, "INSERT INTO processed_events VALUES (?)", id) == nil {
		do(db, "UPDATE accounts SET balance = balance - 1")
	}`,
		"rolled back": tx + `
	do(tx, "INSERT INTO processed_events VALUES (?)", id)`,
		"one row": tx + `
	do(tx, "UPDATE accounts SET balance = balance - 1")
	tx.Commit()`,
		"a lock that it holds": tx + `
	do(tx, "UPDATE accounts SET balance = balance - 1")
	do(tx, "UPDATE accounts SET balance = balance - 2")
	tx.Commit()`,
		"circle": tx + `
	first, second := "x", "y"
	if rec.Partition == 1 {
		first, second = second, first
	}
	do(tx, "INSERT INTO processed_events VALUES (?)", first)
	do(tx, "INSERT INTO processed_events VALUES (?)", second)
	tx.Commit()`,
		"deleted and made again": tx + `
	do(tx, "INSERT INTO processed_events VALUES ('p') ON CONFLICT DO NOTHING")
	do(tx, "DELETE FROM processed_events")
	tx.Commit()`,
		"ignored": tx + `
	do(tx, "INSERT INTO processed_events VALUES (?)", id)
	do(tx, "UPDATE accounts SET balance = balance - 1")
	tx.Commit()`,
		"counted": tx + `
	do(tx, "INSERT INTO charges (payment_id, account, amount) SELECT ?, '', count(*) FROM charges", id)
	tx.Commit()`,
	}
}

func checkThenInsert(t *testing.T) *exercises.Exercise {
	t.Helper()
	e, ok := exercises.Open(exercises.Builtin(), nil).Exercise("core/check-then-insert")
	if !ok {
		t.Fatal("no exercise core/check-then-insert")
	}
	return onBoth(e)
}

// Where transactions wait for each other, the search finds every class too.
func TestSearchMissesNoClassBehindALock(t *testing.T) {
	t.Parallel()
	e := checkThenInsert(t)
	for name, body := range lockHandlers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldFor(t, e, lockHandler(body))
			for _, base := range interleavingBases(verdict.ReadCommitted) {
				tries, tried, ok := compareSearch(t, w, base)
				if !ok {
					t.Errorf("%s: too many effects", base)
				}
				t.Logf("%s: %d runs instead of %d", base, tried, tries)
			}
		})
	}
}

// gradeBody grades a lockHandler; token may be a schedule to replay.
func gradeBody(t *testing.T, e *exercises.Exercise, body, token string) verdict.Verdict {
	t.Helper()
	g, err := New(Config{Dir: t.TempDir(), Workers: 1}, buildtest.Compiler(t))
	if err != nil {
		t.Fatal(err)
	}
	v, err := g.Grade(t.Context(), Request{Exercise: e, Files: lockHandler(body), Seed: 1, Replay: token})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A check and an insert in one transaction hold on plain SQLite alone; the
// finding says so, and its trace shows both questions.
func TestFailsOnReadCommittedAlone(t *testing.T) {
	t.Parallel()
	e, body := checkThenInsert(t), `
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM charges WHERE payment_id = json_extract(?, '$.payment_id')", string(rec.Value)).Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return nil
	}
	if err := do(tx, "INSERT INTO charges (payment_id, account, amount) SELECT json_extract(?1, '$.payment_id'), json_extract(?1, '$.account'), json_extract(?1, '$.amount')", string(rec.Value)); err != nil {
		return err
	}
	if err := do(tx, "UPDATE accounts SET balance = balance - json_extract(?1, '$.amount') WHERE id = json_extract(?1, '$.account')", string(rec.Value)); err != nil {
		return err
	}
	return tx.Commit()
`
	v := gradeBody(t, e, body, "")
	if v.Outcome != verdict.Failed || len(v.Findings) == 0 {
		t.Fatalf("%s: %s", v.Outcome, v.Summary)
	}
	for _, f := range v.Findings {
		if f.Database != verdict.ReadCommitted || f.Kind != verdict.Duplicate || !strings.Contains(f.Explanation, "On plain SQLite no schedule shows it") {
			t.Errorf("%s on %s: %s", f.Kind, f.Database, f.Explanation)
		}
	}
	again := gradeBody(t, e, body, v.Findings[0].Schedule)
	if again.Outcome != verdict.Failed || len(again.Coverage) != 1 || again.Coverage[0].Database != verdict.ReadCommitted || !reflect.DeepEqual(again.Findings[0].Trace, v.Findings[0].Trace) {
		t.Errorf("replayed: %s on %+v", again.Summary, again.Coverage)
	}
	databases := map[string]int{}
	for _, c := range v.Coverage {
		databases[c.Database]++
		if c.Database == verdict.SQLite && c.Failed > 0 {
			t.Errorf("%s fails on SQLite", c.Phase)
		}
	}
	if databases[verdict.SQLite] != 15 || databases[verdict.ReadCommitted] != 15 {
		t.Errorf("phases: %v", databases)
	}
}

// A transaction that nobody ends makes the other instance wait for ever.
func TestForgottenTransactionLocksUp(t *testing.T) {
	t.Parallel()
	e := *checkThenInsert(t)
	e.Databases = []string{verdict.ReadCommitted}
	v := gradeBody(t, &e, `
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return do(tx, "UPDATE accounts SET balance = balance - 1")
`, "")
	var stuck *verdict.Finding
	for i := range v.Findings {
		if strings.Contains(v.Findings[i].Message, "waits for ever") {
			stuck = &v.Findings[i]
		}
	}
	if stuck == nil || stuck.Kind != verdict.Stuck {
		t.Fatalf("%s: %+v", v.Summary, v.Findings)
	}
	waits := 0
	for _, step := range stuck.Trace {
		if step.Event == trace.Wait {
			waits++
			if !strings.Contains(step.Text, "→ waits: a transaction of A has locked accounts(id ") {
				t.Error(step.Text)
			}
		}
	}
	if waits == 0 {
		t.Error("the trace shows no wait")
	}
}

// A schedule that meets what the model cannot tell proves nothing, and the coverage
// says why.
func TestWhatTheModelCannotTellIsCovered(t *testing.T) {
	t.Parallel()
	e := *checkThenInsert(t)
	e.Databases, e.Phases = []string{verdict.ReadCommitted}, []string{"interleavings"}
	v := gradeBody(t, &e, `
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := do(tx, "UPDATE accounts SET balance = (SELECT balance)"); err != nil {
		return err
	}
	return tx.Commit()
`, "")
	i := slices.IndexFunc(v.Coverage, func(c verdict.Coverage) bool { return c.Phase == "interleavings" })
	if i < 0 {
		t.Fatalf("%s: %+v", v.Summary, v.Coverage)
	}
	c := v.Coverage[i]
	if c.Complete || len(c.Outside) != 1 || !strings.Contains(c.Outside[0], "sub-select") || c.Failed == 0 || c.Failed >= c.Schedules {
		t.Errorf("%+v", c)
	}
}
