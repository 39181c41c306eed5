package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
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

// badRecord is an error of the record: no retry will help.
type badRecord struct{ reason string }

func (b badRecord) Error() string { return b.reason }

// Handle puts aside what is a badRecord. Every other error goes back to the
// consumer, and the record comes again.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	err := apply(ctx, db, rec)
	var bad badRecord
	if errors.As(err, &bad) {
		return inTx(ctx, db, func(tx *sql.Tx) error { return putAside(ctx, tx, rec, bad.reason) })
	}
	return err
}

func apply(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", badRecord{err.Error()})
	}
	if p.Amount < 0 {
		return fmt.Errorf("payment %s: %w", p.ID, badRecord{"negative amount"})
	}
	return inTx(ctx, db, func(tx *sql.Tx) error {
		var stored string
		err := tx.QueryRowContext(ctx, `
			INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?)
			ON CONFLICT DO NOTHING RETURNING event_id`,
			header(rec, "event-id"), time.Now().UTC().Format(time.RFC3339)).Scan(&stored)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`, p.ID, p.Account, p.Amount); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE accounts SET balance = balance - ? WHERE id = ?`, p.Amount, p.Account)
		return err
	})
}

func putAside(ctx context.Context, tx *sql.Tx, rec *kgo.Record, reason string) error {
	var there bool
	if err := tx.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT 1 FROM dead_letters WHERE topic = ? AND partition = ? AND "offset" = ?)`,
		rec.Topic, rec.Partition, rec.Offset).Scan(&there); err != nil || there {
		return err
	}
	_, err := tx.ExecContext(ctx,
		`INSERT INTO dead_letters (topic, partition, "offset", value, reason) VALUES (?, ?, ?, ?, ?)`,
		rec.Topic, rec.Partition, rec.Offset, rec.Value, reason)
	return err
}

func inTx(ctx context.Context, db *sql.DB, work func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := work(tx); err != nil {
		return err
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
