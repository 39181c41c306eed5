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

// Handle puts the new state in the place of the old one.
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

	if _, err := tx.ExecContext(ctx, `DELETE FROM orders WHERE id = ?`, e.OrderID); err != nil {
		return fmt.Errorf("delete the old state: %w", err)
	}
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO orders (id, status, version) VALUES (?, ?, ?)`, e.OrderID, e.Status, e.Version); err != nil {
		return fmt.Errorf("insert the new state: %w", err)
	}
	return tx.Commit()
}
