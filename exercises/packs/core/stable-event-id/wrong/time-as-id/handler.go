package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Publish sends the event of an order. The order's id with the time is unique.
func Publish(ctx context.Context, kafka []kgo.Opt, db *sql.DB, orderID string) error {
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
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte(fmt.Sprintf("%s-%d", orderID, time.Now().UnixNano()))}},
	}
	if err := cl.ProduceSync(ctx, rec).FirstErr(); err != nil {
		return fmt.Errorf("send event: %w", err)
	}
	return nil
}
