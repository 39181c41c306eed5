package grader

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"

	"redeliver/exercises"
	"redeliver/grader/build/buildtest"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

// maxExhaustive is the largest number of effects of two instances whose
// interleavings are all tried: 12 over 6 is 924 runs.
const maxExhaustive = 11

// fewCalls are handlers with so few calls that all their interleavings can be
// tried in seconds. With -whole every handler of the packs is looked at.
func fewCalls() []string {
	return []string{
		"starter", "account-as-key", "charge-forgotten", "debit-forgotten", "marker-in-a-goroutine", "no-transaction",
		"panic-for-a-copy",
		"two-transactions", "conflict-ignored", "lock-row", "pins",
	}
}

// pins is a handler that tells SQLITE_BUSY_SNAPSHOT from SQLITE_BUSY. Its first
// read pins what its transaction sees, and it reads a table that nobody writes: if
// the other instance commits after that read, the write is refused with 517, and
// only that order leaves the row that says so. A search that forgets the pin finds
// no reason to try it.
const pins = `package handler

import (
	"context"
	"database/sql"
	"errors"

	"github.com/twmb/franz-go/pkg/kgo"
	"modernc.org/sqlite"
)

func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM accounts").Scan(&n); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO processed_events VALUES ('done', '')")
	if err == nil {
		return tx.Commit()
	}
	tx.Rollback()
	var refused *sqlite.Error
	if errors.As(err, &refused) && refused.Code() == 517 {
		_, err := db.ExecContext(ctx, "INSERT INTO processed_events VALUES ('snapshot', '')")
		return err
	}
	return nil
}
`

// broken stands for a run that ended before its time, among the classes.
const broken = "broken"

// The search for interleavings finds every class that trying all of them finds,
// for real handlers on the real database. A dependency that is missed would drop
// classes silently; here it fails.
func TestSearchMissesNoClass(t *testing.T) {
	t.Parallel()
	catalog := exercises.Open(exercises.Builtin(), nil)
	compared, runs, searched := 0, 0, 0
	all := flag.Lookup("whole").Value.String() == "true"
	for _, name := range []string{"core/charge-once", "core/offset-is-not-a-key", "core/check-then-insert"} {
		e, ok := catalog.Exercise(name)
		if !ok {
			t.Fatalf("no exercise %s", name)
		}
		samples := slices.Concat([]exercises.Sample{{Name: "starter", Files: e.Starter}}, e.Solutions, e.Wrong)
		if e.Slug == "check-then-insert" {
			files := slices.DeleteFunc(slices.Clone(e.Starter), func(f exercises.File) bool { return f.Name == "handler.go" })
			samples = append(samples, exercises.Sample{Name: "pins", Files: append(files, exercises.File{Name: "handler.go", Content: []byte(pins)})})
		}
		for _, s := range samples {
			if !all && !slices.Contains(fewCalls(), s.Name) {
				continue
			}
			t.Run(e.Slug+"/"+s.Name, func(t *testing.T) {
				w := worldFor(t, e, s.Files)
				for _, database := range w.sub.databases() {
					for _, base := range interleavingBases(database) {
						tries, tried, ok := compareSearch(t, w, base)
						if !ok {
							continue
						}
						compared, runs, searched = compared+1, runs+tries, searched+tried
					}
				}
			})
		}
	}
	t.Logf("%d comparisons: %d runs instead of %d", compared, searched, runs)
	if compared < 4 {
		t.Errorf("only %d comparisons", compared)
	}
}

// compareSearch looks for classes with the search and by trying everything; ok is
// false when there is too much to try.
func compareSearch(t *testing.T, w *world, base schedule.Schedule) (tries, tried int, ok bool) {
	t.Helper()
	full, tries := exhaustive(t, w, base)
	if full == nil {
		return tries, 0, false
	}
	found, state := map[string]bool{}, ""
	schedule.Search(func(choose schedule.Choose) ([]schedule.Step, bool) {
		tried++
		r := mustRun(t, w, base, choose)
		if r.over() {
			found[broken] = true
		}
		state = stateOf(t, w)
		return r.lanes(), false
	}, func(steps []schedule.Step) { found[schedule.Class(steps)+state] = true })
	// A panic ends a run before its time, and with it what the search can
	// see of the classes behind it. The handler has failed by then.
	if full[broken] != found[broken] || !full[broken] && !maps.Equal(full, found) {
		t.Errorf("%s on %s: %d classes, the search found %d", base, base.Database, len(full), len(found))
	}
	return tries, tried, true
}

// stateOf is what the last run left in the database. It is part of a class: where
// two runs of one class leave different rows, a dependency is missing.
func stateOf(t *testing.T, w *world) string {
	t.Helper()
	state, err := w.state(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(" %x", state[:8])
}

// onBoth is the exercise with both databases, whatever it names.
func onBoth(e *exercises.Exercise) *exercises.Exercise {
	both := *e
	both.Databases = []string{verdict.SQLite, verdict.ReadCommitted}
	return &both
}

func worldFor(t *testing.T, e *exercises.Exercise, files []exercises.File) *world {
	t.Helper()
	g, err := New(Config{Dir: t.TempDir(), Workers: 1}, buildtest.Compiler(t))
	if err != nil {
		t.Fatal(err)
	}
	built, findings, err := g.compiler.Build(t.Context(), e.Signature(), files)
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	sub, err := g.load(t.Context(), Request{Exercise: e, Files: files, Seed: 1}, built.Wasm)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sub.close(); err != nil {
			t.Error(err)
		}
	})
	return sub.workers.all[0].world
}

func mustRun(t *testing.T, w *world, s schedule.Schedule, choose schedule.Choose) *result {
	t.Helper()
	r, err := w.run(t.Context(), s, options{choose: choose})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// exhaustive tries every interleaving and returns the classes; nil when a run
// has too many effects.
func exhaustive(t *testing.T, w *world, base schedule.Schedule) (classes map[string]bool, runs int) {
	t.Helper()
	classes = map[string]bool{}
	var choices []int
	var alternatives [][]int
	for {
		alternatives = alternatives[:len(choices)]
		r := mustRun(t, w, base, func(soFar []schedule.Step, enabled []int) int {
			if len(soFar) < len(choices) {
				return choices[len(soFar)]
			}
			choices, alternatives = append(choices, enabled[0]), append(alternatives, enabled[1:])
			return enabled[0]
		})
		steps := r.lanes()
		if len(steps) > maxExhaustive {
			return nil, runs
		}
		if r.over() {
			classes[broken] = true
		}
		classes[schedule.Class(steps)+stateOf(t, w)] = true
		runs++
		k := len(choices) - 1
		for k >= 0 && len(alternatives[k]) == 0 {
			k--
		}
		if k < 0 {
			return classes, runs
		}
		choices = append(choices[:k], alternatives[k][0])
		alternatives = append(alternatives[:k], alternatives[k][1:])
	}
}
