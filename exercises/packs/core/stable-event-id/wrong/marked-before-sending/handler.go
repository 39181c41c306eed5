package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Publish sends the event of an order once: a second call finds the row and has
// nothing to do.
func Publish(ctx context.Context, kafka []kgo.Opt, db *sql.DB, orderID string) error {
	id := uuid.NewString()
	res, err := db.ExecContext(ctx, `INSERT INTO event_ids (order_id, event_id) VALUES (?, ?) ON CONFLICT DO NOTHING`, orderID, id)
	if err != nil {
		return fmt.Errorf("mark order %s: %w", orderID, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	var amount int64
	if err := db.QueryRowContext(ctx, `SELECT amount FROM orders WHERE id = ?`, orderID).Scan(&amount); err != nil {
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
