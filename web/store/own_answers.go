package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"redeliver/web/store/db"
)

// OwnAnswer is what a browser answered to a question; the zero value: nothing.
type OwnAnswer struct {
	Text    string
	SavedAt time.Time
}

// SaveOwnAnswer keeps what a browser answers to a question, in place of what it
// answered before. An empty text deletes that.
func (s *Store) SaveOwnAnswer(ctx context.Context, b Browser, question string, a OwnAnswer) error {
	err := s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		id, err := TouchBrowser(ctx, q, b, a.SavedAt)
		if err != nil {
			return err
		}
		if a.Text == "" {
			return q.DeleteOwnAnswer(ctx, db.DeleteOwnAnswerParams{BrowserID: id, Question: question})
		}
		return q.SaveOwnAnswer(ctx, db.SaveOwnAnswerParams{BrowserID: id, Question: question, Answer: a.Text, SavedAt: a.SavedAt.UnixMilli()})
	})
	if err != nil {
		return fmt.Errorf("save answer to %s: %w", question, err)
	}
	return nil
}

// OwnAnswer is what a browser answered to a question.
func (s *Store) OwnAnswer(ctx context.Context, b Browser, question string) (OwnAnswer, error) {
	r, err := s.reading(ctx).GetOwnAnswer(ctx, db.GetOwnAnswerParams{TokenHash: string(b), Question: question})
	if errors.Is(err, sql.ErrNoRows) {
		return OwnAnswer{}, nil
	}
	if err != nil {
		return OwnAnswer{}, fmt.Errorf("answer to %s: %w", question, err)
	}
	return OwnAnswer{Text: r.Answer, SavedAt: time.UnixMilli(r.SavedAt)}, nil
}
