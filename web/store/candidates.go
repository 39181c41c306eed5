package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"redeliver/web/store/db"
)

// Ending says why a sitting has ended.
type Ending string

// The endings.
const (
	ByTime      Ending = "time"
	ByCandidate Ending = "candidate"
	ByCancel    Ending = "cancelled" // the interviewer cancelled the link
)

// Candidate is somebody with a link, and the sitting behind it.
type Candidate struct {
	ID          int64
	Assignment  int64
	Browser     Browser // what is written belongs to it
	Name        string
	Self        bool // came by the open link and typed the name
	Extra       time.Duration
	CreatedAt   time.Time
	CancelledAt time.Time // zero: not
	StartedAt   time.Time // zero: not yet
	EndedAt     time.Time // zero: not yet
	EndedBy     Ending
	GivenBack   time.Duration // as it was at the end
	HandedIn    bool          // all as it stood at the end
}

// Sits reports whether the sitting has begun and not ended.
func (c Candidate) Sits() bool { return !c.StartedAt.IsZero() && c.EndedAt.IsZero() }

func candidateOf(row db.Candidate, browser string) Candidate {
	return Candidate{
		ID: row.ID, Assignment: row.AssignmentID, Browser: Browser(browser), Name: row.Name, Self: row.Self,
		Extra: time.Duration(row.ExtraMinutes) * time.Minute, CreatedAt: time.UnixMilli(row.CreatedAt),
		CancelledAt: timeOf(row.CancelledAt), StartedAt: timeOf(row.StartedAt), EndedAt: timeOf(row.EndedAt),
		EndedBy: Ending(row.EndedBy), GivenBack: time.Duration(row.GivenBack) * time.Millisecond, HandedIn: row.HandedIn,
	}
}

// sittingPrefix begins the name of a browser that is a sitting. The hash of a
// cookie has none such, so nobody can be that browser outside of the sitting.
const sittingPrefix = "sitting:"

// IsSitting reports whether it is the browser of a sitting.
func (b Browser) IsSitting() bool { return strings.HasPrefix(string(b), sittingPrefix) }

// label names a candidate in the log, which outlives it, and so without its name.
func label(a db.Assignment, candidate int64) string { return fmt.Sprintf("%s, %d", a.Title, candidate) }

// Invited is a link for a candidate.
type Invited struct {
	Name      string
	TokenHash string
	Extra     time.Duration
}

// AddCandidate keeps a link that an interviewer made.
func (s *Store) AddCandidate(ctx context.Context, by Actor, assignment int64, i Invited, now time.Time) (id int64, err error) {
	err = s.withAssignment(ctx, by, assignment, func(q *db.Queries, a db.Assignment) error {
		if id, err = addCandidate(ctx, q, assignment, i, false, now); err != nil {
			return err
		}
		return note(ctx, q, by, CandidateLink, label(a, id), now)
	})
	return id, err
}

// ComeByOpenLink keeps the link of a candidate who came by the link for everybody.
func (s *Store) ComeByOpenLink(ctx context.Context, openHash string, i Invited, network string, now time.Time) error {
	i.Extra = 0
	return s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		a, err := q.FindOpenAssignment(ctx, openHash)
		if err != nil {
			return orNotFound("find open link", err)
		}
		id, err := addCandidate(ctx, q, a.ID, i, true, now)
		if err != nil {
			return err
		}
		return note(ctx, q, Actor{Network: network}, CandidateCame, label(a, id), now)
	})
}

func addCandidate(ctx context.Context, q *db.Queries, assignment int64, i Invited, self bool, now time.Time) (int64, error) {
	n, err := q.CountCandidates(ctx, assignment)
	if err == nil && n >= MaxCandidates {
		err = ErrFull
	}
	if err != nil {
		return 0, fmt.Errorf("add candidate: %w", err)
	}
	browser, err := TouchBrowser(ctx, q, Browser(sittingPrefix+rand.Text()), now)
	if err != nil {
		return 0, err
	}
	id, err := q.CreateCandidate(ctx, db.CreateCandidateParams{
		AssignmentID: assignment, BrowserID: browser, TokenHash: i.TokenHash, Name: i.Name, Self: self,
		ExtraMinutes: int64(i.Extra / time.Minute), CreatedAt: now.UnixMilli(),
	})
	if err != nil {
		return 0, fmt.Errorf("add candidate: %w", err)
	}
	return id, nil
}

// Candidates lists who has a link for an assignment, in the order of the links. The
// assignment is one that its asker may see.
func (s *Store) Candidates(ctx context.Context, a Assignment) ([]Candidate, error) {
	rows, err := s.reading(ctx).ListCandidates(ctx, a.ID)
	if err != nil {
		return nil, fmt.Errorf("list candidates: %w", err)
	}
	list := make([]Candidate, 0, len(rows))
	for _, r := range rows {
		list = append(list, candidateOf(r.Candidate, r.Browser))
	}
	return list, nil
}

// Candidate returns a candidate to who made the assignment and to owners.
func (s *Store) Candidate(ctx context.Context, by Actor, assignment, id int64) (Candidate, error) {
	row, err := s.reading(ctx).GetCandidateFor(ctx, db.GetCandidateForParams{PersonID: by.Person.ID, ID: id, AssignmentID: assignment})
	if err != nil {
		return Candidate{}, orNotFound("find candidate", err)
	}
	return candidateOf(row.Candidate, row.Browser), nil
}

// CandidateByToken finds who has a link, and the assignment.
func (s *Store) CandidateByToken(ctx context.Context, tokenHash string) (Candidate, Assignment, error) {
	q := s.reading(ctx)
	row, err := q.FindCandidate(ctx, tokenHash)
	if err != nil {
		return Candidate{}, Assignment{}, orNotFound("find candidate", err)
	}
	a, err := q.GetAssignment(ctx, row.Candidate.AssignmentID)
	if err != nil {
		return Candidate{}, Assignment{}, orNotFound("find assignment", err)
	}
	found, err := assignmentOf(ctx, q, a)
	return candidateOf(row.Candidate, row.Browser), found, err
}

// withCandidate runs fn in a transaction with a candidate that by may change, while
// nothing else happens in that sitting.
func (s *Store) withCandidate(ctx context.Context, by Actor, c Candidate, fn func(q *db.Queries, a db.Assignment) error) error {
	return s.withAssignment(ctx, by, c.Assignment, func(q *db.Queries, a db.Assignment) error {
		if err := q.LockCandidate(ctx, c.ID); err != nil {
			return fmt.Errorf("lock candidate: %w", err)
		}
		return fn(q, a)
	})
}

// CancelCandidate ends a link. A sitting that has begun still has to be ended.
// ErrNotFound: it has ended already.
func (s *Store) CancelCandidate(ctx context.Context, by Actor, c Candidate, now time.Time) error {
	return s.withCandidate(ctx, by, c, func(q *db.Queries, a db.Assignment) error {
		n, err := q.CancelCandidate(ctx, db.CancelCandidateParams{CancelledAt: millis(now), ID: c.ID})
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("cancel link: %w", err)
		}
		return note(ctx, q, by, CandidateCancelled, label(a, c.ID), now)
	})
}

// SetExtra gives a candidate extra time, in place of what it had. ErrNotFound: the
// sitting has ended already.
func (s *Store) SetExtra(ctx context.Context, by Actor, c Candidate, extra time.Duration, now time.Time) error {
	return s.withCandidate(ctx, by, c, func(q *db.Queries, a db.Assignment) error {
		n, err := q.SetExtraMinutes(ctx, db.SetExtraMinutesParams{ExtraMinutes: int64(extra / time.Minute), ID: c.ID})
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("set extra time: %w", err)
		}
		return note(ctx, q, by, ExtraTime, fmt.Sprintf("%s, %v", label(a, c.ID), extra), now)
	})
}

// Judgement is what an interviewer says about an exercise of a candidate, or, where
// Exercise is empty, about the whole.
type Judgement struct {
	Exercise string
	Met      string // numbers of the rubric's lines, from 1, with spaces between
	Note     string
	At       time.Time
}

// Judge keeps a judgement in place of the one before.
func (s *Store) Judge(ctx context.Context, by Actor, c Candidate, j Judgement, now time.Time) error {
	return s.withCandidate(ctx, by, c, func(q *db.Queries, a db.Assignment) error {
		err := q.SaveCandidateNote(ctx, db.SaveCandidateNoteParams{
			CandidateID: c.ID, Exercise: j.Exercise, Met: j.Met, Note: j.Note, NotedAt: now.UnixMilli(),
		})
		if err != nil {
			return fmt.Errorf("judge: %w", err)
		}
		return note(ctx, q, by, CandidateJudged, label(a, c.ID), now)
	})
}

// Judgements lists what was said about a candidate.
func (s *Store) Judgements(ctx context.Context, c Candidate) ([]Judgement, error) {
	rows, err := s.reading(ctx).ListCandidateNotes(ctx, c.ID)
	if err != nil {
		return nil, fmt.Errorf("list judgements: %w", err)
	}
	list := make([]Judgement, 0, len(rows))
	for _, r := range rows {
		list = append(list, Judgement{Exercise: r.Exercise, Met: r.Met, Note: r.Note, At: time.UnixMilli(r.NotedAt)})
	}
	return list, nil
}

// ForgetCandidateTx deletes a candidate with everything that was written in the
// sitting, inside a transaction, and returns the jobs that were for it. ErrNotFound:
// by may not see it.
func ForgetCandidateTx(ctx context.Context, q *db.Queries, by Actor, c Candidate, now time.Time) ([]Job, error) {
	a, err := q.GetAssignmentFor(ctx, db.GetAssignmentForParams{PersonID: by.Person.ID, ID: c.Assignment})
	if err != nil {
		return nil, orNotFound("find assignment", err)
	}
	jobs, err := ForgetTx(ctx, q, c.Browser)
	if err != nil {
		return nil, err
	}
	return jobs, note(ctx, q, by, CandidateDeleted, label(a, c.ID), now)
}

// DeleteAssignmentTx deletes an assignment with all its candidates, likewise.
func DeleteAssignmentTx(ctx context.Context, q *db.Queries, by Actor, id int64, now time.Time) (jobs []Job, err error) {
	a, err := q.GetAssignmentFor(ctx, db.GetAssignmentForParams{PersonID: by.Person.ID, ID: id})
	if err != nil {
		return nil, orNotFound("find assignment", err)
	}
	rows, err := q.ListCandidates(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("list candidates: %w", err)
	}
	for _, r := range rows {
		gone, err := ForgetTx(ctx, q, Browser(r.Browser))
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, gone...)
	}
	if err := q.DeleteAssignment(ctx, id); err != nil {
		return nil, fmt.Errorf("delete assignment: %w", err)
	}
	return jobs, note(ctx, q, by, AssignmentDeleted, a.Title, now)
}

// KeepPlace is how long who came by the link for everybody, and has not begun, keeps
// the place after the last that was written there.
const KeepPlace = 12 * time.Hour

// Past lists the sittings of candidates whose time to be kept is over, and the places
// that nobody took, that come after a candidate. It returns the last candidate, from
// which it goes on; 0: there are no more.
func (s *Store) Past(ctx context.Context, after int64, now time.Time, limit int) (list []Browser, last int64, err error) {
	rows, err := s.reading(ctx).ListCandidatesPast(ctx, db.ListCandidatesPastParams{
		After: after, Now: now.UnixMilli(), Idle: now.Add(-KeepPlace).UnixMilli(), MaxRows: int32(limit),
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list candidates to forget: %w", err)
	}
	for _, r := range rows {
		list = append(list, Browser(r.TokenHash))
	}
	if len(rows) == limit {
		last = rows[limit-1].ID
	}
	return list, last, nil
}

// NoteCandidate writes an entry of the log about a candidate that goes with no other
// change.
func (s *Store) NoteCandidate(ctx context.Context, by Actor, c Candidate, action Action, now time.Time) error {
	return s.withAssignment(ctx, by, c.Assignment, func(q *db.Queries, a db.Assignment) error {
		return note(ctx, q, by, action, label(a, c.ID), now)
	})
}
