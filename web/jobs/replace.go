package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"redeliver/web/store"
	"redeliver/web/store/db"
)

// unfinished is the submission of the same browser and exercise that waits or runs,
// or nil.
func (in *intake) unfinished(ctx context.Context) (*db.UnfinishedSubmissionRow, error) {
	row, err := in.queries.UnfinishedSubmission(ctx, db.UnfinishedSubmissionParams{BrowserID: in.browser, Exercise: in.Exercise})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find unfinished submission: %w", err)
	}
	return &row, nil
}

// replace ends the older submission: nobody waits for its verdict any more. Its job
// is left in the queue, for enqueue to take over, when it has not begun; otherwise it
// is told to end.
func (in *intake) replace(ctx context.Context, old *db.UnfinishedSubmissionRow) error {
	err := in.queries.ReplaceSubmission(ctx, db.ReplaceSubmissionParams{ID: old.ID, ReplacedAt: sql.NullInt64{Int64: in.now.UnixMilli(), Valid: true}})
	if err != nil {
		return fmt.Errorf("replace submission %d: %w", old.ID, err)
	}
	return nil
}

// takeOver gives the job of the replaced submission to the new one, with its place:
// who corrects a text that waits does not wait anew, and gains nothing by it when
// waiting stops a clock. It is false when that job runs or is gone.
func (in *intake) takeOver(ctx context.Context, job, id int64) (bool, error) {
	args, err := json.Marshal(gradeArgs{SubmissionID: id})
	if err != nil {
		return false, fmt.Errorf("encode job: %w", err)
	}
	encoded := "jsonb($1)"
	if in.q.st.Dialect == store.Postgres {
		encoded = "$1::jsonb"
	}
	// River's table is not in our schema, so this query is not generated.
	res, err := in.tx.ExecContext(ctx, `UPDATE river_job SET args = `+encoded+`, attempt = 0
		WHERE id = $2 AND state IN ('available', 'pending', 'retryable', 'scheduled')`, string(args), job)
	if err != nil {
		return false, fmt.Errorf("take over job %d: %w", job, err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
