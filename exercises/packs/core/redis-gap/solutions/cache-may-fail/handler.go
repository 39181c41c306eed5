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

// seen is a cache of event ids that are known to be applied. It may forget, and
// it may be down: then the database is asked.
type seen struct {
	rdb *redis.Client
	ttl time.Duration
}

func (s seen) has(ctx context.Context, eventID string) bool {
	n, err := s.rdb.Exists(ctx, s.key(eventID)).Result()
	return err == nil && n == 1
}

func (s seen) add(ctx context.Context, eventID string) {
	_ = s.rdb.SetArgs(ctx, s.key(eventID), "1", redis.SetArgs{TTL: s.ttl}).Err() // the next copy asks the database
}

func (seen) key(eventID string) string { return "applied:" + eventID }

// Handle goes on without Redis when Redis does not answer.
func Handle(ctx context.Context, db *sql.DB, rdb *redis.Client, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	eventID, err := eventIDOf(rec)
	if err != nil {
		return err
	}
	cache := seen{rdb: rdb, ttl: time.Hour}
	if cache.has(ctx, eventID) {
		return nil
	}
	if err := chargeOnce(ctx, db, eventID, p); err != nil {
		return err
	}
	cache.add(ctx, eventID)
	return nil
}

// chargeOnce takes the payment from its account unless its event was applied
// before: the primary key of processed_events decides.
func chargeOnce(ctx context.Context, db *sql.DB, eventID string, p Payment) error {
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

func eventIDOf(rec *kgo.Record) (string, error) {
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			return string(h.Value), nil
		}
	}
	return "", errors.New("the record has no event-id header")
}
