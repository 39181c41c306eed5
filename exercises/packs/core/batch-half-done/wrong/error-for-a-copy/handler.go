package handler

import (
	"context"
	"database/sql"
	"encoding/json"
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

// HandleBatch applies the records one after the other.
func HandleBatch(ctx context.Context, db *sql.DB, recs []*kgo.Record) error {
	for _, rec := range recs {
		p, eventID, err := decode(rec)
		if err != nil {
			return err
		}
		if err := one(ctx, db, eventID, p); err != nil {
			return fmt.Errorf("payment %s: %w", p.ID, err)
		}
	}
	return nil
}

// one applies one payment, once, in a transaction of its own.
func one(ctx context.Context, db *sql.DB, eventID string, p Payment) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	if _, err := tx.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?)`,
		eventID, time.Now().UTC().Format(time.RFC3339)); err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	if err := charge(ctx, tx, p); err != nil {
		return err
	}
	return tx.Commit()
}

func charge(ctx context.Context, tx *sql.Tx, p Payment) error {
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
	return nil
}

func decode(rec *kgo.Record) (p Payment, eventID string, err error) {
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return p, "", fmt.Errorf("decode payment at offset %d: %w", rec.Offset, err)
	}
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			return p, string(h.Value), nil
		}
	}
	return p, "", fmt.Errorf("the record at offset %d has no event-id header", rec.Offset)
}
