package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// Run consumes payments until ctx ends.
func Run(ctx context.Context, kafka []kgo.Opt, db *sql.DB) error {
	cl, err := kgo.NewClient(append(kafka,
		kgo.ConsumerGroup("payments"),
		kgo.ConsumeTopics("payments"),
		kgo.DisableAutoCommit(),
	)...)
	if err != nil {
		return fmt.Errorf("kafka client: %w", err)
	}
	defer cl.Close()
	queue := make(chan *kgo.Record, 100)
	var worker sync.WaitGroup
	worker.Go(func() { // the work is slow, and the poll must not wait for it
		for rec := range queue {
			if err := charge(context.WithoutCancel(ctx), db, rec); err != nil {
				fmt.Println("charge:", err)
			}
		}
	})
	defer worker.Wait()
	defer close(queue)
	for {
		fetches := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("poll: %w", err)
		}
		for _, rec := range fetches.Records() {
			queue <- rec
		}
		if err := cl.CommitUncommittedOffsets(ctx); err != nil {
			return fmt.Errorf("commit offsets: %w", err)
		}
	}
}

// charge books a payment, once for each event: a copy changes nothing.
func charge(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	var eventID string
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			eventID = string(h.Value)
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	res, err := tx.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT (event_id) DO NOTHING`,
		eventID, rec.Timestamp.UTC().Format("2006-01-02T15:04:05Z07:00"))
	if err != nil {
		return fmt.Errorf("mark: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`,
		p.ID, p.Account, p.Amount); err != nil {
		return fmt.Errorf("insert charge: %w", err)
	}
	if _, err := tx.ExecContext(ctx,
		`UPDATE accounts SET balance = balance - ? WHERE id = ?`,
		p.Amount, p.Account); err != nil {
		return fmt.Errorf("debit account: %w", err)
	}
	return tx.Commit()
}
