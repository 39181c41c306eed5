//go:build wasip1

package sdk

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"redeliver/grader/guest/abi"
	"redeliver/grader/guest/host"
)

// sqlDriver opens connections whose statements are host calls. Numbers of
// connections are reused, the lowest first, so that equal runs name them alike.
type sqlDriver struct {
	taken [abi.MaxConns + 1]bool // by number; 0 is never taken
}

// Connect implements driver.Connector.
func (d *sqlDriver) Connect(context.Context) (driver.Conn, error) {
	for id := 1; id < len(d.taken); id++ {
		if !d.taken[id] {
			d.taken[id] = true
			return &conn{driver: d, id: uint64(id)}, nil
		}
	}
	return nil, fmt.Errorf("the sandbox allows %d open database connections per instance", abi.MaxConns)
}

// Driver implements driver.Connector.
func (d *sqlDriver) Driver() driver.Driver { return d }

// Open implements driver.Driver.
func (d *sqlDriver) Open(string) (driver.Conn, error) { return d.Connect(context.Background()) }

// conn is one connection. The host keeps its transaction.
type conn struct {
	driver *sqlDriver
	id     uint64
	bad    bool // the host answered ErrBadConn
}

// Close implements driver.Conn.
func (c *conn) Close() error {
	host.Call(abi.OpCloseConn, func(b []byte) []byte { return abi.AppendEnd(b, abi.End{Conn: c.id}) })
	c.driver.taken[c.id] = false
	return nil
}

// ResetSession implements driver.SessionResetter.
func (c *conn) ResetSession(context.Context) error {
	if c.bad {
		return driver.ErrBadConn
	}
	return nil
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool { return !c.bad }

// Ping implements driver.Pinger with a statement, as the real driver does.
func (c *conn) Ping(ctx context.Context) error {
	_, err := c.ExecContext(ctx, "select 1", nil)
	return err
}

// fail turns the error of a reply into Go's and remembers a broken connection.
func (c *conn) fail(e abi.Error) error {
	if e.Kind == abi.BadConn {
		c.bad = true
	}
	return asError(e)
}

// done reads a reply that is an error or nothing.
func (c *conn) done(r *abi.Reader) error {
	e := r.Error()
	if err := r.End(); err != nil {
		return host.Broken(err)
	}
	return c.fail(e)
}

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx implements driver.ConnBeginTx. Like the real driver it accepts every
// isolation level: SQLite has one.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := host.Ended(ctx); err != nil {
		return nil, err
	}
	m := abi.Begin{Conn: c.id, At: host.Position(), ReadOnly: o.ReadOnly}
	if err := c.done(host.Call(abi.OpBegin, func(b []byte) []byte { return abi.AppendBegin(b, m) })); err != nil {
		return nil, err
	}
	return &tx{c, ctx}, nil
}

// tx is the transaction that is open on its connection.
type tx struct {
	conn *conn
	ctx  context.Context // of BeginTx
}

// Commit implements driver.Tx. When the context of BeginTx has ended, the real
// driver rolls back instead and reports the context.
func (t *tx) Commit() error {
	if err := host.Ended(t.ctx); err != nil {
		_ = t.Rollback() // the real driver does not report it either
		return err
	}
	return t.conn.end(abi.OpCommit, host.Position())
}

// Rollback implements driver.Tx.
func (t *tx) Rollback() error { return t.conn.end(abi.OpRollback, host.Position()) }

func (c *conn) end(op uint32, at abi.Position) error {
	m := abi.End{Conn: c.id, At: at}
	return c.done(host.Call(op, func(b []byte) []byte { return abi.AppendEnd(b, m) }))
}

// statement makes the request for sql. A time is sent as the text that the
// real driver stores, time.Time.String.
func (c *conn) statement(sql string, args []driver.NamedValue, at abi.Position) abi.Statement {
	for i, a := range args {
		if t, ok := a.Value.(time.Time); ok {
			args[i].Value = t.String()
		}
	}
	return abi.Statement{Conn: c.id, At: at, SQL: sql, Args: args}
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, sql string, args []driver.NamedValue) (driver.Result, error) {
	if err := host.Ended(ctx); err != nil {
		return nil, err
	}
	s := c.statement(sql, args, host.Position())
	r := host.Call(abi.OpExec, func(b []byte) []byte { return abi.AppendStatement(b, s) })
	m := r.ExecReply()
	if err := r.End(); err != nil {
		return nil, host.Broken(err)
	}
	if err := c.fail(m.Err); err != nil {
		return nil, err
	}
	return result{m.RowsAffected, m.LastInsertID}, nil
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, sql string, args []driver.NamedValue) (driver.Rows, error) {
	if err := host.Ended(ctx); err != nil {
		return nil, err
	}
	s := c.statement(sql, args, host.Position())
	r := host.Call(abi.OpQuery, func(b []byte) []byte { return abi.AppendStatement(b, s) })
	m := r.QueryReply()
	if err := r.End(); err != nil {
		return nil, host.Broken(err)
	}
	if err := c.fail(m.Err); err != nil {
		return nil, err
	}
	return newRows(m), nil
}

// Prepare implements driver.Conn.
func (c *conn) Prepare(sql string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), sql)
}

// PrepareContext implements driver.ConnPrepareContext. The host checks the
// statement; nothing of it is kept there.
func (c *conn) PrepareContext(ctx context.Context, sql string) (driver.Stmt, error) {
	if err := host.Ended(ctx); err != nil {
		return nil, err
	}
	s := c.statement(sql, nil, host.Position())
	if err := c.done(host.Call(abi.OpPrepare, func(b []byte) []byte { return abi.AppendStatement(b, s) })); err != nil {
		return nil, err
	}
	return &stmt{c, sql}, nil
}

// stmt is a prepared statement: its text, sent again with each execution.
type stmt struct {
	conn *conn
	sql  string
}

// Close implements driver.Stmt.
func (s *stmt) Close() error { return nil }

// NumInput implements driver.Stmt: the number is not known here, and the real
// driver does not tell it either.
func (s *stmt) NumInput() int { return -1 }

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.ExecContext(ctx, s.sql, args)
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.QueryContext(ctx, s.sql, args)
}

// Exec implements driver.Stmt. database/sql calls ExecContext instead.
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

// Query implements driver.Stmt. database/sql calls QueryContext instead.
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

func named(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, v := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return out
}

// result is what a statement without rows did.
type result struct{ rowsAffected, lastInsertID int64 }

// LastInsertId implements driver.Result.
func (r result) LastInsertId() (int64, error) { return r.lastInsertID, nil }

// RowsAffected implements driver.Result.
func (r result) RowsAffected() (int64, error) { return r.rowsAffected, nil }
