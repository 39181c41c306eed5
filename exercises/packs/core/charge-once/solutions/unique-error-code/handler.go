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

// Handle inserts the event's id without any ON CONFLICT and looks at the error:
// a violated key means that the event was applied before. Any other error may
// go away, so the record must come again.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	switch err := mark(ctx, tx, rec); {
	case isDuplicateKey(err):
		return nil
	case err != nil:
		return fmt.Errorf("mark event: %w", err)
	}
	if err := charge(ctx, tx, p); err != nil {
		return fmt.Errorf("charge payment %s: %w", p.ID, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit payment %s: %w", p.ID, err)
	}
	return nil
}

func mark(ctx context.Context, tx *sql.Tx, rec *kgo.Record) error {
	var id string
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			id = string(h.Value)
		}
	}
	if id == "" {
		return errors.New("no event-id header")
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO processed_events VALUES (?, ?)`, id, time.Now().UTC().Format(time.RFC3339))
	return err
}

func isDuplicateKey(err error) bool {
	var sqliteErr *sqlite.Error
	return errors.As(err, &sqliteErr) &&
		(sqliteErr.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || sqliteErr.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE)
}

func charge(ctx context.Context, tx *sql.Tx, p Payment) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`, p.ID, p.Account, p.Amount); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE accounts SET balance = balance - ? WHERE id = ?`, p.Amount, p.Account)
	return err
}
