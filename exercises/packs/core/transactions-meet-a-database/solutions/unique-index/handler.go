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

// Run lets the database keep what the table's definition does not say: one row for an
// order.
func Run(ctx context.Context, kafka []kgo.Opt, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `CREATE UNIQUE INDEX IF NOT EXISTS ledger_order ON ledger (order_id)`); err != nil {
		return fmt.Errorf("make index: %w", err)
	}
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
		fetches := s.PollRecords(ctx, 1)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("poll: %w", err)
		}
		for _, order := range fetches.Records() {
			if err := book(ctx, db, order); err != nil {
				return err // a process that starts anew ends the transaction
			}
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
	}
}

// book writes an order's row, or finds it there.
func book(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var o Order
	if err := json.Unmarshal(rec.Value, &o); err != nil {
		return fmt.Errorf("decode order: %w", err)
	}
	_, err := db.ExecContext(ctx,
		`INSERT INTO ledger (order_id, amount) VALUES (?, ?) ON CONFLICT (order_id) DO NOTHING`, o.ID, o.Amount)
	if err != nil {
		return fmt.Errorf("book order %s: %w", o.ID, err)
	}
	return nil
}

func invoice(order *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: "invoices", Key: order.Key, Value: order.Value}
}
