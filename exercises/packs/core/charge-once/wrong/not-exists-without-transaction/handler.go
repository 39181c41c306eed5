package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// Handle stores the charge unless there is one for this payment, and debits the
// account only when it was stored.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}

	res, err := db.ExecContext(ctx,
		`INSERT INTO charges (payment_id, account, amount)
		 SELECT ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM charges WHERE payment_id = ?)`,
		p.ID, p.Account, p.Amount, p.ID)
	if err != nil {
		return fmt.Errorf("insert charge: %w", err)
	}
	stored, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("insert charge: %w", err)
	}
	if stored == 0 {
		return nil
	}
	if _, err := db.ExecContext(ctx,
		`UPDATE accounts SET balance = balance - ? WHERE id = ?`,
		p.Amount, p.Account); err != nil {
		return fmt.Errorf("debit account: %w", err)
	}
	return nil
}
