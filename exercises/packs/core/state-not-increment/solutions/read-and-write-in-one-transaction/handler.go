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

// Handle compares in Go. The transaction makes that safe here: when another
// instance commits between the SELECT and the write, SQLite answers the write
// with SQLITE_BUSY_SNAPSHOT, and the record comes again.
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

	var version int64
	err = tx.QueryRowContext(ctx, `SELECT version FROM orders WHERE id = ?`, e.OrderID).Scan(&version)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		_, err = tx.ExecContext(ctx, `INSERT INTO orders (id, status, version) VALUES (?, ?, ?)`, e.OrderID, e.Status, e.Version)
	case err != nil:
	case version >= e.Version:
		return nil
	default:
		_, err = tx.ExecContext(ctx, `UPDATE orders SET status = ?, version = ? WHERE id = ?`, e.Status, e.Version, e.OrderID)
	}
	if err != nil {
		return fmt.Errorf("order %s: %w", e.OrderID, err)
	}
	return tx.Commit()
}
