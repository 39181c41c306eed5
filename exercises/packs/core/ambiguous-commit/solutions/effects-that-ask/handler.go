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

// Handle runs statements of which each looks for the mark itself, so the whole
// transaction may be repeated as often as one likes.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	args := []any{
		sql.Named("event", header(rec, "event-id")),
		sql.Named("payment", p.ID),
		sql.Named("account", p.Account),
		sql.Named("amount", p.Amount),
		sql.Named("now", time.Now().UTC().Format(time.RFC3339)),
	}
	err := apply(ctx, db, args)
	if err != nil {
		err = apply(ctx, db, args)
	}
	return err
}

func apply(ctx context.Context, db *sql.DB, args []any) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	for _, query := range []string{
		`INSERT INTO charges (payment_id, account, amount)
		 SELECT :payment, :account, :amount
		 WHERE NOT EXISTS (SELECT 1 FROM processed_events WHERE event_id = :event)`,
		`UPDATE accounts SET balance = balance - :amount
		 WHERE id = :account AND NOT EXISTS (SELECT 1 FROM processed_events WHERE event_id = :event)`,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (:event, :now) ON CONFLICT DO NOTHING`,
	} {
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			return fmt.Errorf("apply: %w", err)
		}
	}
	return tx.Commit()
}

func header(rec *kgo.Record, key string) string {
	for _, h := range rec.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
