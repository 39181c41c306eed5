package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

// paymentRequested is the namespace of these events' ids (RFC 9562, version 5). It
// never changes.
var paymentRequested = uuid.MustParse("5c3a2a8e-6a9f-4f0a-8f5e-3c1f1d6f2b10")

// Publish sends the event of an order, with an id that every process computes alike.
func Publish(ctx context.Context, kafka []kgo.Opt, db *sql.DB, orderID string) error {
	var amount int64
	if err := db.QueryRowContext(ctx, `SELECT amount FROM orders WHERE id = ?`, orderID).Scan(&amount); err != nil {
		return fmt.Errorf("read order %s: %w", orderID, err)
	}
	value, err := json.Marshal(map[string]any{"order_id": orderID, "amount": amount})
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	id := uuid.NewSHA1(paymentRequested, []byte(orderID))

	cl, err := kgo.NewClient(append(kafka, kgo.DefaultProduceTopic("payments"))...)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	defer cl.Close()
	rec := kgo.KeySliceRecord([]byte(orderID), value)
	rec.Headers = []kgo.RecordHeader{{Key: "event-id", Value: []byte(id.String())}}
	return cl.ProduceSync(ctx, rec).FirstErr()
}
