package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"redeliver/web/store/db"
)

// How long a session lasts: IdleSession without a request, and never longer than
// its deadline.
const (
	IdleSession = 48 * time.Hour
	// touchSession is how late the end of a session moves on: not every page shall
	// write.
	touchSession = 10 * time.Minute
	// MaxSessions bounds the browsers in which one person is signed in.
	MaxSessions = 20
)

// Session is one browser in which a person is signed in.
type Session struct {
	TokenHash string // of the cookie
	Person    int64
	Deadline  time.Time
}

// SignIn is a session that is to begin.
type SignIn struct {
	Session
	Password string // the hash that was compared with
	Network  string
}

// CreateSession begins a session. ErrNotFound says that the person is gone or has
// another password by now. Beyond MaxSessions the oldest ones end.
func (s *Store) CreateSession(ctx context.Context, n SignIn, now time.Time) error {
	return s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		found, err := q.SetSignedIn(ctx, db.SetSignedInParams{
			ID: n.Person, Password: n.Password, Now: sql.NullInt64{Int64: now.UnixMilli(), Valid: true},
		})
		if err == nil && found == 0 {
			err = ErrNotFound
		}
		if err == nil {
			err = q.CreateSession(ctx, db.CreateSessionParams{
				TokenHash: n.TokenHash, PersonID: n.Person, CreatedAt: now.UnixMilli(),
				ExpiresAt: idleEnd(n.Deadline, now).UnixMilli(), DeadlineAt: n.Deadline.UnixMilli(),
			})
		}
		if err == nil {
			err = q.ThinSessions(ctx, db.ThinSessionsParams{PersonID: n.Person, MaxRows: MaxSessions})
		}
		if err != nil {
			return fmt.Errorf("create session: %w", err)
		}
		row, err := q.GetPerson(ctx, n.Person)
		if err != nil {
			return orNotFound("create session", err)
		}
		return note(ctx, q, Actor{Person: personOf(row), Network: n.Network}, SignedIn, "", now)
	})
}

// idleEnd is when a session ends that nobody uses from now on.
func idleEnd(deadline, now time.Time) time.Time {
	if end := now.Add(IdleSession); end.Before(deadline) {
		return end
	}
	return deadline
}

// Session finds a session that has not ended, and moves its end on.
func (s *Store) Session(ctx context.Context, tokenHash string, now time.Time) (Session, error) {
	row, err := s.reading(ctx).FindSession(ctx, db.FindSessionParams{TokenHash: tokenHash, Now: now.UnixMilli()})
	if err != nil {
		return Session{}, orNotFound("find session", err)
	}
	found := Session{TokenHash: tokenHash, Person: row.PersonID, Deadline: time.UnixMilli(row.DeadlineAt)}
	end := idleEnd(found.Deadline, now)
	if end.Sub(time.UnixMilli(row.ExpiresAt)) < touchSession {
		return found, nil
	}
	err = s.writing(ctx).ProlongSession(ctx, db.ProlongSessionParams{TokenHash: tokenHash, ExpiresAt: end.UnixMilli()})
	if err != nil {
		return Session{}, fmt.Errorf("prolong session: %w", err)
	}
	return found, nil
}

// DeleteSession ends a session; none with this hash is no error.
func (s *Store) DeleteSession(ctx context.Context, tokenHash string) error {
	if err := s.writing(ctx).DeleteSession(ctx, tokenHash); err != nil {
		return fmt.Errorf("delete session: %w", err)
	}
	return nil
}

// SignOutEverywhere ends all sessions and tokens of by.
func (s *Store) SignOutEverywhere(ctx context.Context, by Actor, now time.Time) error {
	return s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		return signOutAll(ctx, q, by, by.Person.ID, "", now)
	})
}

// SignOutPerson ends all sessions and tokens of somebody else.
func (s *Store) SignOutPerson(ctx context.Context, by Actor, person int64, now time.Time) error {
	return s.asOwner(ctx, by, func(q *db.Queries) error {
		row, err := q.GetPerson(ctx, person)
		if err != nil {
			return orNotFound("find person", err)
		}
		return signOutAll(ctx, q, by, person, row.Login, now)
	})
}

func signOutAll(ctx context.Context, q *db.Queries, by Actor, person int64, subject string, now time.Time) error {
	if err := endAccess(ctx, q, person); err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	return note(ctx, q, by, SignedOutAll, subject, now)
}

// CountSessions says in how many browsers a person is signed in.
func (s *Store) CountSessions(ctx context.Context, person int64, now time.Time) (int, error) {
	n, err := s.reading(ctx).CountSessionsOf(ctx, db.CountSessionsOfParams{PersonID: person, Now: now.UnixMilli()})
	if err != nil {
		return 0, fmt.Errorf("count sessions: %w", err)
	}
	return int(n), nil
}
