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

// Handle adds the reading and then moves the position.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var r Reading
	if err := json.Unmarshal(rec.Value, &r); err != nil {
		return fmt.Errorf("decode reading: %w", err)
	}
	if _, err := db.ExecContext(ctx,
		`INSERT INTO meters (id, total) VALUES (?, ?)
		 ON CONFLICT (id) DO UPDATE SET total = total + excluded.total`, r.Meter, r.KWh); err != nil {
		return fmt.Errorf("add to meter %s: %w", r.Meter, err)
	}
	if _, err := db.ExecContext(ctx,
		`INSERT INTO positions (topic, partition, next_offset) VALUES (?, ?, ?)
		 ON CONFLICT (topic, partition) DO UPDATE SET next_offset = excluded.next_offset`,
		rec.Topic, rec.Partition, rec.Offset+1); err != nil {
		return fmt.Errorf("move the position: %w", err)
	}
	return nil
}
