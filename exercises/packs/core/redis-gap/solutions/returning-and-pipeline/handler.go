package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// Handle reads the entry and its age in one round trip, and stores it after the
// transaction, whether this delivery did the work or an earlier one.
func Handle(ctx context.Context, db *sql.DB, rdb *redis.Client, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	eventID, err := eventIDOf(rec)
	if err != nil {
		return err
	}
	key := "events:" + eventID

	pipe := rdb.Pipeline()
	known, ttl := pipe.Get(ctx, key), pipe.TTL(ctx, key)
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return fmt.Errorf("ask the cache: %w", err)
	}
	if known.Val() == p.ID && ttl.Val() > 0 {
		return nil
	}

	if err := inTx(ctx, db, func(tx *sql.Tx) error { return apply(ctx, tx, eventID, p) }); err != nil {
		return fmt.Errorf("payment %s: %w", p.ID, err)
	}
	return rdb.Set(ctx, key, p.ID, time.Hour).Err()
}

func apply(ctx context.Context, tx *sql.Tx, eventID string, p Payment) error {
	var first string
	err := tx.QueryRowContext(ctx, `
		INSERT INTO processed_events (event_id, processed_at)
		VALUES (?, ?)
		ON CONFLICT (event_id) DO NOTHING
		RETURNING event_id`, eventID, time.Now().UTC().Format(time.RFC3339)).Scan(&first)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mark: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE accounts SET balance = balance - ? WHERE id = ?`, p.Amount, p.Account); err != nil {
		return fmt.Errorf("debit: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`, p.ID, p.Account, p.Amount); err != nil {
		return fmt.Errorf("charge: %w", err)
	}
	return nil
}

func inTx(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func eventIDOf(rec *kgo.Record) (string, error) {
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			return string(h.Value), nil
		}
	}
	return "", errors.New("the record has no event-id header")
}
