package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"redeliver/web/store/db"
)

// Step is one entry about how far a grading has come.
type Step struct {
	Number int64  // from 1, growing; gaps are possible
	Data   string // JSON, whose form the writer and the reader agree on
}

// AddStep appends a step to a submission and returns its number.
func (s *Store) AddStep(ctx context.Context, submission int64, data string, now time.Time) (int64, error) {
	return s.writeStep(ctx, submission, data, now, false)
}

// RestartSteps replaces the steps of an earlier attempt by one, whose number is
// above theirs: a stream that was interrupted in the first attempt goes on in
// the second.
func (s *Store) RestartSteps(ctx context.Context, submission int64, data string, now time.Time) (int64, error) {
	return s.writeStep(ctx, submission, data, now, true)
}

func (s *Store) writeStep(ctx context.Context, submission int64, data string, now time.Time, replace bool) (number int64, err error) {
	err = s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		last, err := q.LastStepNumber(ctx, submission)
		if err != nil {
			return err
		}
		if replace {
			if err := q.DeleteSteps(ctx, submission); err != nil {
				return err
			}
		}
		number = last + 1
		return q.AddStep(ctx, db.AddStepParams{
			SubmissionID: submission, Number: number, Step: data, CreatedAt: now.UnixMilli(),
		})
	})
	if err != nil {
		return 0, fmt.Errorf("write step of submission %d: %w", submission, err)
	}
	return number, nil
}

// Steps returns the steps of the current attempt in order.
func (s *Store) Steps(ctx context.Context, submission int64) ([]Step, error) {
	rows, err := s.reading(ctx).ListSteps(ctx, submission)
	if err != nil {
		return nil, fmt.Errorf("list steps of submission %d: %w", submission, err)
	}
	steps := make([]Step, 0, len(rows))
	for _, r := range rows {
		steps = append(steps, Step{Number: r.Number, Data: r.Step})
	}
	return steps, nil
}
