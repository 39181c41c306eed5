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

// Run books the orders of a poll while their transaction is open. The row is durable
// before the offsets are, whatever becomes of the transaction.
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
		var invoices []*kgo.Record
		fetches.EachRecord(func(order *kgo.Record) { invoices = append(invoices, invoice(order)) })
		sent := s.ProduceSync(ctx, invoices...).FirstErr()
		for _, order := range fetches.Records() {
			if err := book(ctx, db, order); err != nil {
				return err // a process that starts anew ends the transaction
			}
		}
		if _, err := s.End(ctx, kgo.TransactionEndTry(sent == nil)); err != nil {
			return fmt.Errorf("end: %w", err)
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
