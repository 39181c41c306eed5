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

// Handle stores the charge once, then debits the account.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	eventID, err := eventIDOf(rec)
	if err != nil {
		return err
	}

	first, err := storeCharge(ctx, db, eventID, p)
	if err != nil || !first {
		return err
	}
	return debitAccount(ctx, db, p)
}

// storeCharge says whether this is the event's first delivery.
func storeCharge(ctx context.Context, db *sql.DB, eventID string, p Payment) (bool, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	res, err := tx.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		eventID, time.Now().UTC().Format(time.RFC3339))
	if err != nil {
		return false, fmt.Errorf("mark event: %w", err)
	}
	marked, err := res.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("mark event: %w", err)
	}
	if marked == 0 {
		return false, nil
	}
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`,
		p.ID, p.Account, p.Amount); err != nil {
		return false, fmt.Errorf("insert charge: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return false, fmt.Errorf("commit charge: %w", err)
	}
	return true, nil
}

func debitAccount(ctx context.Context, db *sql.DB, p Payment) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	if _, err := tx.ExecContext(ctx,
		`UPDATE accounts SET balance = balance - ? WHERE id = ?`,
		p.Amount, p.Account); err != nil {
		return fmt.Errorf("debit account: %w", err)
	}
	return tx.Commit()
}

func eventIDOf(rec *kgo.Record) (string, error) {
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			return string(h.Value), nil
		}
	}
	return "", errors.New("the record has no event-id header")
}
