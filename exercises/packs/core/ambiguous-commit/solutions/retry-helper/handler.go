package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// Handle marks and charges in a transaction that may run more than once.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	err := retried(ctx, db, 3, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx,
			`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?)`,
			header(rec, "event-id"), time.Now().UTC().Format(time.RFC3339)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx,
			`INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`, p.ID, p.Account, p.Amount); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE accounts SET balance = balance - ? WHERE id = ?`, p.Amount, p.Account)
		return err
	})
	if code(err) == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY {
		return nil // the event is marked, so the transaction that marked it was committed
	}
	return err
}

// retried runs work in a transaction until it is committed, at most n times. A
// constraint is violated again the next time, so it ends the attempts. The work
// must be one that recognises what an earlier attempt has done.
func retried(ctx context.Context, db *sql.DB, n int, work func(*sql.Tx) error) error {
	var err error
	for range n {
		if err = inTx(ctx, db, work); err == nil || code(err)&0xff == sqlite3.SQLITE_CONSTRAINT {
			return err
		}
	}
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

// code is SQLite's extended result code, 0 for another error.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

func header(rec *kgo.Record, key string) string {
	for _, h := range rec.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
