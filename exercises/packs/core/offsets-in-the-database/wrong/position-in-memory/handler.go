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

// positions of this process.
var positions = map[int32]int64{}

// StartOffset goes on where this process stopped.
func StartOffset(_ context.Context, _ *sql.DB, _ string, partition int32) (int64, error) {
	return positions[partition], nil
}

// Handle adds the reading.
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
	positions[rec.Partition] = rec.Offset + 1
	return nil
}
