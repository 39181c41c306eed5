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

// leaseFor is shorter than the consumer's patience, so that a crashed owner does
// not hold the payment up for long.
const leaseFor = 5 * time.Second

var errBusy = errors.New("another instance has the payment in hand")

// Handle takes a lease, which keeps two instances from doing the same work. It
// may expire while its owner is paused, and then two of them work after all:
// nothing depends on it, the primary key decides.
func Handle(ctx context.Context, db *sql.DB, rdb *redis.Client, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	eventID, err := eventIDOf(rec)
	if err != nil {
		return err
	}
	lease, token := "payment:lease:"+eventID, uuid.NewString()
	switch mine, err := rdb.SetNX(ctx, lease, token, leaseFor).Result(); {
	case err != nil:
		return fmt.Errorf("take the lease: %w", err)
	case !mine:
		return errBusy
	}
	err = chargeOnce(ctx, db, eventID, p)
	return errors.Join(err, release(ctx, rdb, lease, token))
}

// release deletes the lease only while it is ours: after its expiry it may be
// somebody else's.
func release(ctx context.Context, rdb *redis.Client, lease, token string) error {
	const script = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
	if err := rdb.Eval(ctx, script, []string{lease}, token).Err(); err != nil {
		return fmt.Errorf("release the lease: %w", err)
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
