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

// HandleBatch is called with what one poll returned: records of one partition,
// in order. When it returns nil, the offset after the last one is committed;
// when it returns an error, nothing is committed and the records come again.
func HandleBatch(ctx context.Context, db *sql.DB, recs []*kgo.Record) error {
	for _, rec := range recs {
		if err := charge(ctx, db, rec); err != nil {
			return fmt.Errorf("offset %d: %w", rec.Offset, err)
		}
	}
	return nil
}

func charge(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()

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
