package jobs

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	"redeliver/web/store"
)

// Everything that depends on which database is in use stands in this file.

// openDriver returns River's driver and, on PostgreSQL, the pool whose one
// connection listens for new jobs: without it a job waits for the next poll.
func openDriver(ctx context.Context, st *store.Store) (riverdriver.Driver[*sql.Tx], *pgxpool.Pool, error) {
	if st.Dialect == store.SQLite {
		return riversqlite.New(st.Write), nil, nil
	}
	cfg, err := pgxpool.ParseConfig(st.URL)
	if err != nil {
		return nil, nil, err
	}
	cfg.MinConns, cfg.MaxConns = 0, 1
	listener, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	return riverdatabasesql.NewWithPgxListener(st.Write, listener), listener, nil
}

// completeTx marks the job completed inside tx.
func completeTx[T river.JobArgs](ctx context.Context, d store.Dialect, tx *sql.Tx, job *river.Job[T]) (err error) {
	if d == store.SQLite {
		_, err = river.JobCompleteTx[*riversqlite.Driver](ctx, tx, job)
	} else {
		_, err = river.JobCompleteTx[*riverdatabasesql.Driver](ctx, tx, job)
	}
	if err != nil {
		return fmt.Errorf("complete job %d: %w", job.ID, err)
	}
	return nil
}

// Migrate brings our tables and River's up to date. Several servers may call it
// at once.
func Migrate(ctx context.Context, st *store.Store) error {
	return st.Migrate(ctx, func(ctx context.Context) error {
		var driver riverdriver.Driver[*sql.Tx] = riversqlite.New(st.Write)
		if st.Dialect == store.Postgres {
			driver = riverdatabasesql.New(st.Write)
		}
		m, err := rivermigrate.New(driver, nil)
		if err != nil {
			return fmt.Errorf("migrate jobs: %w", err)
		}
		if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return fmt.Errorf("migrate jobs: %w", err)
		}
		return nil
	})
}

// reclaim returns the jobs of a killed process to the queue. River does so too,
// but only after RescueStuckJobsAfter. The attempt stays counted: a submission
// that kills the process every time ends up discarded.
//
// For SQLite alone, which one process owns. On PostgreSQL another worker may be
// running these jobs.
func reclaim(ctx context.Context, write *sql.DB) error {
	_, err := write.ExecContext(ctx, `
		UPDATE river_job SET
		  state = CASE WHEN attempt < max_attempts THEN 'available' ELSE 'discarded' END,
		  finalized_at = CASE WHEN attempt < max_attempts THEN NULL ELSE datetime('now', 'subsec') END
		WHERE state = 'running'`)
	if err != nil {
		return fmt.Errorf("reclaim jobs: %w", err)
	}
	return nil
}
