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

// Handle marks the event first: whoever sets the mark charges.
func Handle(ctx context.Context, db *sql.DB, gw gateway.Client, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	eventID, err := eventIDOf(rec)
	if err != nil {
		return err
	}
	res, err := db.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		eventID, time.Now().UTC().Format(time.RFC3339))
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	if marked, err := res.RowsAffected(); err != nil || marked == 0 {
		return err
	}

	receipt, err := gw.Charge(ctx, gateway.Request{Account: p.Account, Amount: p.Amount, IdempotencyKey: eventID})
	if err != nil {
		return fmt.Errorf("charge payment %s: %w", p.ID, err)
	}
	if _, err := db.ExecContext(ctx,
		`INSERT INTO charges (payment_id, account, amount, receipt_id) VALUES (?, ?, ?, ?)`,
		p.ID, p.Account, p.Amount, receipt.ID); err != nil {
		return fmt.Errorf("insert charge: %w", err)
	}
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
