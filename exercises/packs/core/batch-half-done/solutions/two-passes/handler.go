package handler

import (
	"context"
	"database/sql"
	"encoding/json"
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

// HandleBatch first finds out what is new, then does it. A copy inside the batch
// is found by the map, one of an earlier batch by the table, and what another
// instance does in between by the primary key.
func HandleBatch(ctx context.Context, db *sql.DB, recs []*kgo.Record) error {
	fresh := map[string]Payment{}
	var order []string
	for _, rec := range recs {
		p, eventID, err := decode(rec)
		if err != nil {
			return err
		}
		if _, twice := fresh[eventID]; twice {
			continue
		}
		fresh[eventID] = p
		order = append(order, eventID)
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	for _, eventID := range order {
		var known bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM processed_events WHERE event_id = ?)`, eventID).Scan(&known); err != nil {
			return fmt.Errorf("look for event %s: %w", eventID, err)
		}
		if known {
			delete(fresh, eventID)
		}
	}
	for _, eventID := range order {
		p, ok := fresh[eventID]
		if !ok {
			continue
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?)`,
			eventID, time.Now().UTC().Format(time.RFC3339)); err != nil {
			return fmt.Errorf("mark event: %w", err)
		}
		if err := charge(ctx, tx, p); err != nil {
			return fmt.Errorf("payment %s: %w", p.ID, err)
		}
	}
	return tx.Commit()
}

func charge(ctx context.Context, tx *sql.Tx, p Payment) error {
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
	return nil
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
