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

// doneFor is how long Redis remembers a payment.
const doneFor = 24 * time.Hour

// Handle asks the cache first; the database decides.
func Handle(ctx context.Context, db *sql.DB, rdb *redis.Client, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	eventID, err := eventIDOf(rec)
	if err != nil {
		return err
	}
	key := "payment:done:" + string(rec.Key)

	_, err = rdb.Get(ctx, key).Result()
	if err == nil {
		return nil // done before
	}
	if !errors.Is(err, redis.Nil) {
		return fmt.Errorf("look for the payment: %w", err)
	}

	if err := chargeOnce(ctx, db, eventID, p); err != nil {
		return err
	}
	if err := rdb.Set(ctx, key, "1", doneFor).Err(); err != nil {
		return fmt.Errorf("remember the payment: %w", err)
	}
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
