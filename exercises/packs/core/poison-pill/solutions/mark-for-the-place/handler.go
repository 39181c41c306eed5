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

// outcome is what is to be done with a record: statements behind a mark of their
// own. A payment is marked with its event's id, a bad record with its place in
// the log, because a producer that writes nonsense cannot be trusted with ids.
type outcome struct {
	mark string
	work []statement
}

type statement struct {
	query string
	args  []any
}

// Handle runs the statements for a record unless their mark is set.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	out := outcomeOf(rec)

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	res, err := tx.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		out.mark, time.Now().UTC().Format(time.RFC3339))
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
	for _, s := range out.work {
		if _, err := tx.ExecContext(ctx, s.query, s.args...); err != nil {
			return fmt.Errorf("%s: %w", out.mark, err)
		}
	}
	return tx.Commit()
}

func outcomeOf(rec *kgo.Record) outcome {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return deadLetter(rec, err.Error())
	}
	if p.Amount < 0 {
		return deadLetter(rec, fmt.Sprintf("amount %d", p.Amount))
	}
	return outcome{header(rec, "event-id"), []statement{
		{`INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`, []any{p.ID, p.Account, p.Amount}},
		{`UPDATE accounts SET balance = balance - ? WHERE id = ?`, []any{p.Amount, p.Account}},
	}}
}

func deadLetter(rec *kgo.Record, reason string) outcome {
	return outcome{fmt.Sprintf("dead/%s/%d/%d", rec.Topic, rec.Partition, rec.Offset), []statement{{
		`INSERT INTO dead_letters (topic, partition, "offset", value, reason) VALUES (?, ?, ?, ?, ?)`,
		[]any{rec.Topic, rec.Partition, rec.Offset, rec.Value, reason},
	}}}
}

func header(rec *kgo.Record, key string) string {
	for _, h := range rec.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
