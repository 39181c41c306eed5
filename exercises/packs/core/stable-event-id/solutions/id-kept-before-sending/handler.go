package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Publish sends the event of an order with the id that stands in event_ids. Whoever
// comes first writes it there, and everybody reads it from there.
func Publish(ctx context.Context, kafka []kgo.Opt, db *sql.DB, orderID string) error {
	if _, err := db.ExecContext(ctx,
		`INSERT INTO event_ids (order_id, event_id) VALUES (?, ?) ON CONFLICT (order_id) DO NOTHING`, orderID, uuid.NewString()); err != nil {
		return fmt.Errorf("keep an event id: %w", err)
	}
	var amount int64
	var id string
	if err := db.QueryRowContext(ctx,
		`SELECT o.amount, e.event_id FROM orders o JOIN event_ids e ON e.order_id = o.id WHERE o.id = ?`, orderID).Scan(&amount, &id); err != nil {
		return fmt.Errorf("read order %s: %w", orderID, err)
	}
	value, err := json.Marshal(map[string]any{"order_id": orderID, "amount": amount})
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}

	cl, err := kgo.NewClient(kafka...)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	defer cl.Close()
	rec := &kgo.Record{
		Topic: "payments", Key: []byte(orderID), Value: value,
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte(id)}},
	}
	if err := cl.ProduceSync(ctx, rec).FirstErr(); err != nil {
		return fmt.Errorf("send event: %w", err)
	}
	return nil
}
