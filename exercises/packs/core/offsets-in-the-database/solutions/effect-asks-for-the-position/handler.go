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

// Handle runs two statements in one transaction, and each looks at the position:
// a late record changes nothing.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var r Reading
	if err := json.Unmarshal(rec.Value, &r); err != nil {
		return fmt.Errorf("decode reading: %w", err)
	}
	args := []any{
		sql.Named("topic", rec.Topic), sql.Named("partition", rec.Partition), sql.Named("offset", rec.Offset),
		sql.Named("meter", r.Meter), sql.Named("kwh", r.KWh),
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	for _, query := range []string{
		`INSERT INTO meters (id, total)
		 SELECT :meter, :kwh
		 WHERE NOT EXISTS (SELECT 1 FROM positions WHERE topic = :topic AND partition = :partition AND next_offset > :offset)
		 ON CONFLICT (id) DO UPDATE SET total = total + excluded.total`,
		`INSERT INTO positions (topic, partition, next_offset)
		 VALUES (:topic, :partition, :offset + 1)
		 ON CONFLICT (topic, partition) DO UPDATE SET next_offset = MAX(next_offset, excluded.next_offset)`,
	} {
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			return fmt.Errorf("count offset %d: %w", rec.Offset, err)
		}
	}
	return tx.Commit()
}
