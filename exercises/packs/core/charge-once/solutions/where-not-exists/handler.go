package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Handle makes the effect ask for itself: each statement changes something
// only while the event is not marked, and the mark is set last, in the same
// transaction. A copy runs all three statements and changes nothing.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p struct {
		ID      string `json:"payment_id"`
		Account string `json:"account"`
		Amount  int64  `json:"amount"`
	}
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	args := []any{
		sql.Named("event", eventID(rec)),
		sql.Named("payment", p.ID),
		sql.Named("account", p.Account),
		sql.Named("amount", p.Amount),
		sql.Named("now", time.Now().UTC().Format(time.RFC3339)),
	}

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
		`INSERT INTO processed_events (event_id, processed_at)
		 SELECT :event, :now
		 WHERE NOT EXISTS (SELECT 1 FROM processed_events WHERE event_id = :event)`,
	} {
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			return fmt.Errorf("apply payment %s: %w", p.ID, err)
		}
	}
	return tx.Commit()
}

func eventID(rec *kgo.Record) string {
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			return string(h.Value)
		}
	}
	return ""
}
