package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// OrderEvent is the value of a record: the state of an order since this version.
type OrderEvent struct {
	OrderID string `json:"order_id"`
	Version int64  `json:"version"`
	Status  string `json:"status"`
}

// Handle moves an order to a newer state.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var e OrderEvent
	if err := json.Unmarshal(rec.Value, &e); err != nil {
		return fmt.Errorf("decode order event: %w", err)
	}
	if _, err := db.ExecContext(ctx,
		`UPDATE orders SET status = ?, version = ? WHERE id = ? AND version < ?`,
		e.Status, e.Version, e.OrderID, e.Version); err != nil {
		return fmt.Errorf("update order: %w", err)
	}
	return nil
}
