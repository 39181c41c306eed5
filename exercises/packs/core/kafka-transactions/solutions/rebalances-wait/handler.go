package handler

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Run lets no rebalance in between a poll and the end of its transaction.
func Run(ctx context.Context, kafka []kgo.Opt, db *sql.DB) error {
	s, err := kgo.NewGroupTransactSession(append(kafka,
		kgo.ConsumerGroup("invoicing"),
		kgo.ConsumeTopics("orders"),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.TransactionalID("invoicing"),
		kgo.BlockRebalanceOnPoll(),
	)...)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	defer s.CloseAllowingRebalance()
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
		var invoices []*kgo.Record
		fetches.EachRecord(func(order *kgo.Record) { invoices = append(invoices, invoice(order)) })
		sent := s.ProduceSync(ctx, invoices...).FirstErr()
		if _, err := s.End(ctx, kgo.TransactionEndTry(sent == nil)); err != nil {
			return fmt.Errorf("end: %w", err)
		}
		s.AllowRebalance()
	}
}

func invoice(order *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: "invoices", Key: order.Key, Value: order.Value}
}
