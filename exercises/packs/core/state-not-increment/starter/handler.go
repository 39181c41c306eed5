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

// Handle is called for every record that is delivered. When it returns nil, the
// record's offset is committed; when it returns an error, the record comes
// again.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var e OrderEvent
	if err := json.Unmarshal(rec.Value, &e); err != nil {
		return fmt.Errorf("decode order event: %w", err)
	}
	if _, err := db.ExecContext(ctx, `
		INSERT INTO orders (id, status, version) VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET status = excluded.status, version = excluded.version`,
		e.OrderID, e.Status, e.Version); err != nil {
		return fmt.Errorf("set the state of order %s: %w", e.OrderID, err)
	}
	return nil
}
