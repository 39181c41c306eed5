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

// Run commits the database when Kafka has committed, and rolls it back when Kafka has
// not: both or nothing.
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
		tx, err := bookAll(ctx, db, fetches.Records())
		if err != nil {
			return err
		}
		committed, err := s.End(ctx, kgo.TransactionEndTry(sent == nil))
		if err != nil || !committed {
			tx.Rollback()
			if err != nil {
				return fmt.Errorf("end: %w", err)
			}
			continue
		}
		if err := tx.Commit(); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
	}
}

// bookAll writes the rows of orders that have none, in a transaction that it leaves open.
func bookAll(ctx context.Context, db *sql.DB, orders []*kgo.Record) (*sql.Tx, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	for _, rec := range orders {
		var o Order
		if err := json.Unmarshal(rec.Value, &o); err != nil {
			tx.Rollback()
			return nil, fmt.Errorf("decode order: %w", err)
		}
		if _, err := tx.ExecContext(ctx,
			`INSERT INTO ledger (order_id, amount) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM ledger WHERE order_id = ?1)`, o.ID, o.Amount); err != nil {
			tx.Rollback()
			return nil, fmt.Errorf("book order %s: %w", o.ID, err)
		}
	}
	return tx, nil
}

func invoice(order *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: "invoices", Key: order.Key, Value: order.Value}
}
