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

// Handle tries each statement again until the database takes it.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	marked, err := exec(ctx, db,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		header(rec, "event-id"), time.Now().UTC().Format(time.RFC3339))
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	if marked == 0 {
		return nil
	}
	if _, err := exec(ctx, db,
		`INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`, p.ID, p.Account, p.Amount); err != nil {
		return fmt.Errorf("insert charge: %w", err)
	}
	if _, err := exec(ctx, db,
		`UPDATE accounts SET balance = balance - ? WHERE id = ?`, p.Amount, p.Account); err != nil {
		return fmt.Errorf("debit account: %w", err)
	}
	return nil
}

func exec(ctx context.Context, db *sql.DB, query string, args ...any) (int64, error) {
	var err error
	for range 3 {
		var res sql.Result
		if res, err = db.ExecContext(ctx, query, args...); err == nil {
			return res.RowsAffected()
		}
	}
	return 0, err
}

func header(rec *kgo.Record, key string) string {
	for _, h := range rec.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
