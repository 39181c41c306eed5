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

// Handle replaces the row, provided that none is there which is as new.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var e OrderEvent
	if err := json.Unmarshal(rec.Value, &e); err != nil {
		return fmt.Errorf("decode order event: %w", err)
	}
	if _, err := db.ExecContext(ctx, `
		INSERT OR REPLACE INTO orders (id, status, version)
		SELECT :id, :status, :version
		WHERE NOT EXISTS (SELECT 1 FROM orders WHERE id = :id AND version >= :version)`,
		sql.Named("id", e.OrderID), sql.Named("status", e.Status), sql.Named("version", e.Version)); err != nil {
		return fmt.Errorf("replace order %s: %w", e.OrderID, err)
	}
	return nil
}
