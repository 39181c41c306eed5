package handler

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// ledger is one open transaction with its prepared statements. The first error
// is kept, and everything after it is skipped.
type ledger struct {
	ctx context.Context
	tx  *sql.Tx
	err error
}

func (l *ledger) exec(query string, args ...any) (affected int64) {
	if l.err != nil {
		return 0
	}
	var stmt *sql.Stmt
	if stmt, l.err = l.tx.PrepareContext(l.ctx, query); l.err != nil {
		return 0
	}
	defer stmt.Close()
	var res sql.Result
	if res, l.err = stmt.ExecContext(l.ctx, args...); l.err != nil {
		return 0
	}
	affected, l.err = res.RowsAffected()
	return affected
}

func (l *ledger) close() error {
	if l.err != nil {
		_ = l.tx.Rollback() // the first error is the one to report
		return l.err
	}
	return l.tx.Commit()
}

// Handle applies the payment when its event could be marked.
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p struct {
		ID      string `json:"payment_id"`
		Account string `json:"account"`
		Amount  int64  `json:"amount"`
	}
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return fmt.Errorf("decode payment: %w", err)
	}
	var eventID []byte
	for _, h := range rec.Headers {
		if h.Key == "event-id" {
			eventID = h.Value
		}
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	l := &ledger{ctx: ctx, tx: tx}
	if l.exec(`INSERT INTO processed_events (event_id, processed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		string(eventID), time.Now().UTC().Format(time.RFC3339)) == 1 {
		l.exec(`INSERT INTO charges (payment_id, account, amount) VALUES (?, ?, ?)`, p.ID, p.Account, p.Amount)
		l.exec(`UPDATE accounts SET balance = balance - ? WHERE id = ?`, p.Amount, p.Account)
	}
	return l.close()
}
