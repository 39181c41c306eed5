package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Order is the value of a record, and of its confirmation.
type Order struct {
	ID     string `json:"order_id"`
	Amount int64  `json:"amount"` // cents
}

// Handle computes the event's id from the order, so that it is the same however
// often the two inserts run.
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

	if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO orders (id, amount) VALUES (?, ?)`, o.ID, o.Amount); err != nil {
		return fmt.Errorf("insert order: %w", err)
	}
	if _, err := tx.ExecContext(ctx,
		`INSERT OR IGNORE INTO outbox (event_id, topic, key, value) VALUES (?, 'order-confirmed', ?, ?)`,
		"order-confirmed:"+o.ID, o.ID, string(rec.Value)); err != nil {
		return fmt.Errorf("insert event: %w", err)
	}
	return tx.Commit()
}

// Relay sends each event and marks it when the broker has it. Between the two it
// can die: then the event is sent again, with the same id.
func Relay(ctx context.Context, db *sql.DB, cl *kgo.Client) error {
	events, err := unsent(ctx, db)
	if err != nil {
		return err
	}
	for _, e := range events {
		if err := cl.ProduceSync(ctx, e.record()).FirstErr(); err != nil {
			return fmt.Errorf("send event %d: %w", e.id, err)
		}
		if _, err := db.ExecContext(ctx, `UPDATE outbox SET sent = 1 WHERE id = ?`, e.id); err != nil {
			return fmt.Errorf("mark event %d: %w", e.id, err)
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
