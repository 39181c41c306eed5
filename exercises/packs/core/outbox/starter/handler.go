package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Order is the value of a record, and of its confirmation.
type Order struct {
	ID     string `json:"order_id"`
	Amount int64  `json:"amount"` // cents
}

// Handle is called for every record of the topic orders. When it returns nil,
// the record's offset is committed; when it returns an error, the record comes
// again.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var o Order
	if err := json.Unmarshal(rec.Value, &o); err != nil {
		return fmt.Errorf("decode order: %w", err)
	}

	res, err := db.ExecContext(ctx,
		`INSERT INTO orders (id, amount) VALUES (?, ?) ON CONFLICT (id) DO NOTHING`, o.ID, o.Amount)
	if err != nil {
		return fmt.Errorf("insert order: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err // the order is there already
	}

	if _, err := db.ExecContext(ctx,
		`INSERT INTO outbox (event_id, topic, key, value) VALUES (?, 'order-confirmed', ?, ?)`,
		uuid.NewString(), o.ID, string(rec.Value)); err != nil {
		return fmt.Errorf("insert event: %w", err)
	}
	return nil
}

// Relay sends what is waiting in the outbox. It is called again and again, on
// any instance, until nothing is left to do.
func Relay(ctx context.Context, db *sql.DB, cl *kgo.Client) error {
	rows, err := db.QueryContext(ctx, `SELECT id, event_id, topic, key, value FROM outbox WHERE sent = 0 ORDER BY id`)
	if err != nil {
		return fmt.Errorf("read outbox: %w", err)
	}
	defer rows.Close()

	for rows.Next() {
		var id int64
		var eventID, topic, key, value string
		if err := rows.Scan(&id, &eventID, &topic, &key, &value); err != nil {
			return fmt.Errorf("read outbox: %w", err)
		}
		if _, err := db.ExecContext(ctx, `UPDATE outbox SET sent = 1 WHERE id = ?`, id); err != nil {
			return fmt.Errorf("mark event: %w", err)
		}
		rec := &kgo.Record{
			Topic: topic, Key: []byte(key), Value: []byte(value),
			Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte(eventID)}},
		}
		if err := cl.ProduceSync(ctx, rec).FirstErr(); err != nil {
			return fmt.Errorf("send event: %w", err)
		}
	}
	return rows.Err()
}
