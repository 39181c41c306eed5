package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Grant is the value of a record.
type Grant struct {
	ID       string `json:"grant_id"`
	Customer string `json:"customer"`
	Points   int64  `json:"points"`
}

// Handle marks the event and adds its points in one transaction.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var g Grant
	if err := json.Unmarshal(rec.Value, &g); err != nil {
		return fmt.Errorf("decode grant: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	res, err := tx.ExecContext(ctx, `INSERT INTO processed_events (event_id) VALUES (?) ON CONFLICT DO NOTHING`, eventIDOf(rec))
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil {
		return fmt.Errorf("mark event: %w", err)
	} else if n == 0 {
		return nil // a copy
	}
	if _, err := tx.ExecContext(ctx, `UPDATE balances SET points = points + ? WHERE customer = ?`, g.Points, g.Customer); err != nil {
		return fmt.Errorf("add points: %w", err)
	}
	return tx.Commit()
}

func eventIDOf(rec *kgo.Record) string {
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			return string(h.Value)
		}
	}
	return ""
}
