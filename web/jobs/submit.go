package jobs

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/db"
)

// The bounds on what is taken in, so that a stranger cannot fill the database.
const (
	MaxPerHour     = 60   // submissions of one browser
	MaxPerBrowser  = 200  // submissions that are kept; beyond it the oldest go
	MaxPerSitting  = 2000 // the same of a sitting
	MaxUnfinished  = 1000 // submissions of all browsers that wait or run
	submitInterval = time.Hour
)

// Seed draws the records of every submission of the site: the same source meets the
// same records, and so has the same verdict.
const Seed = 1

// Submission is what a browser hands in.
type Submission struct {
	Browser         store.Browser
	Exercise        string // pack/slug
	ExerciseVersion string
	Base            int64 // the draft version that the text started from
	Files           []store.File
	Seed            int64
	// Sample says that the text comes with the exercise: it is nobody's draft.
	Sample bool
}

// Answer says what became of a submission.
type Answer string

// The answers. The draft is saved with each of them, but for a sample.
const (
	Created   Answer = "created"    // stored, and waits for the grader
	Stored    Answer = "stored"     // the same source has a verdict
	Running   Answer = "running"    // an earlier one for this exercise is not finished
	TooMany   Answer = "too-many"   // MaxPerHour
	QueueFull Answer = "queue-full" // MaxUnfinished
)

// Receipt is the result of Submit. PublicID names the submission to look at; it
// is empty for TooMany and QueueFull.
type Receipt struct {
	Answer   Answer
	PublicID string
}

// Submit saves the draft and stores the submission with its job, all in one
// transaction. It returns a *store.ConflictError, and stores nothing, when the
// draft was changed elsewhere since version Base, and store.ErrEnded for a sitting
// that is over.
func (q *Queue) Submit(ctx context.Context, s Submission) (r Receipt, err error) {
	now := q.cfg.Now()
	err = q.st.InTx(ctx, func(tx *sql.Tx, queries *db.Queries) error {
		browser, err := store.TouchBrowser(ctx, queries, s.Browser, now)
		if err != nil {
			return err
		}
		if !s.Sample {
			draft := store.NewDraft{Exercise: s.Exercise, Base: s.Base, Files: s.Files}
			if _, err := store.SaveDraftTx(ctx, queries, s.Browser, browser, draft, now); err != nil {
				return err
			}
		}
		in := intake{Submission: s, q: q, tx: tx, queries: queries, browser: browser, now: now}
		r, err = in.take(ctx)
		return err
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("submit: %w", err)
	}
	return r, nil
}

// intake is one Submit inside its transaction. The row of the browser is locked,
// so nothing of the same browser changes in between.
type intake struct {
	Submission
	q       *Queue
	tx      *sql.Tx
	queries *db.Queries
	browser int64
	now     time.Time
}

// take decides in the order of what helps the candidate most: an answer that is
// there, the submission that is running, a new one.
func (in *intake) take(ctx context.Context) (Receipt, error) {
	graded, found, err := in.findGraded(ctx)
	if err != nil {
		return Receipt{}, err
	}
	if found && graded.BrowserID == in.browser {
		return Receipt{Stored, graded.PublicID}, nil
	}
	running, err := in.queries.UnfinishedSubmission(ctx, db.UnfinishedSubmissionParams{BrowserID: in.browser, Exercise: in.Exercise})
	if err == nil {
		return Receipt{Running, running}, nil
	} else if !errors.Is(err, sql.ErrNoRows) {
		return Receipt{}, fmt.Errorf("find unfinished submission: %w", err)
	}
	if refused, err := in.refuse(ctx, found); err != nil || refused != "" {
		return Receipt{Answer: refused}, err
	}
	return in.create(ctx, graded, found)
}

func (in *intake) findGraded(ctx context.Context) (row db.Submission, found bool, err error) {
	row, err = in.queries.FindGraded(ctx, db.FindGradedParams{
		SourceHash: store.SourceHash(in.Files), Exercise: in.Exercise, ExerciseVersion: in.ExerciseVersion,
		Engine: verdict.Engine, Seed: in.Seed, BrowserID: in.browser,
	})
	if errors.Is(err, sql.ErrNoRows) {
		return db.Submission{}, false, nil
	}
	if err != nil {
		return db.Submission{}, false, fmt.Errorf("find stored verdict: %w", err)
	}
	return row, true, nil
}

// refuse returns the bound that a new row would break, or "". A row that has
// its verdict at once needs no place in the queue.
func (in *intake) refuse(ctx context.Context, graded bool) (Answer, error) {
	recent, err := in.queries.CountSubmissionsSince(ctx, db.CountSubmissionsSinceParams{
		BrowserID: in.browser, Since: in.now.Add(-submitInterval).UnixMilli(),
	})
	if err != nil {
		return "", fmt.Errorf("count submissions: %w", err)
	}
	if recent >= MaxPerHour {
		return TooMany, nil
	}
	if graded {
		return "", nil
	}
	queued, err := in.queries.CountQueued(ctx)
	if err != nil {
		return "", fmt.Errorf("count queue: %w", err)
	}
	if queued >= MaxUnfinished {
		return QueueFull, nil
	}
	return "", nil
}

// create stores the row and either the verdict of the same source or a job.
func (in *intake) create(ctx context.Context, graded db.Submission, found bool) (Receipt, error) {
	files, err := store.EncodeFiles(in.Files)
	if err != nil {
		return Receipt{}, err
	}
	publicID := newPublicID()
	id, err := in.queries.CreateSubmission(ctx, db.CreateSubmissionParams{
		PublicID: publicID, BrowserID: in.browser, Exercise: in.Exercise, ExerciseVersion: in.ExerciseVersion,
		Engine: verdict.Engine, Seed: in.Seed, Files: files, SourceHash: store.SourceHash(in.Files),
		CreatedAt: in.now.UnixMilli(),
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("create submission: %w", err)
	}
	keep := int32(MaxPerBrowser)
	if in.Browser.IsSitting() {
		keep = MaxPerSitting
	}
	if _, err := in.queries.ThinSubmissions(ctx, db.ThinSubmissionsParams{BrowserID: in.browser, MaxRows: keep}); err != nil {
		return Receipt{}, fmt.Errorf("thin submissions: %w", err)
	}
	if found {
		return Receipt{Stored, publicID}, in.copyVerdict(ctx, id, graded)
	}
	return Receipt{Created, publicID}, in.enqueue(ctx, id)
}

func (in *intake) copyVerdict(ctx context.Context, id int64, graded db.Submission) error {
	v, err := store.DecodeVerdict(graded.Verdict)
	if err != nil {
		return err
	}
	_, err = store.FinishTx(ctx, in.queries, id, v, in.now)
	return err
}

func (in *intake) enqueue(ctx context.Context, id int64) error {
	res, err := in.q.client.InsertTx(ctx, in.tx, gradeArgs{SubmissionID: id}, nil)
	if err != nil {
		return fmt.Errorf("enqueue submission: %w", err)
	}
	err = in.queries.SetSubmissionJob(ctx, db.SetSubmissionJobParams{
		ID: id, JobID: sql.NullInt64{Int64: res.Job.ID, Valid: true},
	})
	if err != nil {
		return fmt.Errorf("set job of submission: %w", err)
	}
	return nil
}

// newPublicID has 130 random bits; in lower case it is easier on the eye.
func newPublicID() string { return strings.ToLower(rand.Text()) }
