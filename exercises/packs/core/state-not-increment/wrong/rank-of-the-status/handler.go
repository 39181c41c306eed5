package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// OrderEvent is the value of a record: the state of an order since this version.
type OrderEvent struct {
	OrderID string `json:"order_id"`
	Version int64  `json:"version"`
	Status  string `json:"status"`
}

// rank is the order of the states in an order's life.
var rank = map[string]int{"CREATED": 1, "PAID": 2, "SHIPPED": 3}

// Handle only moves an order to a later state of its life.
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

	var status string
	err = tx.QueryRowContext(ctx, `SELECT status FROM orders WHERE id = ?`, e.OrderID).Scan(&status)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read order: %w", err)
	}
	if rank[e.Status] <= rank[status] {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `
		INSERT INTO orders (id, status, version) VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET status = excluded.status, version = excluded.version`,
		e.OrderID, e.Status, e.Version); err != nil {
		return fmt.Errorf("write order: %w", err)
	}
	return tx.Commit()
}
