package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"redeliver/web/store/db"
)

// MaxTokens bounds the tokens of one person.
const MaxTokens = 20

// touchToken is how late the last use of a token is written down: not every request
// shall write.
const touchToken = time.Minute

// Token is what a program acts with instead of a person. The token itself is known
// only when it is made.
type Token struct {
	ID        int64
	Name      string
	CreatedAt time.Time
	ExpiresAt time.Time // zero: it does not end by itself
	UsedAt    time.Time // zero: never
}

func tokenOf(row db.ApiToken) Token {
	return Token{
		ID: row.ID, Name: row.Name, CreatedAt: time.UnixMilli(row.CreatedAt),
		ExpiresAt: timeOf(row.ExpiresAt), UsedAt: timeOf(row.UsedAt),
	}
}

// AddToken keeps the hash of a token of by. Of t, the name and the end count.
func (s *Store) AddToken(ctx context.Context, by Actor, tokenHash string, t Token, now time.Time) error {
	return s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		found, err := q.LockPerson(ctx, by.Person.ID)
		if err == nil && found == 0 {
			err = ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("add token: %w", err)
		}
		n, err := q.CountTokens(ctx, db.CountTokensParams{PersonID: by.Person.ID, Now: now.UnixMilli()})
		if err == nil && n >= MaxTokens {
			err = ErrFull
		}
		if err == nil {
			err = q.CreateToken(ctx, db.CreateTokenParams{
				PersonID: by.Person.ID, TokenHash: tokenHash, Name: t.Name, CreatedAt: now.UnixMilli(), ExpiresAt: millis(t.ExpiresAt),
			})
		}
		if err != nil {
			return fmt.Errorf("add token: %w", err)
		}
		return note(ctx, q, by, TokenMade, t.Name, now)
	})
}

// Tokens lists the tokens of a person that have not ended.
func (s *Store) Tokens(ctx context.Context, person int64, now time.Time) ([]Token, error) {
	rows, err := s.reading(ctx).ListTokens(ctx, db.ListTokensParams{PersonID: person, Now: now.UnixMilli()})
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	list := make([]Token, 0, len(rows))
	for _, row := range rows {
		list = append(list, tokenOf(row))
	}
	return list, nil
}

// PersonByToken finds for whom a token acts, and notes that it is used. ErrNotFound:
// there is none, or it has ended.
func (s *Store) PersonByToken(ctx context.Context, tokenHash string, now time.Time) (Person, error) {
	row, err := s.reading(ctx).FindToken(ctx, db.FindTokenParams{TokenHash: tokenHash, Now: now.UnixMilli()})
	if err != nil {
		return Person{}, orNotFound("find token", err)
	}
	if now.Sub(timeOf(row.ApiToken.UsedAt)) >= touchToken {
		used := db.TouchTokenParams{ID: row.ApiToken.ID, UsedAt: millis(now)}
		if err := s.writing(ctx).TouchToken(ctx, used); err != nil {
			return Person{}, fmt.Errorf("note use of token: %w", err)
		}
	}
	return personOf(row.Person), nil
}

// RevokeToken ends a token of by. ErrNotFound: by has no such token.
func (s *Store) RevokeToken(ctx context.Context, by Actor, id int64, now time.Time) error {
	return s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		name, err := q.DeleteToken(ctx, db.DeleteTokenParams{ID: id, PersonID: by.Person.ID})
		if err != nil {
			return orNotFound("revoke token", err)
		}
		return note(ctx, q, by, TokenRevoked, name, now)
	})
}

// endAccess ends every session and every token of a person.
func endAccess(ctx context.Context, q *db.Queries, person int64) error {
	_, err := q.DeleteSessionsOf(ctx, person)
	return errors.Join(err, q.DeleteTokensOf(ctx, person))
}
