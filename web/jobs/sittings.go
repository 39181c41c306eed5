package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"redeliver/web/store"
	"redeliver/web/store/db"
)

// maxPast is how many candidates one upkeep deletes, or tries to, at most.
const maxPast = 100

// StartSitting starts the clock of a candidate, once. store.ErrEnded: the link was
// cancelled.
func (q *Queue) StartSitting(ctx context.Context, c store.Candidate, network string) error {
	err := q.st.InTx(ctx, func(tx *sql.Tx, queries *db.Queries) error {
		started, err := store.StartTx(ctx, queries, c, network, q.cfg.Now())
		if err != nil || !started {
			return err
		}
		return q.announceTx(ctx, tx, queries, store.Happening{Event: store.EventStarted, Assignment: c.Assignment, Candidate: c.ID})
	})
	if err != nil {
		return fmt.Errorf("start sitting: %w", err)
	}
	return nil
}

// EndSitting ends the sitting of a candidate when its time is over, or for another
// reason at once, and hands in what stands there and was not handed in. What cannot
// be handed in yet, because an earlier text is being graded, the upkeep hands in. It
// reports whether the sitting has ended.
func (q *Queue) EndSitting(ctx context.Context, candidate int64, by store.Ending) (ended bool, err error) {
	err = q.st.InTx(ctx, func(tx *sql.Tx, queries *db.Queries) error {
		u, err := store.EndTx(ctx, queries, candidate, by, q.cfg.Now())
		if err != nil || u == nil {
			return err
		}
		ended = true
		if u.Now {
			err := q.announceTx(ctx, tx, queries, store.Happening{Event: store.EventEnded, Assignment: u.Candidate.Assignment, Candidate: u.ID, EndedBy: u.EndedBy})
			if err != nil {
				return err
			}
		}
		return q.handIn(ctx, tx, queries, u)
	})
	if err != nil {
		return false, fmt.Errorf("end sitting: %w", err)
	}
	return ended, nil
}

// handIn is bound by none of the limits on what people hand in: it happens once for
// each exercise of a sitting.
func (q *Queue) handIn(ctx context.Context, tx *sql.Tx, queries *db.Queries, u *store.Unfinished) error {
	left, err := u.LeftTx(ctx, queries)
	if err != nil {
		return err
	}
	whole := true
	for _, draft := range left {
		_, err := queries.UnfinishedSubmission(ctx, db.UnfinishedSubmissionParams{BrowserID: u.BrowserID, Exercise: draft.Exercise})
		switch {
		case err == nil:
			whole = false
			continue
		case !errors.Is(err, sql.ErrNoRows):
			return fmt.Errorf("find unfinished submission: %w", err)
		}
		// It was handed in at the end, whenever that was noticed. The version is that of the grading: nobody has seen one here.
		in := intake{
			Submission: Submission{Browser: u.Browser, Exercise: draft.Exercise, Files: draft.Files, Seed: Seed},
			q:          q, tx: tx, queries: queries, browser: u.BrowserID, now: u.EndedAt,
		}
		if _, err := in.create(ctx, db.Submission{}, false); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	if err := queries.SetHandedIn(ctx, u.ID); err != nil {
		return fmt.Errorf("note what was handed in: %w", err)
	}
	return nil
}

// endSittings ends what nobody looks at: the browser is closed, or was when the
// server came back. One that cannot be ended does not keep the others from it.
func (q *Queue) endSittings(ctx context.Context) error {
	ids, err := q.st.Sitting(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		if _, err := q.EndSitting(ctx, id, store.ByTime); err != nil && !errors.Is(err, store.ErrNotFound) {
			errs = append(errs, fmt.Errorf("candidate %d: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// ForgetCandidate deletes a candidate with everything that was written in the
// sitting, for who may see it.
func (q *Queue) ForgetCandidate(ctx context.Context, by store.Actor, c store.Candidate) error {
	return q.delete(ctx, func(queries *db.Queries) ([]store.Job, error) {
		return store.ForgetCandidateTx(ctx, queries, by, c, q.cfg.Now())
	})
}

// DeleteAssignment deletes an assignment with all its candidates, for who may see it.
func (q *Queue) DeleteAssignment(ctx context.Context, by store.Actor, id int64) error {
	return q.delete(ctx, func(queries *db.Queries) ([]store.Job, error) {
		return store.DeleteAssignmentTx(ctx, queries, by, id, q.cfg.Now())
	})
}

// forgetPast deletes the candidates whose time to be kept is over. Each upkeep goes on
// where the one before ended, so that those that cannot be deleted do not stand before
// the others for ever; after the last it begins at the first again.
func (q *Queue) forgetPast(ctx context.Context) error {
	past, last, err := q.st.Past(ctx, q.pastAfter.Load(), q.cfg.Now(), maxPast)
	if err != nil {
		return err
	}
	q.pastAfter.Store(last)
	var errs []error
	for _, b := range past {
		if err := q.Forget(ctx, b); err != nil {
			errs = append(errs, err)
		}
	}
	if n := len(past) - len(errs); n > 0 {
		q.cfg.Log.InfoContext(ctx, "forgot candidates", slog.Int("candidates", n))
	}
	return errors.Join(errs...)
}
