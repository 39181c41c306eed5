package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// HandleBatch applies what it can. After an error it stops, and keeps what is
// applied.
func HandleBatch(ctx context.Context, db *sql.DB, recs []*kgo.Record) error {
	for _, rec := range recs {
		p, eventID, err := decode(rec)
		if err != nil {
			return err
		}
		if err := one(ctx, db, eventID, p); err != nil {
			log.Printf("payment %s: %v", p.ID, err)
			break
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

	isNew, err := mark(ctx, tx, eventID)
	if err != nil || !isNew {
		return err
	}
	if err := charge(ctx, tx, p); err != nil {
		return err
	}
	return tx.Commit()
}

// mark stores the event's id and says whether it is new.
func mark(ctx context.Context, tx *sql.Tx, eventID string) (isNew bool, err error) {
	res, err := tx.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		eventID, time.Now().UTC().Format(time.RFC3339))
	if err != nil {
		return false, fmt.Errorf("mark event: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("mark event: %w", err)
	}
	return n == 1, nil
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
