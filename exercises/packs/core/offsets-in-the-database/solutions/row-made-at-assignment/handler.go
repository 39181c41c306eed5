package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Reading is the value of a record.
type Reading struct {
	Meter string `json:"meter"`
	KWh   int64  `json:"kwh"`
}

// StartOffset makes sure that the partition has a row, so that Handle only ever
// updates it.
func StartOffset(ctx context.Context, db *sql.DB, topic string, partition int32) (int64, error) {
	if _, err := db.ExecContext(ctx,
		`INSERT OR IGNORE INTO positions (topic, partition, next_offset) VALUES (?, ?, 0)`, topic, partition); err != nil {
		return 0, fmt.Errorf("make the position: %w", err)
	}
	var next int64
	if err := db.QueryRowContext(ctx,
		`SELECT next_offset FROM positions WHERE topic = ? AND partition = ?`, topic, partition).Scan(&next); err != nil {
		return 0, fmt.Errorf("read the position: %w", err)
	}
	return next, nil
}

// Handle claims the record by moving the position over it.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var r Reading
	if err := json.Unmarshal(rec.Value, &r); err != nil {
		return fmt.Errorf("decode reading: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	res, err := tx.ExecContext(ctx,
		`UPDATE positions SET next_offset = ? WHERE topic = ? AND partition = ? AND next_offset <= ?`,
		rec.Offset+1, rec.Topic, rec.Partition, rec.Offset)
	if err != nil {
		return fmt.Errorf("claim offset %d: %w", rec.Offset, err)
	}
	if claimed, err := res.RowsAffected(); err != nil || claimed == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO meters (id, total) VALUES (?, ?)
		 ON CONFLICT (id) DO UPDATE SET total = total + excluded.total`, r.Meter, r.KWh); err != nil {
		return fmt.Errorf("add to meter %s: %w", r.Meter, err)
	}
	return tx.Commit()
}
