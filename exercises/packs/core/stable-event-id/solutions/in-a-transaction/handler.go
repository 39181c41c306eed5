package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Publish sends the event of an order in a transaction of its own. That fences an
// older process which is at work on the same order; copies there are all the same, so
// the id is the order's.
func Publish(ctx context.Context, kafka []kgo.Opt, db *sql.DB, orderID string) error {
	var amount int64
	if err := db.QueryRowContext(ctx, `SELECT amount FROM orders WHERE id = ?`, orderID).Scan(&amount); err != nil {
		return fmt.Errorf("read order %s: %w", orderID, err)
	}
	value, err := json.Marshal(map[string]any{"order_id": orderID, "amount": amount})
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	cl, err := kgo.NewClient(append(kafka, kgo.TransactionalID("payment-requested-"+orderID))...)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	defer cl.Close()

	if err := cl.BeginTransaction(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	rec := &kgo.Record{
		Topic: "payments", Key: []byte(orderID), Value: value,
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte("payment-requested:" + orderID)}},
	}
	if err := cl.ProduceSync(ctx, rec).FirstErr(); err != nil {
		cl.EndTransaction(ctx, kgo.TryAbort) // or the broker does, when its time is up
		return fmt.Errorf("send event: %w", err)
	}
	if err := cl.EndTransaction(ctx, kgo.TryCommit); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
