package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Publish sends the event of an order and reports what went wrong.
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
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte("payment-requested:" + orderID)}},
	}
	cl.Produce(ctx, rec, func(_ *kgo.Record, err error) {
		if err != nil {
			log.Printf("send event of %s: %v", orderID, err)
		}
	})
	return cl.Flush(ctx)
}
