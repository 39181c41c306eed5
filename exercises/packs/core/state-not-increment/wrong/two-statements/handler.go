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

// Handle moves the version forward, and the status with it.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var e OrderEvent
	if err := json.Unmarshal(rec.Value, &e); err != nil {
		return fmt.Errorf("decode order event: %w", err)
	}
	res, err := db.ExecContext(ctx, `
		INSERT INTO orders (id, status, version) VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET version = excluded.version
		WHERE excluded.version > orders.version`,
		e.OrderID, e.Status, e.Version)
	if err != nil {
		return fmt.Errorf("move order %s forward: %w", e.OrderID, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if _, err := db.ExecContext(ctx, `UPDATE orders SET status = ? WHERE id = ?`, e.Status, e.OrderID); err != nil {
		return fmt.Errorf("set status: %w", err)
	}
	return nil
}
