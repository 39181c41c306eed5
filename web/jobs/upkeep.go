package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river"

	"redeliver/web/store/db"
)

// upkeepQueue is a queue of its own, so that upkeep does not wait for gradings.
const upkeepQueue = "upkeep"

type upkeepArgs struct{}

// Kind names the job in the database.
func (upkeepArgs) Kind() string { return "upkeep" }

// InsertOpts keeps the job out of the queue of the gradings. It is not repeated:
// the next one comes in a minute.
func (upkeepArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: upkeepQueue, MaxAttempts: 1}
}

type upkeepWorker struct {
	river.WorkerDefaults[upkeepArgs]
	q *Queue
}

// Work does what no request and no grading does.
func (w *upkeepWorker) Work(ctx context.Context, _ *river.Job[upkeepArgs]) error {
	return errors.Join(w.q.reconcile(ctx), w.q.reconcileDeliveries(ctx), w.q.endSittings(ctx), w.q.forgetPast(ctx), w.q.forget(ctx),
		w.q.st.ForgetAccess(ctx, w.q.cfg.Now()))
}

// reconcile ends the submissions that no job will end: when River discards a
// job after a crash, no code of ours runs.
func (q *Queue) reconcile(ctx context.Context) error {
	lost, err := q.withoutJob(ctx)
	if err != nil {
		return err
	}
	for _, id := range lost {
		sub, err := q.st.SubmissionByID(ctx, id)
		if err != nil {
			return err
		}
		err = q.st.InTx(ctx, func(tx *sql.Tx, queries *db.Queries) error {
			return q.finishTx(ctx, tx, queries, id, gaveUp(sub), q.cfg.Now())
		})
		if err != nil {
			return err
		}
		q.cfg.Log.ErrorContext(ctx, "grading was given up", slog.Int64("submission", id), slog.String("exercise", sub.Exercise))
		q.watch.notify(id)
	}
	return nil
}

// withoutJob lists the queued submissions whose job is gone or has ended.
func (q *Queue) withoutJob(ctx context.Context) ([]int64, error) {
	ids, err := q.ids(ctx, `
		SELECT s.id FROM submissions s
		WHERE s.state = 'queued' AND s.replaced_at IS NULL AND NOT EXISTS (
		  SELECT 1 FROM river_job j
		  WHERE j.id = s.job_id AND j.state NOT IN ('discarded', 'cancelled', 'completed'))`)
	if err != nil {
		return nil, fmt.Errorf("find submissions without a job: %w", err)
	}
	return ids, nil
}

// ids lists what a query about River's table finds. That table is not in our schema, so
// such a query is not generated.
func (q *Queue) ids(ctx context.Context, query string) (ids []int64, err error) {
	rows, err := q.st.Read.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// forget deletes what was written by browsers that have long been silent.
func (q *Queue) forget(ctx context.Context) error {
	n, err := q.st.ForgetBrowsers(ctx, q.cfg.Now().Add(-q.cfg.KeepBrowsers))
	if err != nil {
		return err
	}
	if n > 0 {
		q.cfg.Log.InfoContext(ctx, "forgot silent browsers", slog.Int64("browsers", n))
	}
	return nil
}
