package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// Handle looks at the record before it looks at the database: what is wrong with
// the record itself will not get better, all other errors may.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	p, reason := decode(rec.Value)
	if reason != "" {
		return putAside(ctx, db, rec, reason)
	}
	return charge(ctx, db, header(rec, "event-id"), p)
}

// decode gives the payment, or the reason why the record is none.
func decode(value []byte) (p Payment, reason string) {
	if err := json.Unmarshal(value, &p); err != nil {
		return p, "no JSON: " + err.Error()
	}
	if p.Amount <= 0 {
		return p, fmt.Sprintf("the amount is %d", p.Amount)
	}
	return p, ""
}

// putAside keeps a bad record, once for its place in the log. A single statement
// checks and writes.
func putAside(ctx context.Context, db *sql.DB, rec *kgo.Record, reason string) error {
	_, err := db.ExecContext(ctx, `
		INSERT INTO dead_letters (topic, partition, "offset", value, reason)
		SELECT :topic, :partition, :offset, :value, :reason
		WHERE NOT EXISTS (
			SELECT 1 FROM dead_letters WHERE topic = :topic AND partition = :partition AND "offset" = :offset)`,
		sql.Named("topic", rec.Topic), sql.Named("partition", rec.Partition), sql.Named("offset", rec.Offset),
		sql.Named("value", rec.Value), sql.Named("reason", reason))
	if err != nil {
		return fmt.Errorf("put the record aside: %w", err)
	}
	return nil
}

func charge(ctx context.Context, db *sql.DB, eventID string, p Payment) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	res, err := tx.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		eventID, time.Now().UTC().Format(time.RFC3339))
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	marked, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	if marked == 0 {
		return nil
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

func header(rec *kgo.Record, key string) string {
	for _, h := range rec.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
