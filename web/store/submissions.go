package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"redeliver/grader/verdict"
	"redeliver/web/store/db"
)

// State says how far a submission is.
type State string

// The states of a submission.
const (
	Queued State = "queued" // waits or runs
	Graded State = "graded" // has a verdict
	// Replaced is one that a newer one of the same browser took the place of.
	Replaced State = "replaced"
)

// Submission is what one browser handed in once.
type Submission struct {
	ID       int64  // key inside the database, never shown
	PublicID string // unguessable; stands in addresses
	Exercise string // pack/slug
	// ExerciseVersion is what was handed in for, and then what was judged.
	ExerciseVersion string
	Seed            int64
	Files           []File
	State           State
	Attempt         int // of the grading, from 1; 0 before the first
	// Verdict is nil while State is Queued.
	Verdict   *verdict.Verdict
	CreatedAt time.Time
	// StartedAt and FinishedAt are zero before that happened.
	StartedAt  time.Time
	FinishedAt time.Time
}

// NotGraded stands for the outcome of a submission that was replaced.
const NotGraded verdict.Outcome = "replaced"

// Outcome is that of the verdict: empty while State is Queued, NotGraded when it is
// Replaced.
func (s Submission) Outcome() verdict.Outcome {
	switch {
	case s.State == Replaced:
		return NotGraded
	case s.Verdict == nil:
		return ""
	default:
		return s.Verdict.Outcome
	}
}

// SubmissionInfo is one line of a list of submissions.
type SubmissionInfo struct {
	PublicID  string
	Exercise  string
	State     State
	Outcome   verdict.Outcome // empty while State is Queued, NotGraded when it is Replaced
	CreatedAt time.Time
	// StartedAt and FinishedAt are zero before that happened.
	StartedAt  time.Time
	FinishedAt time.Time
	// WaitedUntil is when it had waited for us; zero while it waits or runs.
	WaitedUntil time.Time
}

// Submission returns the submission with the given public id if this browser
// made it; otherwise, as for an unknown id, ErrNotFound.
func (s *Store) Submission(ctx context.Context, b Browser, publicID string) (Submission, error) {
	row, err := s.reading(ctx).GetOwnSubmission(ctx, db.GetOwnSubmissionParams{PublicID: publicID, TokenHash: string(b)})
	if err != nil {
		return Submission{}, orNotFound("find submission", err)
	}
	return submissionOf(row)
}

// SubmissionByID returns a submission by its key, for the worker that grades it.
func (s *Store) SubmissionByID(ctx context.Context, id int64) (Submission, error) {
	row, err := s.reading(ctx).GetSubmission(ctx, id)
	if err != nil {
		return Submission{}, orNotFound("find submission", err)
	}
	return submissionOf(row)
}

// Submissions lists what a browser handed in, the newest first; for all
// exercises if exercise is empty.
func (s *Store) Submissions(ctx context.Context, b Browser, exercise string, limit int) ([]SubmissionInfo, error) {
	rows, err := s.reading(ctx).ListOwnSubmissions(ctx, db.ListOwnSubmissionsParams{
		TokenHash: string(b), Exercise: exercise, MaxRows: int32(limit),
	})
	if err != nil {
		return nil, fmt.Errorf("list submissions: %w", err)
	}
	list := make([]SubmissionInfo, 0, len(rows))
	for _, r := range rows {
		if r.ReplacedAt.Valid {
			r.Outcome = string(NotGraded)
		}
		list = append(list, SubmissionInfo{
			PublicID: r.PublicID, Exercise: r.Exercise, State: stateOf(r.State, r.ReplacedAt),
			Outcome: verdict.Outcome(r.Outcome), CreatedAt: time.UnixMilli(r.CreatedAt),
			StartedAt: timeOf(r.StartedAt), FinishedAt: timeOf(r.FinishedAt), WaitedUntil: timeOf(r.WaitedUntil),
		})
	}
	return list, nil
}

// WaitingBefore counts the submissions that will be graded before this one.
func (s *Store) WaitingBefore(ctx context.Context, id int64) (int, error) {
	n, err := s.reading(ctx).CountWaitingBefore(ctx, id)
	if err != nil {
		return 0, fmt.Errorf("count waiting submissions: %w", err)
	}
	return int(n), nil
}

// Newer returns the public id of what the same browser handed in next for the same
// exercise, or ErrNotFound.
func (s *Store) Newer(ctx context.Context, id int64) (string, error) {
	publicID, err := s.reading(ctx).NextSubmission(ctx, id)
	if err != nil {
		return "", orNotFound("find newer submission", err)
	}
	return publicID, nil
}

// FinishTx stores a verdict, unless the submission has one, and what it says about
// the browser's practice. It reports whether it did.
func FinishTx(ctx context.Context, q *db.Queries, id int64, v verdict.Verdict, now time.Time) (bool, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return false, fmt.Errorf("encode verdict: %w", err)
	}
	// Before the submission: who forgets a browser locks the two in this order.
	if err := q.LockBrowserOf(ctx, id); err != nil {
		return false, fmt.Errorf("store verdict of submission %d: %w", id, err)
	}
	sub, err := q.FinishSubmission(ctx, db.FinishSubmissionParams{
		ID: id, Outcome: string(v.Outcome), Verdict: string(text), ExerciseVersion: v.ExerciseVersion,
		Engine: v.Engine, FinishedAt: sql.NullInt64{Int64: now.UnixMilli(), Valid: true},
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		err = notePractice(ctx, q, sub, v, now)
	}
	if err != nil {
		return false, fmt.Errorf("store verdict of submission %d: %w", id, err)
	}
	return true, nil
}

// ReplaceVerdictTx stores another verdict for a submission that has one. A pass
// counts for the browser's practice; mistakes were counted when they were made.
func ReplaceVerdictTx(ctx context.Context, q *db.Queries, id int64, v verdict.Verdict, now time.Time) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode verdict: %w", err)
	}
	if err := q.LockBrowserOf(ctx, id); err != nil {
		return fmt.Errorf("replace verdict of submission %d: %w", id, err)
	}
	row, err := q.ReplaceVerdict(ctx, db.ReplaceVerdictParams{
		ID: id, Outcome: string(v.Outcome), Verdict: string(text), ExerciseVersion: v.ExerciseVersion, Engine: v.Engine,
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil // forgotten meanwhile
	}
	if err == nil && v.Outcome == verdict.Passed {
		at := now.UnixMilli()
		err = q.MergePractised(ctx, db.MergePractisedParams{
			BrowserID: row.BrowserID, Exercise: row.Exercise, TriedAt: at, PassedAt: sql.NullInt64{Int64: at, Valid: true},
		})
	}
	if err != nil {
		return fmt.Errorf("replace verdict of submission %d: %w", id, err)
	}
	return nil
}

// DecodeVerdict reads the column "verdict".
func DecodeVerdict(column string) (verdict.Verdict, error) {
	var v verdict.Verdict
	if err := json.Unmarshal([]byte(column), &v); err != nil {
		return verdict.Verdict{}, fmt.Errorf("decode verdict: %w", err)
	}
	return v, nil
}

func submissionOf(row db.Submission) (Submission, error) {
	files, err := DecodeFiles(row.Files)
	if err != nil {
		return Submission{}, fmt.Errorf("read submission %d: %w", row.ID, err)
	}
	sub := Submission{
		ID: row.ID, PublicID: row.PublicID, Exercise: row.Exercise,
		ExerciseVersion: row.ExerciseVersion, Seed: row.Seed, Files: files, State: stateOf(row.State, row.ReplacedAt), Attempt: int(row.Attempt), CreatedAt: time.UnixMilli(row.CreatedAt),
		StartedAt: timeOf(row.StartedAt), FinishedAt: timeOf(row.FinishedAt),
	}
	if sub.State == Graded {
		v, err := DecodeVerdict(row.Verdict)
		if err != nil {
			return Submission{}, fmt.Errorf("read submission %d: %w", row.ID, err)
		}
		sub.Verdict = &v
	}
	return sub, nil
}

func stateOf(column string, replaced sql.NullInt64) State {
	if replaced.Valid {
		return Replaced
	}
	return State(column)
}

func timeOf(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64)
}
