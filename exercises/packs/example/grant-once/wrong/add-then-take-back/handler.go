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

// Handle adds the points, and takes them back when the event was processed
// before.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var g Grant
	if err := json.Unmarshal(rec.Value, &g); err != nil {
		return fmt.Errorf("decode grant: %w", err)
	}
	if _, err := db.ExecContext(ctx, `UPDATE balances SET points = points + ? WHERE customer = ?`, g.Points, g.Customer); err != nil {
		return fmt.Errorf("add points: %w", err)
	}
	res, err := db.ExecContext(ctx, `INSERT INTO processed_events (event_id) VALUES (?) ON CONFLICT DO NOTHING`, eventIDOf(rec))
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	if _, err := db.ExecContext(ctx, `UPDATE balances SET points = points - ? WHERE customer = ?`, g.Points, g.Customer); err != nil {
		return fmt.Errorf("take points back: %w", err)
	}
	return nil
}

func eventIDOf(rec *kgo.Record) string {
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			return string(h.Value)
		}
	}
	return ""
}
