package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Order is the value of a record, and of its invoice.
type Order struct {
	ID     string `json:"order_id"`
	Amount int64  `json:"amount"` // cents
}

// Run books each order once, writes its invoice, and commits the offsets then.
func Run(ctx context.Context, kafka []kgo.Opt, db *sql.DB) error {
	cl, err := kgo.NewClient(append(kafka,
		kgo.ConsumerGroup("invoicing"),
		kgo.ConsumeTopics("orders"),
		kgo.DisableAutoCommit(),
	)...)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	defer cl.Close()
	for {
		fetches := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("poll: %w", err)
		}
		for _, order := range fetches.Records() {
			if err := book(ctx, db, order); err != nil {
				return err
			}
			if err := cl.ProduceSync(ctx, invoice(order)).FirstErr(); err != nil {
				return fmt.Errorf("produce: %w", err)
			}
		}
		if err := cl.CommitUncommittedOffsets(ctx); err != nil {
			return fmt.Errorf("commit offsets: %w", err)
		}
	}
}

// book writes an order's row, once: of two processes that are at work on it, one finds
// the other's row.
func book(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var o Order
	if err := json.Unmarshal(rec.Value, &o); err != nil {
		return fmt.Errorf("decode order: %w", err)
	}
	_, err := db.ExecContext(ctx,
		`INSERT INTO ledger (order_id, amount) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM ledger WHERE order_id = ?1)`, o.ID, o.Amount)
	if err != nil {
		return fmt.Errorf("book order %s: %w", o.ID, err)
	}
	return nil
}

func invoice(order *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: "invoices", Key: order.Key, Value: order.Value}
}
