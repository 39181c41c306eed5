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

// Handle writes only over the version that it has read. Whoever was faster makes
// the write change no row, and the next round reads again.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var e OrderEvent
	if err := json.Unmarshal(rec.Value, &e); err != nil {
		return fmt.Errorf("decode order event: %w", err)
	}
	for range 5 {
		done, err := move(ctx, db, e)
		if err != nil {
			return fmt.Errorf("order %s: %w", e.OrderID, err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("order %s changes too fast", e.OrderID)
}

func move(ctx context.Context, db *sql.DB, e OrderEvent) (done bool, err error) {
	var res sql.Result
	var seen int64
	err = db.QueryRowContext(ctx, `SELECT version FROM orders WHERE id = ?`, e.OrderID).Scan(&seen)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		res, err = db.ExecContext(ctx,
			`INSERT INTO orders (id, status, version) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
			e.OrderID, e.Status, e.Version)
	case err != nil:
	case seen >= e.Version:
		return true, nil
	default:
		res, err = db.ExecContext(ctx,
			`UPDATE orders SET status = ?, version = ? WHERE id = ? AND version = ?`,
			e.Status, e.Version, e.OrderID, seen)
	}
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
