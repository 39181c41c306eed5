package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/gateway"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// Handle may call the gateway again for the same payment at any time: the event's
// id is the key, so the answer is the receipt of the first call. The row is
// written once, with the mark.
func Handle(ctx context.Context, db *sql.DB, gw gateway.Client, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	eventID, err := eventIDOf(rec)
	if err != nil {
		return err
	}
	switch done, err := processed(ctx, db, eventID); {
	case err != nil:
		return err
	case done:
		return nil
	}

	receipt, err := gw.Charge(ctx, gateway.Request{Account: p.Account, Amount: p.Amount, IdempotencyKey: eventID})
	if err != nil {
		return fmt.Errorf("charge payment %s: %w", p.ID, err)
	}
	return store(ctx, db, eventID, p, receipt)
}

func processed(ctx context.Context, db *sql.DB, eventID string) (done bool, err error) {
	err = db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM processed_events WHERE event_id = ?)`, eventID).Scan(&done)
	if err != nil {
		return false, fmt.Errorf("look for the event: %w", err)
	}
	return done, nil
}

// store writes the receipt down, once per event.
func store(ctx context.Context, db *sql.DB, eventID string, p Payment, receipt gateway.Receipt) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	res, err := tx.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		eventID, time.Now().UTC().Format(time.RFC3339))
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	marked, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	if marked == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO charges (payment_id, account, amount, receipt_id) VALUES (?, ?, ?, ?)`,
		p.ID, p.Account, p.Amount, receipt.ID); err != nil {
		return fmt.Errorf("insert charge: %w", err)
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
