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

// Handle marks every event, then charges it or puts it aside.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	res, err := tx.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		header(rec, "event-id"), time.Now().UTC().Format(time.RFC3339))
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
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		if err := putAside(ctx, db, rec, err.Error()); err != nil {
			return err
		}
		return tx.Commit()
	}
	if p.Amount < 0 {
		if err := putAside(ctx, db, rec, "negative amount"); err != nil {
			return err
		}
		return tx.Commit()
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

func putAside(ctx context.Context, db *sql.DB, rec *kgo.Record, reason string) error {
	if _, err := db.ExecContext(ctx, `
		INSERT INTO dead_letters (topic, partition, "offset", value, reason)
		SELECT ?1, ?2, ?3, ?4, ?5
		WHERE NOT EXISTS (SELECT 1 FROM dead_letters WHERE topic = ?1 AND partition = ?2 AND "offset" = ?3)`,
		rec.Topic, rec.Partition, rec.Offset, rec.Value, reason); err != nil {
		return fmt.Errorf("insert dead letter: %w", err)
	}
	return nil
}

func header(rec *kgo.Record, key string) string {
	for _, h := range rec.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
