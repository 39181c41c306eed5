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

// Handle removes what a failed attempt may have left behind and tries again.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	eventID := header(rec, "event-id")

	committed, err := charge(ctx, db, eventID, p)
	if err == nil || committed {
		return err
	}
	if _, err := db.ExecContext(ctx, `DELETE FROM processed_events WHERE event_id = ?`, eventID); err != nil {
		return fmt.Errorf("clear the mark of the failed attempt: %w", err)
	}
	_, err = charge(ctx, db, eventID, p)
	return err
}

// charge says with an error whether a second attempt makes sense.
func charge(ctx context.Context, db *sql.DB, eventID string, p Payment) (final bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return true, fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	res, err := tx.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		eventID, time.Now().UTC().Format(time.RFC3339))
	if err != nil {
		return true, fmt.Errorf("mark event: %w", err)
	}
	marked, err := res.RowsAffected()
	if err != nil {
		return true, fmt.Errorf("mark event: %w", err)
	}
	if marked == 0 {
		return true, nil
	}
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`,
		p.ID, p.Account, p.Amount); err != nil {
		return true, fmt.Errorf("insert charge: %w", err)
	}
	if _, err := tx.ExecContext(ctx,
		`UPDATE accounts SET balance = balance - ? WHERE id = ?`,
		p.Amount, p.Account); err != nil {
		return true, fmt.Errorf("debit account: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return false, fmt.Errorf("commit: %w", err)
	}
	return true, nil
}

func header(rec *kgo.Record, key string) string {
	for _, h := range rec.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
