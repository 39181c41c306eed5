package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"redeliver/exercises"
	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/db"
)

// gradeArgs are stored with the job. That a browser has one unfinished grading
// for an exercise is kept by the table of submissions, not by River's
// uniqueness: the answer needs the address of the earlier one anyway.
type gradeArgs struct {
	SubmissionID int64 `json:"submission_id"`
}

// Kind names the job in the database.
func (gradeArgs) Kind() string { return "grade" }

// InsertOpts bounds the attempts.
func (gradeArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: maxAttempts} }

var errInconclusive = errors.New("the grading was inconclusive")

type gradeWorker struct {
	river.WorkerDefaults[gradeArgs]
	q *Queue
}

// NextRetry repeats at once: only our own failures are repeated, and the
// candidate is waiting. maxAttempts bounds them.
func (w *gradeWorker) NextRetry(*river.Job[gradeArgs]) time.Time { return time.Now() }

// Work grades outside any transaction, then stores the verdict and completes
// the job in one. A process that dies in between grades again, to the same end.
func (w *gradeWorker) Work(ctx context.Context, job *river.Job[gradeArgs]) error {
	id := job.Args.SubmissionID
	sub, err := w.q.st.SubmissionByID(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return river.JobCancel(err) // deleted while it waited; nobody wants it
	}
	if err != nil {
		return err
	}
	if err := w.begin(ctx, sub, job.Attempt); err != nil {
		return err
	}
	defer w.q.watch.notify(id)
	w.q.metrics.running.Inc()
	defer w.q.metrics.running.Dec()
	v, err := w.judge(ctx, sub, job.Attempt >= job.MaxAttempts)
	if err != nil {
		return err
	}
	return w.finish(ctx, sub, v, job)
}

func (w *gradeWorker) begin(ctx context.Context, sub store.Submission, attempt int) error {
	now := w.q.cfg.Now()
	n, err := db.New(w.q.st.Write).StartSubmission(ctx, db.StartSubmissionParams{
		ID: sub.ID, Attempt: int64(attempt), StartedAt: sql.NullInt64{Int64: now.UnixMilli(), Valid: true},
	})
	if err != nil {
		return fmt.Errorf("start submission %d: %w", sub.ID, err)
	}
	if n == 0 {
		return river.JobCancel(fmt.Errorf("submission %d is %s", sub.ID, sub.State)) // or was replaced this moment
	}
	stage := StageStarted
	if attempt > 1 {
		stage = StageAgain
	}
	text, err := encodeProgress(Progress{Stage: stage})
	if err != nil {
		return err
	}
	if _, err := w.q.st.RestartSteps(ctx, sub.ID, text, now); err != nil {
		return err
	}
	w.q.watch.notify(sub.ID)
	return nil
}

// judge returns a verdict to store, or an error to try again. After the last
// attempt it is a verdict in any case, except when the process is stopping.
func (w *gradeWorker) judge(ctx context.Context, sub store.Submission, last bool) (verdict.Verdict, error) {
	started := w.q.cfg.Now()
	v, err := w.q.grader.Grade(ctx, requestOf(sub), func(p Progress) { w.report(ctx, sub.ID, p) })
	if err == nil && v.Outcome != verdict.Inconclusive {
		v.Timings.Queue = started.Sub(sub.CreatedAt).Milliseconds()
		return v, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return verdict.Verdict{}, fmt.Errorf("grade submission %d: %w", sub.ID, ctx.Err())
	}
	w.q.metrics.failures.Inc()
	if err == nil {
		err = fmt.Errorf("%w: %s", errInconclusive, v.Summary)
	}
	w.q.cfg.Log.ErrorContext(ctx, "grading has no result", slog.Int64("submission", sub.ID),
		slog.String("exercise", sub.Exercise), slog.Bool("last_attempt", last), slog.Any("error", err))
	switch {
	case !last:
		return verdict.Verdict{}, fmt.Errorf("grade submission %d: %w", sub.ID, err)
	case errors.Is(err, errInconclusive):
		return v, nil
	default:
		return gaveUp(sub), nil
	}
}

// requestOf asks for the verdict of a submission.
func requestOf(sub store.Submission) Request {
	files := make([]exercises.File, 0, len(sub.Files))
	for _, f := range sub.Files {
		files = append(files, exercises.File(f))
	}
	return Request{Exercise: sub.Exercise, Files: files, Seed: sub.Seed}
}

// report stores a step. A step that cannot be stored is no reason to lose the
// grading: the page then knows less until the verdict is there.
func (w *gradeWorker) report(ctx context.Context, id int64, p Progress) {
	text, err := encodeProgress(p)
	if err == nil {
		_, err = w.q.st.AddStep(ctx, id, text, w.q.cfg.Now())
	}
	if err != nil {
		w.q.cfg.Log.WarnContext(ctx, "store step", slog.Int64("submission", id), slog.Any("error", err))
		return
	}
	w.q.watch.notify(id)
}

// finish also works while the process is stopping: the result is there, and
// throwing it away would only mean to find it again.
func (w *gradeWorker) finish(ctx context.Context, sub store.Submission, v verdict.Verdict, job *river.Job[gradeArgs]) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := w.q.st.InTx(ctx, func(tx *sql.Tx, queries *db.Queries) error {
		if err := w.q.finishTx(ctx, tx, queries, sub.ID, v, w.q.cfg.Now()); err != nil {
			return err
		}
		return completeTx(ctx, w.q.st.Dialect, tx, job)
	})
	if err == nil {
		w.q.metrics.graded(v)
	}
	return err
}

// gaveUp is the verdict of a submission that we could not grade.
func gaveUp(sub store.Submission) verdict.Verdict {
	return verdict.Verdict{
		Exercise: sub.Exercise, ExerciseVersion: sub.ExerciseVersion, Engine: verdict.Engine,
		Outcome: verdict.Inconclusive,
		Summary: fmt.Sprintf("The grader ended %d times without a result. The fault is ours, not the submission's; hand it in again later.",
			maxAttempts),
		Findings: []verdict.Finding{}, Coverage: []verdict.Coverage{},
	}
}

func encodeProgress(p Progress) (string, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode progress: %w", err)
	}
	return string(b), nil
}

// DecodeProgress reads the data of a store.Step that a worker wrote.
func DecodeProgress(data string) (Progress, error) {
	var p Progress
	if err := json.Unmarshal([]byte(data), &p); err != nil {
		return Progress{}, fmt.Errorf("decode progress: %w", err)
	}
	return p, nil
}
