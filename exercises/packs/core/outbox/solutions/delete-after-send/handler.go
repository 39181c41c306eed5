package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Order is the value of a record, and of its confirmation.
type Order struct {
	ID     string `json:"order_id"`
	Amount int64  `json:"amount"` // cents
}

// Handle looks whether the order is there. Two instances may both see nothing:
// the primary key of orders lets one of them commit, and the other one's record
// comes again.
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

	var known bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM orders WHERE id = ?)`, o.ID).Scan(&known); err != nil {
		return fmt.Errorf("look for the order: %w", err)
	}
	if known {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO orders (id, amount) VALUES (?, ?)`, o.ID, o.Amount); err != nil {
		return fmt.Errorf("insert order: %w", err)
	}
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO outbox (event_id, topic, key, value) VALUES (?, 'order-confirmed', ?, ?)`,
		uuid.NewString(), o.ID, string(rec.Value)); err != nil {
		return fmt.Errorf("insert event: %w", err)
	}
	return tx.Commit()
}

// Relay takes one event at a time out of the outbox, and only after the broker
// has it. The table stays small.
func Relay(ctx context.Context, db *sql.DB, cl *kgo.Client) error {
	for {
		var e event
		err := db.QueryRowContext(ctx, `SELECT id, event_id, topic, key, value FROM outbox ORDER BY id LIMIT 1`).
			Scan(&e.id, &e.eventID, &e.topic, &e.key, &e.value)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the outbox: %w", err)
		}
		if err := cl.ProduceSync(ctx, e.record()).FirstErr(); err != nil {
			return fmt.Errorf("send event %d: %w", e.id, err)
		}
		if _, err := db.ExecContext(ctx, `DELETE FROM outbox WHERE id = ?`, e.id); err != nil {
			return fmt.Errorf("remove event %d: %w", e.id, err)
		}
	}
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
