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

// Handle calls the gateway while its transaction is open. A rollback does not
// take the charge back, and need not: the next attempt sends the same key. The
// price is a lock that is held as long as the gateway takes.
func Handle(ctx context.Context, db *sql.DB, gw gateway.Client, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	eventID, err := eventIDOf(rec)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	var first string
	err = tx.QueryRowContext(ctx, `
		INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?)
		ON CONFLICT (event_id) DO NOTHING
		RETURNING event_id`, eventID, time.Now().UTC().Format(time.RFC3339)).Scan(&first)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	receipt, err := gw.Charge(ctx, gateway.Request{Account: p.Account, Amount: p.Amount, IdempotencyKey: first})
	if err != nil {
		return fmt.Errorf("charge payment %s: %w", p.ID, err)
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
