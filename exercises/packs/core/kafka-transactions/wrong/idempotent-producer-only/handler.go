package handler

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Run writes an invoice for each order. The producer is idempotent, waits for all
// replicas and never gives up, so no invoice is there twice.
func Run(ctx context.Context, kafka []kgo.Opt, db *sql.DB) error {
	cl, err := kgo.NewClient(append(kafka,
		kgo.ConsumerGroup("invoicing"),
		kgo.ConsumeTopics("orders"),
		kgo.DisableAutoCommit(),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordRetries(1000),
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
		var invoices []*kgo.Record
		fetches.EachRecord(func(order *kgo.Record) { invoices = append(invoices, invoice(order)) })
		if err := cl.ProduceSync(ctx, invoices...).FirstErr(); err != nil {
			return fmt.Errorf("produce: %w", err)
		}
		if err := cl.CommitUncommittedOffsets(ctx); err != nil {
			return fmt.Errorf("commit offsets: %w", err)
		}
	}
}

func invoice(order *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: "invoices", Key: order.Key, Value: order.Value}
}
