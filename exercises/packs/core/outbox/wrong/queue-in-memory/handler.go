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

// queue holds the confirmations that are not sent yet.
var queue []*kgo.Record

// Handle stores the order and puts its confirmation into the queue.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var o Order
	if err := json.Unmarshal(rec.Value, &o); err != nil {
		return fmt.Errorf("decode order: %w", err)
	}
	res, err := db.ExecContext(ctx, `INSERT INTO orders (id, amount) VALUES (?, ?) ON CONFLICT DO NOTHING`, o.ID, o.Amount)
	if err != nil {
		return fmt.Errorf("insert order: %w", err)
	}
	if inserted, err := res.RowsAffected(); err != nil || inserted == 0 {
		return err
	}
	queue = append(queue, &kgo.Record{
		Topic: "order-confirmed", Key: []byte(o.ID), Value: rec.Value,
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte(o.ID)}},
	})
	return nil
}

// Relay sends what is in the queue.
func Relay(ctx context.Context, _ *sql.DB, cl *kgo.Client) error {
	for len(queue) > 0 {
		if err := cl.ProduceSync(ctx, queue[0]).FirstErr(); err != nil {
			return fmt.Errorf("send confirmation: %w", err)
		}
		queue = queue[1:]
	}
	return nil
}
