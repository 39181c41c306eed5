package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Event asks for the payment of an order.
type Event struct {
	OrderID string `json:"order_id"`
	Amount  int64  `json:"amount"` // cents
}

// Publish sends the event of an order. It may be called again for the same order:
// after an error, or by another process when this one has died.
func Publish(ctx context.Context, kafka []kgo.Opt, db *sql.DB, orderID string) error {
	e := Event{OrderID: orderID}
	if err := db.QueryRowContext(ctx, `SELECT amount FROM orders WHERE id = ?`, orderID).Scan(&e.Amount); err != nil {
		return fmt.Errorf("read order %s: %w", orderID, err)
	}
	value, err := json.Marshal(e)
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
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte(uuid.NewString())}},
	}
	if err := cl.ProduceSync(ctx, rec).FirstErr(); err != nil {
		return fmt.Errorf("send event: %w", err)
	}
	return nil
}
