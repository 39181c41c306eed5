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

// Handle stores the order and its event in one transaction. An order that is
// there already has its event too.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var o Order
	if err := json.Unmarshal(rec.Value, &o); err != nil {
		return fmt.Errorf("decode order: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	res, err := tx.ExecContext(ctx, `INSERT INTO orders (id, amount) VALUES (?, ?) ON CONFLICT DO NOTHING`, o.ID, o.Amount)
	if err != nil {
		return fmt.Errorf("insert order: %w", err)
	}
	if inserted, err := res.RowsAffected(); err != nil || inserted == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO outbox (event_id, topic, key, value) VALUES (?, 'order-confirmed', ?, ?)`,
		uuid.NewString(), o.ID, string(rec.Value)); err != nil {
		return fmt.Errorf("insert event: %w", err)
	}
	return tx.Commit()
}

// Relay marks an event before it sends it, so that no other instance sends it too.
func Relay(ctx context.Context, db *sql.DB, cl *kgo.Client) error {
	events, err := unsent(ctx, db)
	if err != nil {
		return err
	}
	for _, e := range events {
		res, err := db.ExecContext(ctx, `UPDATE outbox SET sent = 1 WHERE id = ? AND sent = 0`, e.id)
		if err != nil {
			return fmt.Errorf("mark event %d: %w", e.id, err)
		}
		if marked, err := res.RowsAffected(); err != nil || marked == 0 {
			return err
		}
		if err := cl.ProduceSync(ctx, e.record()).FirstErr(); err != nil {
			return fmt.Errorf("send event %d: %w", e.id, err)
		}
	}
	return nil
}

// event is a row of the outbox.
type event struct {
	id                         int64
	eventID, topic, key, value string
}

func (e event) record() *kgo.Record {
	return &kgo.Record{
		Topic: e.topic, Key: []byte(e.key), Value: []byte(e.value),
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte(e.eventID)}},
	}
}

// unsent reads the events that are not marked as sent, oldest first.
func unsent(ctx context.Context, db *sql.DB) ([]event, error) {
	rows, err := db.QueryContext(ctx, `SELECT id, event_id, topic, key, value FROM outbox WHERE sent = 0 ORDER BY id LIMIT 10`)
	if err != nil {
		return nil, fmt.Errorf("read the outbox: %w", err)
	}
	defer rows.Close()
	var events []event
	for rows.Next() {
		var e event
		if err := rows.Scan(&e.id, &e.eventID, &e.topic, &e.key, &e.value); err != nil {
			return nil, fmt.Errorf("read the outbox: %w", err)
		}
		events = append(events, e)
	}
	return events, rows.Err()
}
