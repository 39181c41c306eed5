package handler

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Run writes an invoice for each order, in a transaction with the offsets of the
// orders. The name of its producer is that of the service: a new process fences the
// one before it, and ends what that left open.
func Run(ctx context.Context, kafka []kgo.Opt, db *sql.DB) error {
	s, err := kgo.NewGroupTransactSession(append(kafka,
		kgo.ConsumerGroup("invoicing"),
		kgo.ConsumeTopics("orders"),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.TransactionalID("invoicing"),
	)...)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	defer s.Close()
	for {
		fetches := s.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("poll: %w", err)
		}
		if err := s.Begin(); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		var produced kgo.FirstErrPromise
		fetches.EachRecord(func(order *kgo.Record) {
			s.Produce(ctx, invoice(order), produced.Promise())
		})
		if err := s.Client().Flush(ctx); err != nil {
			return fmt.Errorf("flush: %w", err)
		}
		// What was aborted, or not committed because of a rebalance, is polled again.
		if _, err := s.End(ctx, kgo.TransactionEndTry(produced.Err() == nil)); err != nil {
			return fmt.Errorf("end: %w", err)
		}
	}
}

func invoice(order *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: "invoices", Key: order.Key, Value: order.Value}
}
