package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"redeliver/web/store/db"
)

// KeepAnswers is how long a key of a program stands for what it was first sent with.
const KeepAnswers = 24 * time.Hour

// MaxAnswers and MaxAnswerBytes bound what is kept for one token.
const (
	MaxAnswers     = 1000
	MaxAnswerBytes = 16 << 20
)

// ErrOtherRequest says that a key was sent with another request before.
var ErrOtherRequest = errors.New("the key belongs to another request")

// ErrManyAnswers says that a token has as many answers as are kept.
var ErrManyAnswers = errors.New("too many answers are kept")

// ErrNoToken says that there is no such token any more.
var ErrNoToken = errors.New("the token has ended")

// Keyed is a request of a program that is done once, however often it comes.
type Keyed struct {
	TokenHash string // of the token that it came with; each has keys of its own
	Key       string
	Request   string // hash of all that is asked for
}

// Once returns what a request was answered, or else lets do make the answer. What do
// does with its context is in one transaction with the key and the answer: after an
// error nothing of it is there, and the key is free. Two that come at once follow each
// other. Beside do's errors: ErrOtherRequest, ErrManyAnswers, ErrNoToken.
func (s *Store) Once(ctx context.Context, k Keyed, now time.Time, do func(context.Context) (answer string, err error)) (answer string, err error) {
	err = s.InTx(ctx, func(tx *sql.Tx, q *db.Queries) error {
		token, err := q.FindToken(ctx, db.FindTokenParams{TokenHash: k.TokenHash, Now: now.UnixMilli()})
		if errors.Is(err, sql.ErrNoRows) {
			err = ErrNoToken
		}
		if err != nil {
			return fmt.Errorf("find token: %w", err)
		}
		id := token.ApiToken.ID
		first, err := beginAnswer(ctx, q, id, k, now)
		if err != nil {
			return err
		}
		if !first {
			answer, err = k.answered(ctx, q, id)
			return err
		}
		if answer, err = do(context.WithValue(ctx, txKey{}, tx)); err != nil {
			return err
		}
		if err := q.KeepAnswer(ctx, db.KeepAnswerParams{Answer: answer, TokenID: id, Key: k.Key}); err != nil {
			return fmt.Errorf("keep answer: %w", err)
		}
		return nil
	})
	return answer, err
}

// beginAnswer takes the key, unless it is taken already.
func beginAnswer(ctx context.Context, q *db.Queries, token int64, k Keyed, now time.Time) (first bool, err error) {
	since := now.Add(-KeepAnswers).UnixMilli()
	if err := q.ForgetAnswer(ctx, db.ForgetAnswerParams{TokenID: token, Key: k.Key, Before: since}); err != nil {
		return false, fmt.Errorf("forget answer: %w", err)
	}
	n, err := q.BeginAnswer(ctx, db.BeginAnswerParams{TokenID: token, Key: k.Key, Request: k.Request, CreatedAt: now.UnixMilli()})
	if err != nil {
		return false, fmt.Errorf("begin answer: %w", err)
	}
	if n == 0 {
		return false, nil
	}
	kept, err := q.CountAnswers(ctx, db.CountAnswersParams{TokenID: token, Since: since})
	if err == nil && (kept.Answers > MaxAnswers || kept.Size > MaxAnswerBytes) {
		err = ErrManyAnswers
	}
	if err != nil {
		return false, fmt.Errorf("count answers: %w", err)
	}
	return true, nil
}

// answered is what the request was answered before.
func (k Keyed) answered(ctx context.Context, q *db.Queries, token int64) (string, error) {
	row, err := q.FindAnswer(ctx, db.FindAnswerParams{TokenID: token, Key: k.Key})
	if err == nil && row.Request != k.Request {
		err = ErrOtherRequest
	}
	if err != nil {
		return "", fmt.Errorf("find answer: %w", err)
	}
	return row.Answer, nil
}
