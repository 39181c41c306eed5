package handler

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Run remembers in the database which orders have their invoice.
func Run(ctx context.Context, kafka []kgo.Opt, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS invoiced (order_id TEXT PRIMARY KEY)`); err != nil {
		return fmt.Errorf("create table: %w", err)
	}
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
			res, err := db.ExecContext(ctx, `INSERT INTO invoiced (order_id) VALUES (?) ON CONFLICT DO NOTHING`, string(order.Key))
			if err != nil {
				return fmt.Errorf("mark order: %w", err)
			}
			if n, err := res.RowsAffected(); err != nil || n == 0 {
				continue
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

func invoice(order *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: "invoices", Key: order.Key, Value: order.Value}
}
