package grader

import (
	"context"
	"fmt"

	"redeliver/grader/ledger"
	"redeliver/grader/verdict"
)

// databases lists what the schedules of an exercise run against.
func (s *submission) databases() []string {
	if len(s.exercise.Databases) > 0 {
		return s.exercise.Databases
	}
	return []string{verdict.SQLite}
}

// base is one database, with what the harness keeps of its past.
type base struct {
	ledger    *ledger.Ledger
	histories *histories
}

// open makes a database with the tables of the exercise.
func (w *world) open(ctx context.Context, name string) error {
	var b base
	var err error
	switch name {
	case verdict.SQLite:
		b.ledger, err = ledger.Open(ctx, w.sub.cfg.Dir, ledger.Limits{}, w.clock.Now)
	case verdict.ReadCommitted:
		b.ledger, err = ledger.OpenReadCommitted(ctx, ledger.Limits{}, w.clock.Now)
	default:
		err = fmt.Errorf("there is no database %q", name)
	}
	if err != nil {
		return err
	}
	w.bases[name] = b
	if err := b.ledger.Prepare(ctx, w.sub.schema, setupStatements(w.sub)); err != nil {
		return err
	}
	b.histories, err = newHistories(ctx, b.ledger, w.sub)
	w.bases[name] = b
	return err
}

// use makes a database the one of the next schedule.
func (w *world) use(name string) error {
	b, ok := w.bases[name]
	if !ok {
		return fmt.Errorf("the exercise has no database %q", name)
	}
	w.base = b
	return nil
}
