package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"redeliver/web/store"
)

// Copy copies a SQLite database that no process uses into an empty PostgreSQL
// one: all rows, and the jobs that wait. It returns the rows of each table.
func Copy(ctx context.Context, from, to *store.Store) (map[string]int64, error) {
	// The source too: the tables of both must be those of this version.
	for _, st := range []*store.Store{from, to} {
		if err := Migrate(ctx, st); err != nil {
			return nil, err
		}
	}
	waiting, err := waitingJobs(ctx, from.Read)
	if err != nil {
		return nil, err
	}
	counts, err := from.CopyTo(ctx, to, func(ctx context.Context, tx *sql.Tx) error {
		for _, j := range waiting {
			_, err := tx.ExecContext(ctx, `
				INSERT INTO river_job (id, kind, queue, args, attempt, max_attempts, priority, state, scheduled_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, 'available', to_timestamp($8::double precision))`,
				j.id, j.kind, j.queue, j.args, j.attempt, j.maxAttempts, j.priority, j.scheduledAt)
			if err != nil {
				return fmt.Errorf("copy job %d: %w", j.id, err)
			}
		}
		_, err := tx.ExecContext(ctx, "SELECT setval(pg_get_serial_sequence('river_job', 'id'), greatest(max(id), 1), max(id) IS NOT NULL) FROM river_job")
		return err
	})
	if err != nil {
		return nil, err
	}
	counts["river_job"] = int64(len(waiting))
	return counts, nil
}

// waitingJob is a job that has to run in the other database.
type waitingJob struct {
	id, attempt, maxAttempts, priority int64
	kind, queue, args                  string
	scheduledAt                        float64 // seconds since 1970
}

// waitingJobs lists the jobs that have not ended. Upkeep comes again by itself.
func waitingJobs(ctx context.Context, read *sql.DB) (jobs []waitingJob, err error) {
	rows, err := read.QueryContext(ctx, `
		SELECT id, kind, queue, json(args), attempt, max_attempts, priority, unixepoch(scheduled_at, 'subsec')
		FROM river_job WHERE finalized_at IS NULL AND queue <> $1 ORDER BY id`, upkeepQueue)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var j waitingJob
		if err := rows.Scan(&j.id, &j.kind, &j.queue, &j.args, &j.attempt, &j.maxAttempts, &j.priority, &j.scheduledAt); err != nil {
			return nil, fmt.Errorf("list jobs: %w", err)
		}
		jobs = append(jobs, j)
	}
	return jobs, rows.Err()
}
