package handler

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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

// Relay marks first, in a transaction that it commits only after the broker has
// answered. While it is open no other instance can mark, so they do not send the
// same events side by side.
func Relay(ctx context.Context, db *sql.DB, cl *kgo.Client) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	rows, err := tx.QueryContext(ctx, `UPDATE outbox SET sent = 1 WHERE sent = 0 RETURNING id, event_id, topic, key, value`)
	if err != nil {
		return fmt.Errorf("take the events: %w", err)
	}
	var events []event
	for rows.Next() {
		var e event
		if err := rows.Scan(&e.id, &e.eventID, &e.topic, &e.key, &e.value); err != nil {
			return errors.Join(err, rows.Close())
		}
		events = append(events, e)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("take the events: %w", err)
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.id, b.id) })
	for _, e := range events {
		if err := cl.ProduceSync(ctx, e.record()).FirstErr(); err != nil {
			return fmt.Errorf("send event %d: %w", e.id, err)
		}
	}
	return tx.Commit()
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
