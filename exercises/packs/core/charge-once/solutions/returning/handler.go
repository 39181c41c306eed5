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

type payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"`
}

// Handle lets the insert return the id that it stored: no row means that the
// id was stored before.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) (err error) {
	var p payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode record %d: %w", rec.Offset, err)
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()

	var stored string
	err = tx.QueryRowContext(ctx, `
		INSERT INTO processed_events (event_id, processed_at)
		VALUES (?, ?)
		ON CONFLICT (event_id) DO NOTHING
		RETURNING event_id`, header(rec, "event-id"), time.Now().UTC().Format(time.RFC3339)).Scan(&stored)
	if errors.Is(err, sql.ErrNoRows) {
		return tx.Rollback()
	}
	if err != nil {
		return fmt.Errorf("mark: %w", err)
	}

	for _, step := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`, []any{p.ID, p.Account, p.Amount}},
		{`UPDATE accounts SET balance = balance - ? WHERE id = ?`, []any{p.Amount, p.Account}},
	} {
		if _, err = tx.ExecContext(ctx, step.query, step.args...); err != nil {
			return fmt.Errorf("apply payment %s: %w", p.ID, err)
		}
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
