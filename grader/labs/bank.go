package labs

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	_ "modernc.org/sqlite" // registers "sqlite"

	"redeliver/grader/labs/scene"
)

// bank is the consumer's database: SQLite in memory, shared by the connections of
// one lab. Each process of a lab has a connection of its own.
type bank struct {
	pool *sql.DB
	own  *sql.Conn // keeps the database alive
}

// banks numbers the databases: they share the memory of the process by name.
var banks atomic.Int64

const schema = `
CREATE TABLE account (owner TEXT PRIMARY KEY, cents INTEGER NOT NULL);
CREATE TABLE payments (event_id TEXT NOT NULL, cents INTEGER NOT NULL);
CREATE TABLE processed (event_id TEXT PRIMARY KEY)`

// uniqueKey is the promise that a second payment for one event is refused.
const uniqueKey = `CREATE UNIQUE INDEX one_payment_per_event ON payments (event_id)`

// The statements of the handlers, as the pages show them.
const (
	sqlDebit   = `UPDATE account SET cents = cents - ?`
	sqlPay     = `INSERT INTO payments (event_id, cents) VALUES (?, ?)`
	sqlPayOnce = `INSERT INTO payments (event_id, cents) VALUES (?, ?) ON CONFLICT DO NOTHING`
	sqlMark    = `INSERT INTO processed (event_id) VALUES (?) ON CONFLICT DO NOTHING`
	sqlLook    = `SELECT count(*) FROM payments WHERE event_id = ?`
)

func openBank(ctx context.Context, unique bool) (_ *bank, err error) {
	b := &bank{}
	name := "file:/lab-" + strconv.FormatInt(banks.Add(1), 10) + "?vfs=memdb&_txlock=immediate"
	if b.pool, err = sql.Open("sqlite", name); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.own, err = b.pool.Conn(ctx); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	statements := schema
	if unique {
		statements += ";" + uniqueKey
	}
	if _, err := b.own.ExecContext(ctx, statements); err != nil {
		return nil, fmt.Errorf("create tables: %w", err)
	}
	if _, err := b.own.ExecContext(ctx, `INSERT INTO account VALUES ('anna', ?)`, int64(opening)); err != nil {
		return nil, fmt.Errorf("open account: %w", err)
	}
	return b, nil
}

// close drops the database.
func (b *bank) close() {
	if b.own != nil {
		_ = b.own.Close() // it goes back to the pool, which is closed next
	}
	_ = b.pool.Close() // nothing of it is kept
}

// connect is the connection of a process.
func (b *bank) connect(ctx context.Context) (*sql.Conn, error) {
	c, err := b.pool.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return c, nil
}

// sever ends a connection as a crash does: the database rolls back what was open.
func sever(c *sql.Conn) error {
	err := c.Raw(func(any) error { return driver.ErrBadConn })
	if err != nil && !errors.Is(err, driver.ErrBadConn) {
		return fmt.Errorf("end a connection: %w", err)
	}
	return nil
}

func (b *bank) balance(ctx context.Context) (c scene.Cents, err error) {
	if err := b.own.QueryRowContext(ctx, `SELECT cents FROM account`).Scan(&c); err != nil {
		return 0, fmt.Errorf("read balance: %w", err)
	}
	return c, nil
}

// tables reads tables as they are committed.
func (b *bank) tables(ctx context.Context, names ...string) (tables []scene.Table, err error) {
	for _, name := range names {
		t, err := b.table(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		tables = append(tables, t)
	}
	return tables, nil
}

func (b *bank) table(ctx context.Context, name string) (t scene.Table, err error) {
	rows, err := b.own.QueryContext(ctx, `SELECT * FROM `+name+` ORDER BY rowid`) //nolint:gosec // a name of ours
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	t.Name = name
	if t.Columns, err = rows.Columns(); err != nil {
		return t, err
	}
	for rows.Next() {
		cells := make([]string, len(t.Columns))
		into := make([]any, len(cells))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return t, err
		}
		t.Rows = append(t.Rows, cells)
	}
	return t, rows.Err()
}

// executor is a connection or a transaction.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// change executes a statement and says how many rows it changed.
func change(ctx context.Context, e executor, statement string, args ...any) (int64, error) {
	result, err := e.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", statement, err)
	}
	return result.RowsAffected()
}

// pay debits the account and writes the payment down.
func pay(ctx context.Context, e executor, event string) error {
	if _, err := change(ctx, e, sqlDebit, int64(price)); err != nil {
		return err
	}
	_, err := change(ctx, e, sqlPay, event, int64(price))
	return err
}
