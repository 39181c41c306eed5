package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Handle does the work first and sets the mark last: the order inside a
// transaction does not matter. When the mark is there already, the work is
// rolled back.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p struct {
		ID      string `json:"payment_id"`
		Account string `json:"account"`
		Amount  int64  `json:"amount"`
	}
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	headers := make(map[string]string, len(rec.Headers))
	for _, h := range rec.Headers {
		headers[h.Key] = string(h.Value)
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	if _, err := tx.ExecContext(ctx, `UPDATE accounts SET balance = balance - ? WHERE id = ?`, p.Amount, p.Account); err != nil {
		return fmt.Errorf("debit account: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`, p.ID, p.Account, p.Amount); err != nil {
		return fmt.Errorf("insert charge: %w", err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?)`,
		headers["event-id"], time.Now().UTC().Format(time.RFC3339))
	if err != nil && strings.Contains(err.Error(), "UNIQUE constraint failed: processed_events.event_id") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	return tx.Commit()
}
