package handler

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Run writes an invoice for each order, in a transaction with the offsets.
func Run(ctx context.Context, kafka []kgo.Opt, _ *sql.DB) error {
	s, err := kgo.NewGroupTransactSession(append(kafka,
		kgo.ConsumerGroup("invoicing"),
		kgo.ConsumeTopics("orders"),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.RequireStableFetchOffsets(),
		kgo.TransactionalID("invoicing"),
	)...)
	if err != nil {
		return fmt.Errorf("kafka client: %w", err)
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
		var first kgo.FirstErrPromise
		fetches.EachRecord(func(rec *kgo.Record) {
			s.Produce(ctx, &kgo.Record{Topic: "invoices", Key: rec.Key, Value: rec.Value}, first.Promise())
		})
		if err := s.Client().Flush(ctx); err != nil {
			return fmt.Errorf("flush: %w", err)
		}
		if _, err := s.End(ctx, kgo.TransactionEndTry(first.Err() == nil)); err != nil {
			return fmt.Errorf("end: %w", err)
		}
	}
}
