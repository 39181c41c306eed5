package grader_test

import (
	"slices"
	"strings"
	"testing"

	"redeliver/exercises"
	"redeliver/grader/verdict"
)

// entryCase is a submission for an entry and what its verdict must show.
type entryCase struct {
	name     string
	entry    string
	files    string // the handler's functions
	kind     verdict.Kind
	phase    string // of the first finding
	says     string // in the summary
	coverage string // a phase that is left out by name
}

// The functions that an entry calls, when, and what follows from what they answer.
func TestEntries(t *testing.T) {
	t.Parallel()
	for _, c := range entryCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := entryExercise(c.entry)
			v := gradeOnce(t, newGrader(t, 1), e, []exercises.File{{Name: "handler.go", Content: []byte(entryHead + c.files)}})
			if c.kind == "" {
				if v.Outcome != verdict.Passed {
					t.Fatalf("%s: %s", v.Outcome, v.Summary)
				}
			} else if v.Outcome != verdict.Failed || v.Findings[0].Kind != c.kind || v.Findings[0].Phase != c.phase {
				t.Fatalf("%s, want %s in %s: %s\n%+v", v.Outcome, c.kind, c.phase, v.Summary, v.Coverage)
			}
			if !strings.Contains(v.Summary, c.says) {
				t.Errorf("the summary does not say %q: %s", c.says, v.Summary)
			}
			if c.coverage != "" && !slices.ContainsFunc(v.Coverage, func(p verdict.Coverage) bool { return p.Phase == c.coverage && p.LeftOut != "" }) {
				t.Errorf("the coverage does not leave out %s: %+v", c.coverage, v.Coverage)
			}
		})
	}
}

// entryExercise is an exercise of three numbers, each to be stored once in the
// table seen, or sent once to the topic out.
func entryExercise(signature string) *exercises.Exercise {
	entry, service, _ := strings.Cut(signature, "+")
	e := &exercises.Exercise{
		Head:     exercises.Head{Pack: "test", Slug: entry, Version: "1.0.0", Entry: entry, Databases: []string{"sqlite"}},
		Editable: []string{"handler.go"},
		Schema:   "CREATE TABLE seen (n INTEGER NOT NULL, at INTEGER NOT NULL); CREATE TABLE place (partition INTEGER PRIMARY KEY, next INTEGER NOT NULL);",
		Events: exercises.Events{
			Topics: []exercises.Topic{{Name: "in", Partitions: 1}},
			Fields: []exercises.Field{{Name: "n", Kind: exercises.NumberField, Min: 1, Max: 1000, Step: 1, Distinct: true}},
			Templates: []exercises.Template{
				{Topic: "in", Value: "{n}"}, {Topic: "in", Value: "{n}"}, {Topic: "in", Value: "{n}"},
			},
			Object:  "n",
			Columns: []exercises.Column{{Name: "n", Type: "INTEGER", Value: "{n}"}},
		},
	}
	if service != "" {
		e.Services = []string{service}
	}
	stored := "SELECT n FROM seen"
	if e.Produces() {
		e.Events.Outputs = []exercises.Topic{{Name: "out", Partitions: 1}}
		stored = "SELECT CAST(CAST(value AS TEXT) AS INTEGER) AS n FROM output"
	}
	e.Invariants = []exercises.Invariant{{
		Name: "each is there", Kind: "lost", Object: "n", Message: map[string]string{"en": "{object} is missing."},
		SQL: "SELECT n AS object FROM expected WHERE n NOT IN (" + stored + ")",
	}}
	if !e.Produces() { // to produce at least once is the best there is
		e.Invariants = append(e.Invariants, exercises.Invariant{
			Name: "none is there twice", Kind: "duplicate", Object: "n", Message: map[string]string{"en": "{object} is there {times} times."},
			SQL: "SELECT n AS object, COUNT(*) AS times FROM (" + stored + ") GROUP BY n HAVING COUNT(*) > 1",
		})
	}
	return e
}

const entryHead = `package handler

import (
	"context"
	"database/sql"
	"errors"

	"github.com/twmb/franz-go/pkg/kgo"
)

var _ = errors.New

func once(ctx context.Context, tx *sql.Tx, n string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO seen (n, at) SELECT CAST(? AS INTEGER), 0 WHERE NOT EXISTS (SELECT 1 FROM seen WHERE n = CAST(? AS INTEGER))", n, n)
	return err
}

func inTx(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

var _ *kgo.Record
`

const (
	handleOnce = `
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	return inTx(ctx, db, func(tx *sql.Tx) error { return once(ctx, tx, string(rec.Value)) })
}
`
	startAtPlace = `
func StartOffset(ctx context.Context, db *sql.DB, topic string, partition int32) (int64, error) {
	var next int64
	err := db.QueryRowContext(ctx, "SELECT next FROM place WHERE partition = ?", partition).Scan(&next)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return next, err
}
`
	handleAndMove = `
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	return inTx(ctx, db, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "INSERT INTO place VALUES (?, ?) ON CONFLICT (partition) DO UPDATE SET next = excluded.next WHERE next = excluded.next - 1", rec.Partition, rec.Offset+1)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO seen VALUES (CAST(? AS INTEGER), 0)", string(rec.Value))
		return err
	})
}
`
)

func entryCases() []entryCase {
	return []entryCase{
		{name: "batch/once", entry: "batch", files: `
func HandleBatch(ctx context.Context, db *sql.DB, recs []*kgo.Record) error {
	return inTx(ctx, db, func(tx *sql.Tx) error {
		for _, rec := range recs {
			if err := once(ctx, tx, string(rec.Value)); err != nil {
				return err
			}
		}
		return nil
	})
}
`},
		{name: "batch/the batch as the unit", entry: "batch", kind: verdict.Duplicate, phase: "redelivery", says: "is there 2 times", files: `
func HandleBatch(ctx context.Context, db *sql.DB, recs []*kgo.Record) error {
	return inTx(ctx, db, func(tx *sql.Tx) error {
		last := recs[len(recs)-1]
		res, err := tx.ExecContext(ctx, "INSERT INTO place VALUES (?, 0) ON CONFLICT DO NOTHING", string(last.Value))
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err
		}
		for _, rec := range recs {
			if _, err := tx.ExecContext(ctx, "INSERT INTO seen VALUES (CAST(? AS INTEGER), 0)", string(rec.Value)); err != nil {
				return err
			}
		}
		return nil
	})
}
`},
		{name: "batch/an error for the second", entry: "batch", kind: verdict.Stuck, phase: "happy-path", says: "The last error of HandleBatch: no", files: `
func HandleBatch(ctx context.Context, db *sql.DB, recs []*kgo.Record) error {
	if len(recs) > 1 {
		return errors.New("no")
	}
	return nil
}
`},
		{name: "offsets/in the transaction", entry: "offsets", coverage: "rewind", files: startAtPlace + handleAndMove},
		{name: "offsets/in a variable", entry: "offsets", kind: verdict.Duplicate, phase: "redelivery", files: `
var next int64

func StartOffset(context.Context, *sql.DB, string, int32) (int64, error) { return next, nil }

func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	if _, err := db.ExecContext(ctx, "INSERT INTO seen VALUES (CAST(? AS INTEGER), 0)", string(rec.Value)); err != nil {
		return err
	}
	next = rec.Offset + 1
	return nil
}
`},
		{name: "offsets/behind the end", entry: "offsets", kind: verdict.Lost, phase: "happy-path", says: "OFFSET_OUT_OF_RANGE", files: `
func StartOffset(context.Context, *sql.DB, string, int32) (int64, error) { return 100, nil }
` + handleOnce},
		{name: "offsets/the end", entry: "offsets", kind: verdict.Lost, phase: "happy-path", says: "takes it for the end", files: `
func StartOffset(context.Context, *sql.DB, string, int32) (int64, error) { return -1, nil }
` + handleOnce},
		{name: "offsets/no answer", entry: "offsets", kind: verdict.Stuck, phase: "happy-path", says: "StartOffset for in/0 was called 5 times", files: `
func StartOffset(context.Context, *sql.DB, string, int32) (int64, error) { return 0, errors.New("no") }
` + handleOnce},
		{name: "relay/sends and marks", entry: "relay", coverage: "cluster", files: handleOnce + `
func Relay(ctx context.Context, db *sql.DB, cl *kgo.Client) error {
	var n string
	err := db.QueryRowContext(ctx, "SELECT n FROM seen WHERE at = 0 LIMIT 1").Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "out", Value: []byte(n)}).FirstErr(); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "UPDATE seen SET at = 1 WHERE n = CAST(? AS INTEGER)", n)
	return err
}
`},
		{name: "relay/marks and sends", entry: "relay", kind: verdict.Lost, phase: "crash-points", says: "before the produce to out", files: handleOnce + `
func Relay(ctx context.Context, db *sql.DB, cl *kgo.Client) error {
	var n string
	err := db.QueryRowContext(ctx, "UPDATE seen SET at = 1 WHERE n = (SELECT n FROM seen WHERE at = 0 LIMIT 1) RETURNING n").Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return cl.ProduceSync(ctx, &kgo.Record{Topic: "out", Value: []byte(n)}).FirstErr()
}
`},
		{name: "relay/never marks", entry: "relay", kind: verdict.Stuck, phase: "happy-path", says: "does not come to rest", files: handleOnce + `
func Relay(ctx context.Context, db *sql.DB, cl *kgo.Client) error {
	return cl.ProduceSync(ctx, &kgo.Record{Topic: "out", Value: []byte("1")}).FirstErr()
}
`},
		{name: "kafka/waits for the answer", entry: "handler+kafka", files: `
func Handle(ctx context.Context, db *sql.DB, cl *kgo.Client, rec *kgo.Record) error {
	return cl.ProduceSync(ctx, &kgo.Record{Topic: "out", Value: rec.Value}).FirstErr()
}
`},
		{name: "kafka/does not look at the answer", entry: "handler+kafka", kind: verdict.Lost, phase: "transient-errors", says: "is missing", files: `
func Handle(ctx context.Context, db *sql.DB, cl *kgo.Client, rec *kgo.Record) error {
	cl.ProduceSync(ctx, &kgo.Record{Topic: "out", Value: rec.Value})
	return nil
}
`},
		{name: "kafka/does not wait", entry: "handler+kafka", kind: verdict.Leaked, phase: "happy-path", says: "the produce to out", files: `
func Handle(ctx context.Context, db *sql.DB, cl *kgo.Client, rec *kgo.Record) error {
	cl.Produce(ctx, &kgo.Record{Topic: "out", Value: rec.Value}, nil)
	return nil
}
`},
	}
}
