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

var errOutdated = errors.New("the event is outdated")

// Handle does not let an older event through.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var e OrderEvent
	if err := json.Unmarshal(rec.Value, &e); err != nil {
		return fmt.Errorf("decode order event: %w", err)
	}
	res, err := db.ExecContext(ctx, `
		INSERT INTO orders (id, status, version) VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET status = excluded.status, version = excluded.version
		WHERE excluded.version > orders.version`,
		e.OrderID, e.Status, e.Version)
	if err != nil {
		return fmt.Errorf("set the state of order %s: %w", e.OrderID, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("order %s, version %d: %w", e.OrderID, e.Version, errOutdated)
	}
	return nil
}
