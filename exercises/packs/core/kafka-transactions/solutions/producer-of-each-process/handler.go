package handler

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Run gives its producer a name of its own. A process that has lost its partition is
// recognised by the group: the generation goes with the offsets (KIP-447).
func Run(ctx context.Context, kafka []kgo.Opt, db *sql.DB) error {
	s, err := kgo.NewGroupTransactSession(append(kafka,
		kgo.ConsumerGroup("invoicing"),
		kgo.ConsumeTopics("orders"),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.TransactionalID("invoicing-"+uuid.NewString()),
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
		produced := kgo.AbortingFirstErrPromise(s.Client())
		fetches.EachRecord(func(order *kgo.Record) {
			s.Produce(ctx, invoice(order), produced.Promise())
		})
		if _, err := s.End(ctx, produced.Err() == nil); err != nil {
			return fmt.Errorf("end: %w", err)
		}
	}
}

func invoice(order *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: "invoices", Key: order.Key, Value: order.Value}
}
