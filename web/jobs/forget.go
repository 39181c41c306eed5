package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/riverqueue/river/rivertype"

	"redeliver/web/store"
	"redeliver/web/store/db"
)

// Forget deletes a browser with everything that it wrote and the jobs for it. A
// grading that is under way is told to end, in whichever process; its job, which
// holds a number and nothing else, is deleted by River a day later.
func (q *Queue) Forget(ctx context.Context, b store.Browser) error {
	return q.delete(ctx, func(queries *db.Queries) ([]store.Job, error) { return store.ForgetTx(ctx, queries, b) })
}

// delete runs what deletes rows, and then deletes the jobs that were for them.
func (q *Queue) delete(ctx context.Context, rows func(*db.Queries) ([]store.Job, error)) error {
	var jobs []store.Job
	err := q.st.InTx(ctx, func(tx *sql.Tx, queries *db.Queries) (err error) {
		if jobs, err = rows(queries); err != nil {
			return err
		}
		for _, job := range jobs {
			if err := q.deleteJob(ctx, tx, job.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forget: %w", err)
	}
	for _, job := range jobs {
		q.watch.notify(job.Submission)
	}
	return nil
}

// deleteJob deletes a job, or tells it to end when it runs.
func (q *Queue) deleteJob(ctx context.Context, tx *sql.Tx, id int64) error {
	_, err := q.client.JobDeleteTx(ctx, tx, id)
	if errors.Is(err, rivertype.ErrJobRunning) {
		_, err = q.client.JobCancelTx(ctx, tx, id)
	}
	if err != nil && !errors.Is(err, rivertype.ErrNotFound) { // River deletes old ones itself
		return fmt.Errorf("delete job %d: %w", id, err)
	}
	return nil
}
