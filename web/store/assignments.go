package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"redeliver/web/store/db"
)

// The bounds of assignments.
const (
	MaxAssignments = 10_000 // of everybody
	MaxCandidates  = 500    // of one assignment
	MaxAssigned    = 20     // exercises of one assignment
)

// Assignment is what an interviewer asks of candidates.
type Assignment struct {
	ID         int64
	Title      string // for the interviewer
	Note       string // to the candidate
	Lang       string // of the links
	Exercises  []string
	WarmUp     string        // an exercise before the clock, or ""
	Limit      time.Duration // 0: none
	OpensAt    time.Time     // zero: at once
	ClosesAt   time.Time     // when candidates begin at the latest, without a limit also the end; zero: none
	Hints      bool          // what candidates see
	Approaches bool
	AllPhases  bool // false: of a verdict only the happy path
	RetainDays int
	Open       bool // it has a link for everybody
	CreatedAt  time.Time
}

// AssignmentInfo is one line of a list of assignments.
type AssignmentInfo struct {
	ID                         int64
	Title                      string
	Maker                      string // name, "" when the account is gone
	Limit                      time.Duration
	OpensAt, ClosesAt          time.Time
	CreatedAt                  time.Time
	Candidates, Sitting, Ended int
}

func millis(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: !t.IsZero()}
}

// Assign stores a new assignment and returns its key.
func (s *Store) Assign(ctx context.Context, by Actor, a Assignment, now time.Time) (id int64, err error) {
	err = s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		n, err := q.CountAssignments(ctx)
		if err == nil && n >= MaxAssignments {
			err = ErrFull
		}
		if err != nil {
			return fmt.Errorf("assign: %w", err)
		}
		id, err = q.CreateAssignment(ctx, db.CreateAssignmentParams{
			PersonID: sql.NullInt64{Int64: by.Person.ID, Valid: true}, Title: a.Title, Note: a.Note, Lang: a.Lang,
			Minutes: int64(a.Limit / time.Minute), OpensAt: millis(a.OpensAt), ClosesAt: millis(a.ClosesAt), WarmUp: a.WarmUp,
			Hints: a.Hints, Approaches: a.Approaches, AllPhases: a.AllPhases, RetainDays: int64(a.RetainDays), CreatedAt: now.UnixMilli(),
		})
		if err != nil {
			return fmt.Errorf("assign: %w", err)
		}
		for i, exercise := range a.Exercises {
			err := q.AddAssignmentExercise(ctx, db.AddAssignmentExerciseParams{AssignmentID: id, Place: int64(i) + 1, Exercise: exercise})
			if err != nil {
				return fmt.Errorf("assign exercise: %w", err)
			}
		}
		return note(ctx, q, by, AssignmentMade, a.Title, now)
	})
	return id, err
}

// Assignment returns an assignment to who made it and to owners; to others, as for
// an unknown one, ErrNotFound.
func (s *Store) Assignment(ctx context.Context, by Actor, id int64) (Assignment, error) {
	q := s.reading(ctx)
	row, err := q.GetAssignmentFor(ctx, db.GetAssignmentForParams{PersonID: by.Person.ID, ID: id})
	if err != nil {
		return Assignment{}, orNotFound("find assignment", err)
	}
	return assignmentOf(ctx, q, row)
}

func assignmentOf(ctx context.Context, q *db.Queries, row db.Assignment) (Assignment, error) {
	exercises, err := q.ListAssignmentExercises(ctx, row.ID)
	if err != nil {
		return Assignment{}, fmt.Errorf("list exercises of assignment: %w", err)
	}
	return Assignment{
		ID: row.ID, Title: row.Title, Note: row.Note, Lang: row.Lang, Exercises: exercises, WarmUp: row.WarmUp,
		Limit: time.Duration(row.Minutes) * time.Minute, OpensAt: timeOf(row.OpensAt), ClosesAt: timeOf(row.ClosesAt),
		Hints: row.Hints, Approaches: row.Approaches, AllPhases: row.AllPhases, RetainDays: int(row.RetainDays),
		Open: row.OpenHash.Valid, CreatedAt: time.UnixMilli(row.CreatedAt),
	}, nil
}

// Assignments lists what a person made, and for owners what everybody made, the
// newest first: those with a smaller id than before; 0 begins with the newest of all.
func (s *Store) Assignments(ctx context.Context, by Actor, before int64, limit int) ([]AssignmentInfo, error) {
	rows, err := s.reading(ctx).ListAssignmentsFor(ctx, db.ListAssignmentsForParams{PersonID: by.Person.ID, Before: orNewest(before), MaxRows: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("list assignments: %w", err)
	}
	list := make([]AssignmentInfo, 0, len(rows))
	for _, r := range rows {
		list = append(list, AssignmentInfo{
			ID: r.ID, Title: r.Title, Maker: r.Maker, Limit: time.Duration(r.Minutes) * time.Minute,
			OpensAt: timeOf(r.OpensAt), ClosesAt: timeOf(r.ClosesAt), CreatedAt: time.UnixMilli(r.CreatedAt),
			Candidates: int(r.Candidates), Sitting: int(r.Sitting), Ended: int(r.Ended),
		})
	}
	return list, nil
}

// withAssignment runs fn in a transaction with an assignment that by may change.
func (s *Store) withAssignment(ctx context.Context, by Actor, id int64, fn func(q *db.Queries, a db.Assignment) error) error {
	return s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		row, err := q.GetAssignmentFor(ctx, db.GetAssignmentForParams{PersonID: by.Person.ID, ID: id})
		if err != nil {
			return orNotFound("find assignment", err)
		}
		return fn(q, row)
	})
}

// SetOpenLink gives an assignment a link for everybody, in place of the one that it
// had; without a hash it has none any more.
func (s *Store) SetOpenLink(ctx context.Context, by Actor, id int64, tokenHash string, now time.Time) error {
	return s.withAssignment(ctx, by, id, func(q *db.Queries, a db.Assignment) error {
		hash := sql.NullString{String: tokenHash, Valid: tokenHash != ""}
		if err := q.SetOpenHash(ctx, db.SetOpenHashParams{OpenHash: hash, ID: id}); err != nil {
			return fmt.Errorf("set open link: %w", err)
		}
		action := OpenLinkMade
		if tokenHash == "" {
			action = OpenLinkEnded
		}
		return note(ctx, q, by, action, a.Title, now)
	})
}

// CloseAssignment lets nobody begin any more and ends the link for everybody. Who sits
// has the whole time, or, without a time limit, has come to the end. One that is closed
// stays as it is.
func (s *Store) CloseAssignment(ctx context.Context, by Actor, id int64, now time.Time) error {
	return s.withAssignment(ctx, by, id, func(q *db.Queries, a db.Assignment) error {
		n, err := q.CloseAssignment(ctx, db.CloseAssignmentParams{ID: id, Now: now.UnixMilli()})
		if err != nil {
			return fmt.Errorf("close assignment: %w", err)
		}
		if n == 0 {
			return nil
		}
		return note(ctx, q, by, AssignmentClosed, a.Title, now)
	})
}

// OpenAssignment finds the assignment behind a link for everybody.
func (s *Store) OpenAssignment(ctx context.Context, tokenHash string) (Assignment, error) {
	q := s.reading(ctx)
	row, err := q.FindOpenAssignment(ctx, tokenHash)
	if err != nil {
		return Assignment{}, orNotFound("find open link", err)
	}
	return assignmentOf(ctx, q, row)
}
