package handler

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Run writes an invoice for each order, in a transaction with the offsets.
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
		fetches.EachRecord(func(order *kgo.Record) {
			s.Produce(ctx, invoice(order), func(_ *kgo.Record, err error) {
				if err != nil {
					log.Printf("invoice of %s: %v", order.Key, err)
				}
			})
		})
		if _, err := s.End(ctx, kgo.TryCommit); err != nil {
			return fmt.Errorf("end: %w", err)
		}
	}
}

func invoice(order *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: "invoices", Key: order.Key, Value: order.Value}
}
