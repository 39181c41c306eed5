package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// seen holds the ids of the events that were applied.
var seen = &idSet{ids: make(map[string]bool)}

type idSet struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (s *idSet) contains(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[id]
}

func (s *idSet) add(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids[id] = true
}

// Handle remembers which events it has applied.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	eventID, err := eventIDOf(rec)
	if err != nil {
		return err
	}

	if seen.contains(eventID) {
		return nil
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	if _, err := tx.ExecContext(ctx,
		`INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`,
		p.ID, p.Account, p.Amount); err != nil {
		return fmt.Errorf("insert charge: %w", err)
	}
	if _, err := tx.ExecContext(ctx,
		`UPDATE accounts SET balance = balance - ? WHERE id = ?`,
		p.Amount, p.Account); err != nil {
		return fmt.Errorf("debit account: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	seen.add(eventID)
	return nil
}

func eventIDOf(rec *kgo.Record) (string, error) {
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			return string(h.Value), nil
		}
	}
	return "", errors.New("the record has no event-id header")
}
