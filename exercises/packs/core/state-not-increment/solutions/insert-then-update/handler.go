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

// Handle creates the order if it is new, and moves it forward if it is older. An
// update that changes no row is no error: the row is as new as the event.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var e OrderEvent
	if err := json.Unmarshal(rec.Value, &e); err != nil {
		return fmt.Errorf("decode order event: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	if _, err := tx.ExecContext(ctx,
		`INSERT OR IGNORE INTO orders (id, status, version) VALUES (?, ?, ?)`,
		e.OrderID, e.Status, e.Version); err != nil {
		return fmt.Errorf("create order: %w", err)
	}
	if _, err := tx.ExecContext(ctx,
		`UPDATE orders SET status = ?, version = ? WHERE id = ? AND version < ?`,
		e.Status, e.Version, e.OrderID, e.Version); err != nil {
		return fmt.Errorf("update order: %w", err)
	}
	return tx.Commit()
}
