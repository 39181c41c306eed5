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

// maxAttempts is how often a payment is tried before the record has to come
// again.
const maxAttempts = 3

// Handle is called for every record that is delivered. When it returns nil, the
// record's offset is committed; when it returns an error, the record comes
// again.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	var err error
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		var again bool
		if again, err = charge(ctx, db, header(rec, "event-id"), p, attempt); !again {
			break
		}
	}
	return err
}

// charge applies the payment in one transaction. again says that COMMIT failed,
// so that nothing was done and the payment can be tried once more.
func charge(ctx context.Context, db *sql.DB, eventID string, p Payment, attempt int) (again bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

	res, err := tx.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		eventID, time.Now().UTC().Format(time.RFC3339))
	if err != nil {
		return false, fmt.Errorf("mark event: %w", err)
	}
	marked, err := res.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("mark event: %w", err)
	}
	// A copy has its mark already. On a second attempt the mark is our own.
	if marked == 0 && attempt == 1 {
		return false, nil
	}

	if _, err := tx.ExecContext(ctx,
		`INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`,
		p.ID, p.Account, p.Amount); err != nil {
		return false, fmt.Errorf("insert charge: %w", err)
	}
	if _, err := tx.ExecContext(ctx,
		`UPDATE accounts SET balance = balance - ? WHERE id = ?`,
		p.Amount, p.Account); err != nil {
		return false, fmt.Errorf("debit account: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return true, fmt.Errorf("commit: %w", err)
	}
	return false, nil
}

func header(rec *kgo.Record, key string) string {
	for _, h := range rec.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
