package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"redeliver/web/clock"
	"redeliver/web/store/db"
)

// ErrEnded says that a sitting is over and takes nothing more.
var ErrEnded = errors.New("the sitting has ended")

// Grace is how long after the end a draft is taken that was on its way, and so how
// long a sitting whose time is over waits before it is ended: for everybody the same,
// whoever looks. All else ends at the deadline.
const Grace = 5 * time.Second

// How the site notices that it was down: it says that it is there every BeatEvery,
// and a silence of more than MaxSilence was an outage.
const (
	BeatEvery   = 10 * time.Second
	MaxSilence  = 30 * time.Second
	keepOutages = 400 * 24 * time.Hour // a sitting without a limit may be that old
)

// Beat says that the site is there, and notes an outage where it was not.
func (s *Store) Beat(ctx context.Context, now time.Time) error {
	return s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		last, err := q.LastAlive(ctx)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("find last sign of life: %w", err)
		}
		if err == nil && now.Sub(time.UnixMilli(last)) > MaxSilence {
			if err := q.AddOutage(ctx, db.AddOutageParams{BeganAt: last, EndedAt: now.UnixMilli()}); err != nil {
				return fmt.Errorf("note outage: %w", err)
			}
			if err := q.DeleteOutagesBefore(ctx, now.Add(-keepOutages).UnixMilli()); err != nil {
				return fmt.Errorf("forget outages: %w", err)
			}
		}
		if err := q.SetAlive(ctx, now.UnixMilli()); err != nil {
			return fmt.Errorf("give a sign of life: %w", err)
		}
		return nil
	})
}

// limitOf is what a candidate has who has started.
func limitOf(a Assignment, c Candidate) clock.Limit {
	l := clock.Limit{Start: c.StartedAt, Latest: a.ClosesAt}
	if a.Limit > 0 {
		l.Time = a.Limit + c.Extra
	} else if !l.Latest.IsZero() {
		l.Latest = l.Latest.Add(c.Extra)
	}
	return l
}

// Clock reads the clock of a sitting. Before the start it is zero; after the end it
// shows what it showed then.
func (s *Store) Clock(ctx context.Context, a Assignment, c Candidate, now time.Time) (clock.Reading, error) {
	switch {
	case c.StartedAt.IsZero():
		return clock.Reading{}, nil
	case !c.EndedAt.IsZero():
		return clock.Reading{Deadline: c.EndedAt, GivenBack: c.GivenBack}, nil
	}
	q := s.reading(ctx)
	row, err := q.GetCandidate(ctx, c.ID)
	if err != nil {
		return clock.Reading{}, orNotFound("find candidate", err)
	}
	return readClock(ctx, q, a, c, row.Candidate.BrowserID, now)
}

func readClock(ctx context.Context, q *db.Queries, a Assignment, c Candidate, browser int64, now time.Time) (clock.Reading, error) {
	outages, err := q.ListOutages(ctx, c.StartedAt.UnixMilli())
	if err != nil {
		return clock.Reading{}, fmt.Errorf("list outages: %w", err)
	}
	waits, err := q.ListWaits(ctx, db.ListWaitsParams{BrowserID: browser, Since: c.StartedAt.UnixMilli()})
	if err != nil {
		return clock.Reading{}, fmt.Errorf("list waits: %w", err)
	}
	// A site that is down notes its outage when it comes back.
	last, err := q.LastAlive(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return clock.Reading{}, fmt.Errorf("find last sign of life: %w", err)
	}
	var spans []clock.Span
	if err == nil && now.Sub(time.UnixMilli(last)) > MaxSilence {
		spans = append(spans, clock.Span{From: time.UnixMilli(last), To: now})
	}
	for _, o := range outages {
		spans = append(spans, clock.Span{From: time.UnixMilli(o.BeganAt), To: time.UnixMilli(o.EndedAt)})
	}
	for _, w := range waits {
		spans = append(spans, waitsOf(w, now)...)
	}
	return limitOf(a, c).Read(spans), nil
}

// waitsOf is when a submission waited for us: in the queue, and for attempts without
// a result.
func waitsOf(w db.ListWaitsRow, now time.Time) []clock.Span {
	until := now
	if w.WaitedUntil.Valid {
		until = time.UnixMilli(w.WaitedUntil.Int64)
	} else if w.StartedAt.Valid {
		until = time.UnixMilli(w.StartedAt.Int64)
	}
	queue := clock.Span{From: time.UnixMilli(w.CreatedAt), To: until}
	if !w.BegunAt.Valid {
		return []clock.Span{queue}
	}
	queue.To = time.UnixMilli(w.BegunAt.Int64)
	return []clock.Span{queue, {From: queue.To, To: until, Vain: true}}
}

// StartTx starts the clock of a candidate inside a transaction, once, and reports whether
// it did. ErrEnded: the link was cancelled.
func StartTx(ctx context.Context, q *db.Queries, c Candidate, network string, now time.Time) (started bool, err error) {
	a, err := q.GetAssignment(ctx, c.Assignment)
	if err != nil {
		return false, orNotFound("find assignment", err)
	}
	if err := q.LockCandidate(ctx, c.ID); err != nil {
		return false, fmt.Errorf("lock candidate: %w", err)
	}
	n, err := q.StartCandidate(ctx, db.StartCandidateParams{StartedAt: millis(now), ID: c.ID})
	if err != nil {
		return false, fmt.Errorf("start sitting: %w", err)
	}
	if n == 0 { // a second click, or a link that was cancelled
		row, err := q.GetCandidate(ctx, c.ID)
		if err != nil {
			return false, orNotFound("find candidate", err)
		}
		if row.Candidate.CancelledAt.Valid {
			return false, fmt.Errorf("start sitting: %w", ErrEnded)
		}
		return false, nil
	}
	return true, note(ctx, q, Actor{Network: network}, SittingStarted, label(a, c.ID), now)
}

// Unfinished is a sitting inside a transaction that ends it.
type Unfinished struct {
	Candidate
	Assignment Assignment
	BrowserID  int64
	Now        bool // it ends in this transaction
}

// EndTx ends a sitting inside a transaction, as of the deadline when its time is
// over, or else now where by says why. It reports whether the sitting has ended and
// something may be left to hand in; nil without an error means that there is nothing
// to do.
func EndTx(ctx context.Context, q *db.Queries, id int64, by Ending, now time.Time) (*Unfinished, error) {
	if err := q.LockCandidate(ctx, id); err != nil {
		return nil, fmt.Errorf("lock candidate: %w", err)
	}
	row, err := q.GetCandidate(ctx, id)
	if err != nil {
		return nil, orNotFound("find candidate", err)
	}
	c := candidateOf(row.Candidate, row.Browser)
	if c.StartedAt.IsZero() || c.HandedIn {
		return nil, nil
	}
	asRow, err := q.GetAssignment(ctx, c.Assignment)
	if err != nil {
		return nil, orNotFound("find assignment", err)
	}
	a, err := assignmentOf(ctx, q, asRow)
	if err != nil {
		return nil, err
	}
	u := &Unfinished{Candidate: c, Assignment: a, BrowserID: row.Candidate.BrowserID}
	if !c.EndedAt.IsZero() {
		return u, nil
	}
	r, err := readClock(ctx, q, a, c, u.BrowserID, now)
	if err != nil {
		return nil, err
	}
	at := now
	switch {
	case !c.CancelledAt.IsZero() && !r.Over(c.CancelledAt):
		by, at = ByCancel, c.CancelledAt
	case by == ByTime && !r.Over(now.Add(-Grace)):
		return nil, nil
	case r.Over(now):
		by, at = ByTime, r.Deadline
	}
	_, err = q.EndCandidate(ctx, db.EndCandidateParams{
		EndedAt: millis(at), EndedBy: string(by), GivenBack: r.GivenBack.Milliseconds(), ID: id,
	})
	if err != nil {
		return nil, fmt.Errorf("end sitting: %w", err)
	}
	u.EndedAt, u.EndedBy, u.GivenBack, u.Now = at, by, r.GivenBack, true
	return u, note(ctx, q, Actor{}, SittingEnded, label(asRow, id), now)
}

// LeftDraft is a text that was not handed in as it stands.
type LeftDraft struct {
	Exercise string
	Files    []File
}

// LeftTx lists the drafts of a sitting that were not handed in as they stand.
func (u *Unfinished) LeftTx(ctx context.Context, q *db.Queries) (left []LeftDraft, err error) {
	for _, exercise := range u.Assignment.Exercises {
		draft, err := newestDraft(ctx, q, u.Browser, exercise)
		if errors.Is(err, ErrNotFound) {
			continue // never written
		}
		if err != nil {
			return nil, err
		}
		done, err := q.SourceSubmitted(ctx, db.SourceSubmittedParams{
			BrowserID: u.BrowserID, Exercise: exercise, SourceHash: SourceHash(draft.Files),
		})
		if err != nil {
			return nil, fmt.Errorf("find submission of draft: %w", err)
		}
		if !done {
			left = append(left, LeftDraft{exercise, draft.Files})
		}
	}
	return left, nil
}

// Sitting lists the candidates who have started and not handed everything in.
func (s *Store) Sitting(ctx context.Context) ([]int64, error) {
	ids, err := s.reading(ctx).ListSitting(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sittings: %w", err)
	}
	return ids, nil
}

// openTx refuses what is written after the end of a sitting, or when the candidate was
// deleted meanwhile: TouchBrowser has then made the browser again.
func openTx(ctx context.Context, q *db.Queries, b Browser, id int64) error {
	if !b.IsSitting() {
		return nil
	}
	open, err := q.SittingOpen(ctx, id)
	if err == nil && !open {
		err = ErrEnded
	}
	if err != nil {
		return fmt.Errorf("write in sitting: %w", err)
	}
	return nil
}
