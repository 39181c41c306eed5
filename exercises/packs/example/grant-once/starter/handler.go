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

// Handle adds the points of a grant.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var g Grant
	if err := json.Unmarshal(rec.Value, &g); err != nil {
		return fmt.Errorf("decode grant: %w", err)
	}
	if _, err := db.ExecContext(ctx, `UPDATE balances SET points = points + ? WHERE customer = ?`, g.Points, g.Customer); err != nil {
		return fmt.Errorf("add points: %w", err)
	}
	return nil
}
