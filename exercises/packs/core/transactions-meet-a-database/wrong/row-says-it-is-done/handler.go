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

// Run books each order once, and writes the invoice of what it has booked.
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
		for _, order := range fetches.Records() {
			booked, err := book(ctx, db, order)
			if err != nil {
				return err // a process that starts anew ends the transaction
			}
			if booked {
				s.Produce(ctx, invoice(order), produced.Promise())
			}
		}
		if err := s.Client().Flush(ctx); err != nil {
			return fmt.Errorf("flush: %w", err)
		}
		if _, err := s.End(ctx, kgo.TransactionEndTry(produced.Err() == nil)); err != nil {
			return fmt.Errorf("end: %w", err)
		}
	}
}

// book writes an order's row and reports whether there was none before.
func book(ctx context.Context, db *sql.DB, rec *kgo.Record) (bool, error) {
	var o Order
	if err := json.Unmarshal(rec.Value, &o); err != nil {
		return false, fmt.Errorf("decode order: %w", err)
	}
	res, err := db.ExecContext(ctx,
		`INSERT INTO ledger (order_id, amount) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM ledger WHERE order_id = ?1)`, o.ID, o.Amount)
	if err != nil {
		return false, fmt.Errorf("book order %s: %w", o.ID, err)
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

func invoice(order *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: "invoices", Key: order.Key, Value: order.Value}
}
