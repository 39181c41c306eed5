package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/gateway"
)

// Payment is the value of a record.
type Payment struct {
	ID      string `json:"payment_id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"` // cents
}

// Handle needs no mark: the row itself says that the payment is done, and a
// single statement looks for it and writes it.
func Handle(ctx context.Context, db *sql.DB, gw gateway.Client, rec *kgo.Record) error {
	var p Payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	var receiptID string
	err := db.QueryRowContext(ctx, `SELECT receipt_id FROM charges WHERE payment_id = ?`, p.ID).Scan(&receiptID)
	if err == nil {
		return nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("look for the charge: %w", err)
	}

	receipt, err := gw.Charge(ctx, gateway.Request{Account: p.Account, Amount: p.Amount, IdempotencyKey: p.ID})
	if err != nil {
		return fmt.Errorf("charge payment %s: %w", p.ID, err)
	}
	// SQLite has one writer at a time. On another database this needs a unique key
	// on payment_id.
	_, err = db.ExecContext(ctx, `
		INSERT INTO charges (payment_id, account, amount, receipt_id)
		SELECT :payment, :account, :amount, :receipt
		WHERE NOT EXISTS (SELECT 1 FROM charges WHERE payment_id = :payment)`,
		sql.Named("payment", p.ID), sql.Named("account", p.Account),
		sql.Named("amount", p.Amount), sql.Named("receipt", receipt.ID))
	if err != nil {
		return fmt.Errorf("insert charge: %w", err)
	}
	return nil
}
