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

// Run books all orders of a poll with one commit of the database, and then writes their
// invoices.
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
		if err := bookAll(ctx, db, fetches.Records()); err != nil {
			return err
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

func bookAll(ctx context.Context, db *sql.DB, orders []*kgo.Record) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	for _, rec := range orders {
		var o Order
		if err := json.Unmarshal(rec.Value, &o); err != nil {
			return fmt.Errorf("decode order: %w", err)
		}
		if _, err := tx.ExecContext(ctx,
			`INSERT INTO ledger (order_id, amount) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM ledger WHERE order_id = ?1)`, o.ID, o.Amount); err != nil {
			return fmt.Errorf("book order %s: %w", o.ID, err)
		}
	}
	return tx.Commit()
}

func invoice(order *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: "invoices", Key: order.Key, Value: order.Value}
}
