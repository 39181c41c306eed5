package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// HandleBatch sets all marks with one statement, which returns those that are
// new, and charges exactly these: three statements for a batch of any size, plus
// one per account.
func HandleBatch(ctx context.Context, db *sql.DB, recs []*kgo.Record) error {
	payments := map[string]Payment{}
	var ids []any
	for _, rec := range recs {
		p, eventID, err := decode(rec)
		if err != nil {
			return err
		}
		if _, twice := payments[eventID]; !twice {
			ids = append(ids, eventID)
		}
		payments[eventID] = p
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	fresh, err := markAll(ctx, tx, ids)
	if err != nil || len(fresh) == 0 {
		return err
	}
	taken := map[string]int64{} // by account
	for _, id := range fresh {
		p := payments[id]
		taken[p.Account] += p.Amount
		if _, err := tx.ExecContext(ctx, `INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`, p.ID, p.Account, p.Amount); err != nil {
			return fmt.Errorf("charge payment %s: %w", p.ID, err)
		}
	}
	for _, account := range slices.Sorted(maps.Keys(taken)) { // one order for all, so that no two wait for each other
		if _, err := tx.ExecContext(ctx, `UPDATE accounts SET balance = balance - ? WHERE id = ?`, taken[account], account); err != nil {
			return fmt.Errorf("debit account %s: %w", account, err)
		}
	}
	return tx.Commit()
}

func markAll(ctx context.Context, tx *sql.Tx, ids []any) (fresh []string, err error) {
	now := time.Now().UTC().Format(time.RFC3339)
	var args []any
	for _, id := range ids {
		args = append(args, id, now)
	}
	rows, err := tx.QueryContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?)`+strings.Repeat(`, (?, ?)`, len(ids)-1)+
			` ON CONFLICT DO NOTHING RETURNING event_id`, args...)
	if err != nil {
		return nil, fmt.Errorf("mark the events: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("mark the events: %w", err)
		}
		fresh = append(fresh, id)
	}
	return fresh, rows.Err()
}

func decode(rec *kgo.Record) (p Payment, eventID string, err error) {
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return p, "", fmt.Errorf("decode payment at offset %d: %w", rec.Offset, err)
	}
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			return p, string(h.Value), nil
		}
	}
	return p, "", fmt.Errorf("the record at offset %d has no event-id header", rec.Offset)
}
