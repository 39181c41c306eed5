package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// kept is twice what the topic can hold: 7 days of retention, and 7 more until
// the segment of a record is closed.
const kept = 28 * 24 * time.Hour

// Handle charges first. Tidying up is no part of the payment, and its failure
// must not bring the record back.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	if err := charge(ctx, db, rec); err != nil {
		return err
	}
	if err := tidyUp(ctx, db); err != nil {
		log.Printf("old marks stay for now: %v", err)
	}
	return nil
}

func charge(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	var id string
	err = tx.QueryRowContext(ctx, `
		INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?)
		ON CONFLICT DO NOTHING RETURNING event_id`,
		header(rec, "event-id"), time.Now().UTC().Format(time.RFC3339)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
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

// tidyUp deletes a few old marks at a time, so that no transaction gets long.
func tidyUp(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `
		DELETE FROM processed_events WHERE event_id IN (
			SELECT event_id FROM processed_events WHERE processed_at < ? ORDER BY processed_at LIMIT 100)`,
		time.Now().Add(-kept).UTC().Format(time.RFC3339))
	return err
}

func header(rec *kgo.Record, key string) string {
	for _, h := range rec.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
