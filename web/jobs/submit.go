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
	MaxPerSitting  = 400  // the same of a sitting
	MaxUnfinished  = 1000 // submissions of all browsers that wait or run
	submitInterval = time.Hour
	// MaxSubmittedBytes is what is kept of one browser or sitting, sources and
	// verdicts; beyond it the oldest go. A verdict with ten findings has 100 KB.
	MaxSubmittedBytes = 16 << 20
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
	store.Noted
}

// Answer says what became of a submission.
type Answer string

// The answers. The draft is saved with each of them, but for a sample.
const (
	Created   Answer = "created"    // stored, and waits for the grader
	Stored    Answer = "stored"     // the same source has a verdict
	Running   Answer = "running"    // the same source waits or is being graded
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
	now, replaced := q.cfg.Now(), int64(0)
	err = q.st.InTx(ctx, func(tx *sql.Tx, queries *db.Queries) error {
		browser, err := store.TouchBrowser(ctx, queries, s.Browser, now)
		if err != nil {
			return err
		}
		if !s.Sample {
			draft := store.NewDraft{Exercise: s.Exercise, Base: s.Base, Files: s.Files, Noted: s.Noted}
			if _, err := store.SaveDraftTx(ctx, queries, s.Browser, browser, draft, now); err != nil {
				return err
			}
		}
		in := intake{Submission: s, q: q, tx: tx, queries: queries, browser: browser, now: now}
		if r, err = in.take(ctx); in.replaced != nil {
			replaced = in.replaced.ID
		}
		return err
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("submit: %w", err)
	}
	if replaced != 0 {
		q.watch.notify(replaced)
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
	// replaced is the older submission that this one takes the place of; its job is
	// settled by enqueue.
	replaced *db.UnfinishedSubmissionRow
}

// take decides in the order of what helps the candidate most: an answer that is
// there, the submission that is running with the same text, a new one, which takes
// the place of one that is not finished.
func (in *intake) take(ctx context.Context) (Receipt, error) {
	graded, found, err := in.findGraded(ctx)
	if err != nil {
		return Receipt{}, err
	}
	if found && graded.BrowserID == in.browser {
		return Receipt{Stored, graded.PublicID}, nil
	}
	old, err := in.unfinished(ctx)
	if err != nil {
		return Receipt{}, err
	}
	if old != nil && old.SourceHash == store.SourceHash(in.Files) {
		return Receipt{Running, old.PublicID}, nil
	}
	if refused, err := in.refuse(ctx, found || old != nil); err != nil || refused != "" {
		return Receipt{Answer: refused}, err
	}
	if old != nil {
		if err := in.replace(ctx, old); err != nil {
			return Receipt{}, err
		}
		in.replaced = old
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

// refuse returns the bound that a new row would break, or "". A row that has its
// verdict at once, or the place of an older one, needs no place in the queue.
func (in *intake) refuse(ctx context.Context, placed bool) (Answer, error) {
	recent, err := in.queries.CountSubmissionsSince(ctx, db.CountSubmissionsSinceParams{
		BrowserID: in.browser, Since: in.now.Add(-submitInterval).UnixMilli(),
	})
	if err != nil {
		return "", fmt.Errorf("count submissions: %w", err)
	}
	if recent >= MaxPerHour {
		return TooMany, nil
	}
	if placed {
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
	if err := in.thin(ctx); err != nil {
		return Receipt{}, err
	}
	if found {
		return Receipt{Stored, publicID}, errors.Join(in.copyVerdict(ctx, id, graded), in.dropReplaced(ctx))
	}
	return Receipt{Created, publicID}, in.enqueue(ctx, id)
}

func (in *intake) thin(ctx context.Context) error {
	bound := db.ThinSubmissionsParams{BrowserID: in.browser, MaxRows: MaxPerBrowser, MaxBytes: MaxSubmittedBytes}
	if in.Browser.IsSitting() {
		bound.MaxRows = MaxPerSitting
	}
	if _, err := in.queries.ThinSubmissions(ctx, bound); err != nil {
		return fmt.Errorf("thin submissions: %w", err)
	}
	return nil
}

// dropReplaced deletes the job of the replaced submission, or tells it to end.
func (in *intake) dropReplaced(ctx context.Context) error {
	if in.replaced == nil || !in.replaced.JobID.Valid {
		return nil
	}
	return in.q.deleteJob(ctx, in.tx, in.replaced.JobID.Int64)
}

func (in *intake) copyVerdict(ctx context.Context, id int64, graded db.Submission) error {
	v, err := store.DecodeVerdict(graded.Verdict)
	if err != nil {
		return err
	}
	return in.q.finishTx(ctx, in.tx, in.queries, id, v, in.now)
}

func (in *intake) enqueue(ctx context.Context, id int64) error {
	if in.replaced != nil && in.replaced.JobID.Valid {
		job := in.replaced.JobID
		taken, err := in.takeOver(ctx, job.Int64, id)
		if err != nil {
			return err
		}
		if taken {
			return in.setJob(ctx, id, job.Int64)
		}
		if err := in.dropReplaced(ctx); err != nil {
			return err
		}
	}
	res, err := in.q.client.InsertTx(ctx, in.tx, gradeArgs{SubmissionID: id}, nil)
	if err != nil {
		return fmt.Errorf("enqueue submission: %w", err)
	}
	return in.setJob(ctx, id, res.Job.ID)
}

func (in *intake) setJob(ctx context.Context, id, job int64) error {
	err := in.queries.SetSubmissionJob(ctx, db.SetSubmissionJobParams{ID: id, JobID: sql.NullInt64{Int64: job, Valid: true}})
	if err != nil {
		return fmt.Errorf("set job of submission: %w", err)
	}
	return nil
}

// newPublicID has 130 random bits; in lower case it is easier on the eye.
func newPublicID() string { return strings.ToLower(rand.Text()) }
