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

// errSeen ends a transaction whose event was applied before.
var errSeen = errors.New("event was applied before")

// Handle decodes the payment and applies it once.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	p, err := decode[Payment](rec)
	if err != nil {
		return err
	}
	err = once(ctx, db, headerOf(rec, "event-id"), func(tx *sql.Tx) error {
		return p.apply(ctx, tx)
	})
	if errors.Is(err, errSeen) {
		return nil
	}
	return err
}

// once runs work in a transaction that also stores the event's id.
func once(ctx context.Context, db *sql.DB, eventID string, work func(*sql.Tx) error) error {
	return withTx(ctx, db, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx,
			`INSERT OR IGNORE INTO processed_events (event_id, processed_at) VALUES (?, ?)`,
			eventID, time.Now().UTC().Format(time.RFC3339))
		if err != nil {
			return fmt.Errorf("mark event: %w", err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return fmt.Errorf("mark event: %w", err)
		}
		if n == 0 {
			return errSeen
		}
		return work(tx)
	})
}

// withTx commits when f returns nil and rolls back otherwise, a panic included.
func withTx(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (p Payment) apply(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`,
		p.ID, p.Account, p.Amount); err != nil {
		return fmt.Errorf("insert charge: %w", err)
	}
	res, err := tx.ExecContext(ctx, `UPDATE accounts SET balance = balance - ? WHERE id = ?`, p.Amount, p.Account)
	if err != nil {
		return fmt.Errorf("debit account: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, fmt.Errorf("account %s: %d rows debited", p.Account, n))
	}
	return nil
}

func decode[T any](rec *kgo.Record) (T, error) {
	var v T
	if err := json.Unmarshal(rec.Value, &v); err != nil {
		return v, fmt.Errorf("decode record at offset %d: %w", rec.Offset, err)
	}
	return v, nil
}

func headerOf(rec *kgo.Record, key string) string {
	for _, h := range rec.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
