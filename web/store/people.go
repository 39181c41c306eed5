package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"redeliver/web/store/db"
)

// Role says what a person may do.
type Role string

// The roles. An owner may do all that an interviewer may.
const (
	Owner       Role = "owner"
	Interviewer Role = "interviewer"
)

// MaxPeople bounds the accounts of one installation.
const MaxPeople = 1000

// Person is somebody with an account.
type Person struct {
	ID         int64
	Login      string // to sign in with, in one spelling
	Name       string // as others see it
	Role       Role
	CreatedAt  time.Time
	SignedInAt time.Time // zero: never
}

// NewPerson is what somebody who follows a link says. It has a password or an
// identity.
type NewPerson struct {
	Login    string
	Name     string
	Password string // its hash
	Identity Identity
}

// Identity is an account that a provider vouches for.
type Identity struct{ Issuer, Subject string }

var (
	// ErrLoginTaken says that another person signs in with this name.
	ErrLoginTaken = errors.New("the name to sign in with is taken")
	// ErrIdentityTaken says that another person signs in with this account.
	ErrIdentityTaken = errors.New("the account of the provider is taken")
	// ErrFull says that there are as many accounts or links as there may be.
	ErrFull = errors.New("there are too many of them")
)

func personOf(row db.Person) Person {
	p := Person{ID: row.ID, Login: row.Login, Name: row.Name, Role: Role(row.Role), CreatedAt: time.UnixMilli(row.CreatedAt)}
	if row.SignedInAt.Valid {
		p.SignedInAt = time.UnixMilli(row.SignedInAt.Int64)
	}
	return p
}

// HasOwner reports whether the installation belongs to somebody yet.
func (s *Store) HasOwner(ctx context.Context) (bool, error) {
	has, err := s.reading(ctx).OwnerExists(ctx)
	if err != nil {
		return false, fmt.Errorf("find owner: %w", err)
	}
	return has, nil
}

// Person finds a person by id.
func (s *Store) Person(ctx context.Context, id int64) (Person, error) {
	row, err := s.reading(ctx).GetPerson(ctx, id)
	if err != nil {
		return Person{}, orNotFound("find person", err)
	}
	return personOf(row), nil
}

// Password finds a person and the hash of the password by the name to sign in
// with.
func (s *Store) Password(ctx context.Context, login string) (Person, string, error) {
	row, err := s.reading(ctx).FindPerson(ctx, login)
	if err != nil {
		return Person{}, "", orNotFound("find person", err)
	}
	return personOf(row), row.Password, nil
}

// Identified finds the person, and the hash of the password if there is one,
// behind an account of a provider.
func (s *Store) Identified(ctx context.Context, i Identity) (Person, string, error) {
	row, err := s.reading(ctx).FindIdentity(ctx, db.FindIdentityParams(i))
	if err != nil {
		return Person{}, "", orNotFound("find person", err)
	}
	return personOf(row), row.Password, nil
}

// People lists everybody with an account, owners first.
func (s *Store) People(ctx context.Context) ([]Person, error) {
	rows, err := s.reading(ctx).ListPeople(ctx)
	if err != nil {
		return nil, fmt.Errorf("list people: %w", err)
	}
	list := make([]Person, 0, len(rows))
	for _, row := range rows {
		list = append(list, personOf(row))
	}
	return list, nil
}

// asOwner runs fn in a transaction in which by is an owner, and stays one:
// ErrNotFound says that by is none any more.
func (s *Store) asOwner(ctx context.Context, by Actor, fn func(q *db.Queries) error) error {
	return s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		if err := OwnerTx(ctx, q, by); err != nil {
			return err
		}
		return fn(q)
	})
}

// OwnerTx is an error unless by is an owner, and stays one until the transaction ends.
func OwnerTx(ctx context.Context, q *db.Queries, by Actor) error {
	n, err := q.LockOwner(ctx, by.Person.ID)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("find owner: %w", err)
	}
	return nil
}

// RemovePerson deletes a person with its sessions and the links that it made or
// was given. An owner cannot remove itself, so one always stays.
func (s *Store) RemovePerson(ctx context.Context, by Actor, id int64, now time.Time) error {
	if id == by.Person.ID {
		return fmt.Errorf("remove person: %w", ErrNotFound)
	}
	return s.asOwner(ctx, by, func(q *db.Queries) error {
		row, err := q.GetPerson(ctx, id)
		if err != nil {
			return orNotFound("remove person", err)
		}
		if _, err := q.DeletePerson(ctx, id); err != nil {
			return fmt.Errorf("remove person: %w", err)
		}
		return note(ctx, q, by, PersonRemoved, row.Login, now)
	})
}

// SetPassword gives by a new password, ends all its sessions and tokens, and the
// links for another one.
func (s *Store) SetPassword(ctx context.Context, by Actor, hash string, now time.Time) error {
	return s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		if err := setPassword(ctx, q, by.Person.ID, hash); err != nil {
			return err
		}
		return note(ctx, q, by, PasswordSet, "", now)
	})
}

// connect lets a person sign in with an account of a provider, and ends its
// sessions, tokens and links: it does what a new password does.
func connect(ctx context.Context, q *db.Queries, by Actor, i Identity, now time.Time) error {
	n, err := q.AddIdentity(ctx, db.AddIdentityParams{
		Issuer: i.Issuer, Subject: i.Subject, PersonID: by.Person.ID, CreatedAt: now.UnixMilli(),
	})
	if err == nil && n == 0 {
		err = ErrIdentityTaken
	}
	if err == nil {
		err = endAccess(ctx, q, by.Person.ID)
	}
	if err == nil {
		err = q.DeleteInvitationsOf(ctx, by.Person.ID)
	}
	if err != nil {
		return fmt.Errorf("connect an account of a provider: %w", err)
	}
	return note(ctx, q, by, Connected, i.Issuer, now)
}

func setPassword(ctx context.Context, q *db.Queries, id int64, hash string) error {
	n, err := q.SetPassword(ctx, db.SetPasswordParams{ID: id, Password: hash})
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	if err == nil {
		err = endAccess(ctx, q, id)
	}
	if err == nil {
		err = q.DeleteInvitationsOf(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("set password: %w", err)
	}
	return nil
}
