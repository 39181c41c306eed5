package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

var producer *kgo.Client

// client is made once in a process.
func client(kafka []kgo.Opt) (cl *kgo.Client, err error) {
	if producer == nil {
		producer, err = kgo.NewClient(kafka...)
	}
	return producer, err
}

// Publish hands the event of an order to the client, which sends it in the
// background.
func Publish(ctx context.Context, kafka []kgo.Opt, db *sql.DB, orderID string) error {
	var amount int64
	if err := db.QueryRowContext(ctx, `SELECT amount FROM orders WHERE id = ?`, orderID).Scan(&amount); err != nil {
		return fmt.Errorf("read order %s: %w", orderID, err)
	}
	value, err := json.Marshal(map[string]any{"order_id": orderID, "amount": amount})
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	cl, err := client(kafka)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	rec := &kgo.Record{
		Topic: "payments", Key: []byte(orderID), Value: value,
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte("payment-requested:" + orderID)}},
	}
	cl.Produce(ctx, rec, nil)
	return nil
}
