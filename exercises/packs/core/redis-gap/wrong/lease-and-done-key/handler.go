package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

const (
	doneFor  = 24 * time.Hour  // how long Redis remembers a payment
	leaseFor = 5 * time.Second // how long one instance may take for it
)

var errBusy = errors.New("another instance has the payment in hand")

// Handle lets one instance at a time work on a payment. The lease expires, so
// that a crashed instance does not block it for ever; the second key says that
// the payment is done.
func Handle(ctx context.Context, db *sql.DB, rdb *redis.Client, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	eventID, err := eventIDOf(rec)
	if err != nil {
		return err
	}
	key := "payment:done:" + eventID

	lease, token := "payment:lease:"+eventID, uuid.NewString()
	mine, err := rdb.SetNX(ctx, lease, token, leaseFor).Result()
	if err != nil {
		return fmt.Errorf("take the lease: %w", err)
	}
	if !mine {
		return errBusy
	}
	defer release(ctx, rdb, lease, token)

	_, err = rdb.Get(ctx, key).Result()
	if err == nil {
		return nil // done before
	}
	if !errors.Is(err, redis.Nil) {
		return fmt.Errorf("look for the payment: %w", err)
	}

	if err := charge(ctx, db, p); err != nil {
		return err
	}
	if err := rdb.Set(ctx, key, "1", doneFor).Err(); err != nil {
		return fmt.Errorf("remember the payment: %w", err)
	}
	return nil
}

// charge takes the payment from its account, in one transaction.
func charge(ctx context.Context, db *sql.DB, p Payment) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

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

// release gives the lease back if it is still ours.
func release(ctx context.Context, rdb *redis.Client, lease, token string) {
	const script = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
	_ = rdb.Eval(ctx, script, []string{lease}, token).Err() // it expires by itself
}
