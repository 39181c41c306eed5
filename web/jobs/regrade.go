package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/db"
)

// lowestPriority is River's; a job has 1 unless it says otherwise.
const lowestPriority = 4

// regradeArgs ask to judge again what has a verdict.
type regradeArgs struct {
	SubmissionID int64 `json:"submission_id" river:"unique"`
}

// Kind names the job in the database.
func (regradeArgs) Kind() string { return "regrade" }

// InsertOpts puts the job behind every submission: somebody waits for those.
func (regradeArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{
		MaxAttempts: maxAttempts, Priority: lowestPriority,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
			rivertype.JobStateRunning, rivertype.JobStateScheduled,
		}},
	}
}

// Regrading says what Regrade did.
type Regrading struct {
	Queued int // submissions that wait to be judged again, now or already before
	Gone   int // submissions whose exercise is not installed
}

// Regrade lets workers judge again what was judged by another version of its
// exercise or another engine and, with all, everything; exercises, when there are
// any, bound it. version tells the version of an installed exercise.
func (q *Queue) Regrade(ctx context.Context, exercises []string, all bool, version func(exercise string) (string, bool)) (r Regrading, err error) {
	for sub, err := range q.st.Graded(ctx) {
		if err != nil {
			return r, fmt.Errorf("regrade: %w", err)
		}
		if len(exercises) > 0 && !slices.Contains(exercises, sub.Exercise) {
			continue
		}
		now, installed := version(sub.Exercise)
		switch {
		case !installed:
			r.Gone++
			continue
		case !all && sub.ExerciseVersion == now && sub.Verdict.Engine == verdict.Engine:
			continue
		}
		if _, err := q.client.Insert(ctx, regradeArgs{SubmissionID: sub.ID}, nil); err != nil {
			return r, fmt.Errorf("regrade submission %d: %w", sub.ID, err)
		}
		r.Queued++
	}
	return r, nil
}

type regradeWorker struct {
	river.WorkerDefaults[regradeArgs]
	q *Queue
}

// NextRetry repeats at once, as for a submission.
func (w *regradeWorker) NextRetry(*river.Job[regradeArgs]) time.Time { return time.Now() }

// Work replaces a verdict by a new one. What we cannot find out leaves the old one.
func (w *regradeWorker) Work(ctx context.Context, job *river.Job[regradeArgs]) error {
	sub, err := w.q.st.SubmissionByID(ctx, job.Args.SubmissionID)
	if errors.Is(err, store.ErrNotFound) || err == nil && sub.State != store.Graded {
		return river.JobCancel(fmt.Errorf("submission %d has no verdict", job.Args.SubmissionID))
	}
	if err != nil {
		return err
	}
	v, err := w.q.grader.Grade(ctx, requestOf(sub), func(Progress) {})
	if err == nil && v.Outcome == verdict.Inconclusive {
		err = fmt.Errorf("%w: %s", errInconclusive, v.Summary)
	}
	if err != nil {
		w.q.metrics.failures.Inc()
		return fmt.Errorf("regrade submission %d: %w", sub.ID, err)
	}
	// The wait was the candidate's, for the first verdict.
	v.Timings.Queue = sub.Verdict.Timings.Queue
	err = w.q.st.InTx(ctx, func(tx *sql.Tx, queries *db.Queries) error {
		if err := store.ReplaceVerdictTx(ctx, queries, sub.ID, v, w.q.cfg.Now()); err != nil {
			return err
		}
		return completeTx(ctx, w.q.st.Dialect, tx, job)
	})
	if err != nil {
		return err
	}
	w.q.metrics.graded(v)
	w.q.cfg.Log.InfoContext(ctx, "judged again", slog.Int64("submission", sub.ID), slog.String("exercise", sub.Exercise),
		slog.String("was", string(sub.Verdict.Outcome)), slog.String("is", string(v.Outcome)),
		slog.String("was_version", sub.ExerciseVersion), slog.String("is_version", v.ExerciseVersion))
	w.q.watch.notify(sub.ID)
	return nil
}
