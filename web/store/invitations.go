package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"redeliver/web/store/db"
)

// MaxInvitations bounds the links that can be followed at a time, and
// MaxFirstInvitations those of starts without an owner.
const (
	MaxInvitations      = 200
	MaxFirstInvitations = 10
)

// Invitation is a link that works once.
type Invitation struct {
	ID        int64
	Role      Role   // what it gives
	Person    int64  // whose password it sets; 0: it makes a person
	First     bool   // it makes the first owner
	Note      string // whom it is for, as its maker put it
	CreatedAt time.Time
	ExpiresAt time.Time
}

func invitationOf(row db.Invitation) Invitation {
	return Invitation{
		ID: row.ID, Role: Role(row.Role), Person: row.PersonID.Int64, First: row.First, Note: row.Note,
		CreatedAt: time.UnixMilli(row.CreatedAt), ExpiresAt: time.UnixMilli(row.ExpiresAt),
	}
}

// Invite keeps the hash of a link's token. Of i, the role, the note and the end
// count.
func (s *Store) Invite(ctx context.Context, by Actor, tokenHash string, i Invitation, now time.Time) error {
	i.Person, i.First = 0, false
	return s.asOwner(ctx, by, func(q *db.Queries) error {
		n, err := q.CountInvitations(ctx, now.UnixMilli())
		if err == nil && n >= MaxInvitations {
			err = ErrFull
		}
		if err != nil {
			return fmt.Errorf("invite: %w", err)
		}
		return addInvitation(ctx, q, by, tokenHash, i, now)
	})
}

// InviteFromServer is Invite for who starts the server and therefore may do
// everything.
func (s *Store) InviteFromServer(ctx context.Context, tokenHash string, i Invitation, now time.Time) error {
	return s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		if err := addInvitation(ctx, q, Actor{}, tokenHash, i, now); err != nil {
			return err
		}
		if err := q.ThinFirstInvitations(ctx, MaxFirstInvitations); err != nil {
			return fmt.Errorf("invite: %w", err)
		}
		return nil
	})
}

// InviteToPassword keeps a link with which a person sets a new password.
func (s *Store) InviteToPassword(ctx context.Context, by Actor, tokenHash string, person int64, expires, now time.Time) error {
	return s.asOwner(ctx, by, func(q *db.Queries) error {
		row, err := q.GetPerson(ctx, person)
		if err != nil {
			return orNotFound("find person", err)
		}
		if err := q.DeleteInvitationsOf(ctx, person); err != nil { // one at a time
			return fmt.Errorf("end links: %w", err)
		}
		return addInvitation(ctx, q, by, tokenHash,
			Invitation{Role: Role(row.Role), Person: person, Note: row.Login, ExpiresAt: expires}, now)
	})
}

func addInvitation(ctx context.Context, q *db.Queries, by Actor, tokenHash string, i Invitation, now time.Time) error {
	_, err := q.CreateInvitation(ctx, db.CreateInvitationParams{
		TokenHash: tokenHash, Role: string(i.Role), PersonID: idOrNull(i.Person), First: i.First, Note: i.Note,
		MadeBy: idOrNull(by.Person.ID), CreatedAt: now.UnixMilli(), ExpiresAt: i.ExpiresAt.UnixMilli(),
	})
	if err != nil {
		return fmt.Errorf("invite: %w", err)
	}
	action := LinkMade
	switch {
	case i.Person != 0:
		action = PasswordLink
	case i.Role == Owner:
		action = OwnerLink
	}
	return note(ctx, q, by, action, i.Note, now)
}

func idOrNull(id int64) sql.NullInt64 { return sql.NullInt64{Int64: id, Valid: id != 0} }

// Invitation finds a link that can still be followed.
func (s *Store) Invitation(ctx context.Context, tokenHash string, now time.Time) (Invitation, error) {
	row, err := s.reading(ctx).FindInvitation(ctx, db.FindInvitationParams{TokenHash: tokenHash, Now: now.UnixMilli()})
	if err != nil {
		return Invitation{}, orNotFound("find invitation", err)
	}
	return invitationOf(row), nil
}

// Invitations lists the links that can still be followed, the oldest first.
func (s *Store) Invitations(ctx context.Context, now time.Time) ([]Invitation, error) {
	rows, err := s.reading(ctx).ListInvitations(ctx, now.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("list invitations: %w", err)
	}
	list := make([]Invitation, 0, len(rows))
	for _, row := range rows {
		list = append(list, invitationOf(row))
	}
	return list, nil
}

// CancelInvitation ends a link that was not used.
func (s *Store) CancelInvitation(ctx context.Context, by Actor, id int64, now time.Time) error {
	return s.asOwner(ctx, by, func(q *db.Queries) error {
		rows, err := q.DeleteInvitation(ctx, id)
		if err == nil && len(rows) == 0 {
			err = ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("cancel invitation: %w", err)
		}
		return note(ctx, q, by, LinkCancelled, rows[0].Note, now)
	})
}

// AcceptInvitation uses a link up: it makes the person that n describes or, for
// a link of a person who is there, sets the password. Two requests with one link
// do not both succeed. ErrNotFound: the link was used, cancelled or is too old.
// After ErrLoginTaken, ErrIdentityTaken and ErrFull it can be used again.
func (s *Store) AcceptInvitation(ctx context.Context, tokenHash string, n NewPerson, network string, now time.Time) (p Person, err error) {
	err = s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		rows, err := q.TakeInvitation(ctx, db.TakeInvitationParams{TokenHash: tokenHash, Now: now.UnixMilli()})
		if err != nil {
			return fmt.Errorf("take invitation: %w", err)
		}
		for _, row := range rows {
			if row.TokenHash == tokenHash {
				p, err = follow(ctx, q, invitationOf(row), n, network, now)
				return err
			}
		}
		return fmt.Errorf("take invitation: %w", ErrNotFound)
	})
	return p, err
}

// follow does what a link is for.
func follow(ctx context.Context, q *db.Queries, i Invitation, n NewPerson, network string, now time.Time) (Person, error) {
	if i.Person == 0 {
		return join(ctx, q, i, n, network, now)
	}
	row, err := q.GetPerson(ctx, i.Person)
	if err != nil {
		return Person{}, orNotFound("find person", err)
	}
	p := personOf(row)
	by := Actor{Person: p, Network: network}
	if n.Identity != (Identity{}) {
		return p, connect(ctx, q, by, n.Identity, now)
	}
	if err := setPassword(ctx, q, p.ID, n.Password); err != nil {
		return Person{}, err
	}
	return p, note(ctx, q, by, PasswordSet, "", now)
}

func join(ctx context.Context, q *db.Queries, i Invitation, n NewPerson, network string, now time.Time) (Person, error) {
	if i.First {
		// A link of a first start may have waited for a transaction that made an
		// owner with another link, or be older than an owner from the command line.
		has, err := q.OwnerExists(ctx)
		if err == nil && has {
			err = ErrNotFound
		}
		if err != nil {
			return Person{}, fmt.Errorf("make the first owner: %w", err)
		}
	}
	count, err := q.CountPeople(ctx)
	if err == nil && count >= MaxPeople {
		err = ErrFull
	}
	if err != nil {
		return Person{}, fmt.Errorf("join: %w", err)
	}
	row, err := q.CreatePerson(ctx, db.CreatePersonParams{
		Login: n.Login, Name: n.Name, Role: string(i.Role), Password: n.Password, CreatedAt: now.UnixMilli(),
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrLoginTaken
	}
	if err != nil {
		return Person{}, fmt.Errorf("join: %w", err)
	}
	p := personOf(row)
	by := Actor{Person: p, Network: network}
	if err := note(ctx, q, by, Joined, i.Note, now); err != nil || n.Identity == (Identity{}) {
		return p, err
	}
	return p, connect(ctx, q, by, n.Identity, now)
}
