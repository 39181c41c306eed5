package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// Handle marks the event and charges the payment in one transaction.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	must(json.Unmarshal(rec.Value, &p))

	tx, err := db.BeginTx(ctx, nil)
	must(err)
	defer tx.Rollback()

	_, err = tx.ExecContext(ctx,
		`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?)`,
		eventIDOf(rec), time.Now().UTC().Format(time.RFC3339))
	must(err)
	_, err = tx.ExecContext(ctx,
		`INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`,
		p.ID, p.Account, p.Amount)
	must(err)
	_, err = tx.ExecContext(ctx,
		`UPDATE accounts SET balance = balance - ? WHERE id = ?`,
		p.Amount, p.Account)
	must(err)
	return tx.Commit()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func eventIDOf(rec *kgo.Record) string {
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			return string(h.Value)
		}
	}
	panic("the record has no event-id header")
}
