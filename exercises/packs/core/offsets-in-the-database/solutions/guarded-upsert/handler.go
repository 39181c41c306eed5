package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Reading is the value of a record.
type Reading struct {
	Meter string `json:"meter"`
	KWh   int64  `json:"kwh"`
}

// StartOffset says where to go on in a partition: at the position that was
// committed together with the totals, or at the beginning.
func StartOffset(ctx context.Context, db *sql.DB, topic string, partition int32) (int64, error) {
	var next int64
	err := db.QueryRowContext(ctx,
		`SELECT next_offset FROM positions WHERE topic = ? AND partition = ?`, topic, partition).Scan(&next)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the position: %w", err)
	}
	return next, nil
}

// Handle moves the position and adds the reading in one transaction. The position
// moves forward only: when it does not move, the reading is in the totals, and
// whoever delivers it is late.
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
		`INSERT INTO positions (topic, partition, next_offset) VALUES (?, ?, ?)
		 ON CONFLICT (topic, partition) DO UPDATE SET next_offset = excluded.next_offset
		 WHERE positions.next_offset < excluded.next_offset`,
		rec.Topic, rec.Partition, rec.Offset+1)
	if err != nil {
		return fmt.Errorf("move the position: %w", err)
	}
	moved, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("move the position: %w", err)
	}
	if moved == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO meters (id, total) VALUES (?, ?)
		 ON CONFLICT (id) DO UPDATE SET total = total + excluded.total`, r.Meter, r.KWh); err != nil {
		return fmt.Errorf("add to meter %s: %w", r.Meter, err)
	}
	return tx.Commit()
}
