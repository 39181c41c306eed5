package ledger

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"modernc.org/sqlite"
)

// Result is what a statement without rows answers.
type Result struct {
	Affected     int64
	LastInsertID int64
	Changes      []string // row differences, see diff.go
	Access       Access
}

// Column is the name and declared type of a column of a result.
type Column struct{ Name, Type string }

// Rowset is a whole result.
type Rowset struct {
	Columns []Column
	Rows    [][]driver.Value
	Changes []string
	Access  Access
}

// LimitError says that a statement went over a limit of the sandbox. The
// instance is stopped; the statement gets no answer.
type LimitError struct{ Text string }

func (e *LimitError) Error() string { return e.Text }

var errNoAuthoriser = errors.New("the SQLite driver has no authoriser")

// ErrTooManyConns is answered when an instance opens more than MaxConns.
var ErrTooManyConns = fmt.Errorf("the sandbox allows %d open database connections per instance", MaxConns)

// Conn is one connection of an instance, as the driver in the guest numbers them.
// Errors are SQLite's own and, from the model, *readcommitted.Error: answers. A
// *LimitError, a *readcommitted.Waiting, a *readcommitted.Outside and ctx's own
// are none.
type Conn interface {
	// Prepare compiles a statement and forgets it.
	Prepare(ctx context.Context, query string) error
	// Exec runs a statement; SQLite, also several.
	Exec(ctx context.Context, query string, args []driver.NamedValue) (Result, error)
	// Query runs a statement and reads its whole result.
	Query(ctx context.Context, query string, args []driver.NamedValue) (Rowset, error)
	// Begin starts a transaction. It takes no lock and pins nothing: SQLite's
	// BEGIN is deferred.
	Begin(ctx context.Context, opts driver.TxOptions) error
	// Commit ends the transaction. After an error it is rolled back, as in
	// modernc.org/sqlite.
	Commit() (Access, error)
	// Rollback gives the transaction up.
	Rollback() (Access, error)
	// Fail is told when the schedule answers a statement with an error instead of
	// executing it.
	Fail() Access
	// Refused says what the rules refused in the last statement, "" when nothing.
	Refused() string

	open() bool     // a transaction
	holder() string // the instance that it waits for, "" when for none
	close() error
}

// fileConn is a connection to a SQLite file.
type fileConn struct {
	l    *Ledger
	file *file
	raw  *remembering
	tx   driver.Tx

	changes []string
	rules   rules
	session session
	begun   bool // it may be in a transaction
	spoilt  bool // it is no longer as good as new
}

// guard installs the rules and the hook that collects row differences.
func (c *fileConn) guard() error {
	hooks, ok := c.raw.Conn.(sqlite.HookRegisterer)
	if !ok {
		return errors.New("the SQLite driver has no pre-update hook")
	}
	hooks.RegisterPreUpdateHook(c.collect)
	authoriser, ok := c.raw.Conn.(sqlite.AuthorizerRegisterer)
	if !ok {
		return errNoAuthoriser
	}
	if err := authoriser.RegisterAuthorizer(c.authorise); err != nil {
		return fmt.Errorf("install the rules: %w", err)
	}
	return nil
}

func (c *fileConn) authorise(action sqlite.AuthorizerActionCode, arg1, arg2, _, _ string) sqlite.AuthorizerReturnCode {
	return c.rules.authorise(c.l, action, arg1, arg2)
}

// mark notes what the next schedule must find as it was, even when the statement
// has failed: it may be one of several.
func (c *fileConn) mark() {
	c.begun = c.begun || len(c.rules.seen.control) > 0
	c.spoilt = c.spoilt || c.rules.schema
	c.file.changed = c.file.changed || c.rules.schema
	for _, table := range c.rules.seen.writes {
		c.file.dirty[table] = true
	}
}

// forget begins another call.
func (c *fileConn) forget() { c.changes, c.rules = nil, rules{} }

func (c *fileConn) Refused() string { return c.rules.refused }

func (c *fileConn) open() bool { return c.session.open }

func (c *fileConn) holder() string { return "" }

// close keeps the connection for the next one who asks.
func (c *fileConn) close() error { return c.file.takeBack(c) }

// Fail changes nothing: a failed statement leaves SQLite's transaction open.
func (c *fileConn) Fail() Access { return Access{} }

func (c *fileConn) Prepare(ctx context.Context, query string) error {
	c.rules = rules{}
	_, err := c.raw.compile(ctx, query)
	return err
}

func (c *fileConn) Exec(ctx context.Context, query string, args []driver.NamedValue) (Result, error) {
	var res Result
	c.forget()
	err := c.l.limited(ctx, query, func(ctx context.Context) error {
		r, err := execRaw(ctx, c.raw, query, args)
		if err != nil {
			return err
		}
		if r == nil { // an empty statement
			return nil
		}
		if res.Affected, err = r.RowsAffected(); err != nil {
			return err
		}
		res.LastInsertID, err = r.LastInsertId()
		return err
	})
	c.mark()
	res.Changes, res.Access = c.changes, c.settle(err)
	return res, err
}

func (c *fileConn) Query(ctx context.Context, query string, args []driver.NamedValue) (Rowset, error) {
	var rows Rowset
	c.forget()
	err := c.l.limited(ctx, query, func(ctx context.Context) (err error) {
		rows, err = c.l.read(ctx, c.raw, query, args)
		return err
	})
	c.mark()
	rows.Changes, rows.Access = c.changes, c.settle(err)
	return rows, err
}

func (c *fileConn) Begin(ctx context.Context, opts driver.TxOptions) error {
	c.forget()
	tx, err := c.raw.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	if err != nil {
		return err
	}
	c.begun = true
	c.tx, c.session = tx, session{open: true}
	return nil
}

// errNoTx answers a COMMIT that the guest's driver sent outside a transaction,
// which database/sql does not do.
var errNoTx = errors.New("no transaction is open on this connection")

func (c *fileConn) Commit() (Access, error) {
	err := c.end(driver.Tx.Commit)
	return c.ended(true, err), err
}

func (c *fileConn) Rollback() (Access, error) {
	err := c.end(driver.Tx.Rollback)
	return c.ended(false, err), err
}

func (c *fileConn) end(how func(driver.Tx) error) error {
	c.forget()
	if c.tx == nil {
		return errNoTx
	}
	tx := c.tx
	c.tx = nil
	return how(tx)
}

// limited runs one statement with the wall-clock limit. A limit is ours to
// report and not an answer to the submission, so it is told from ctx's own end.
func (l *Ledger) limited(ctx context.Context, query string, fn func(context.Context) error) error {
	inner, cancel := context.WithTimeout(ctx, l.limits.Statement)
	defer cancel()
	err := fn(inner)
	if err != nil && inner.Err() != nil && ctx.Err() == nil {
		return &LimitError{fmt.Sprintf("The SQL statement %q did not finish within %g s.", Shorten(query, 80), l.limits.Statement.Seconds())}
	}
	return err
}

func execRaw(ctx context.Context, c driver.Conn, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.(driver.ExecerContext).ExecContext(ctx, query, args)
}

// read collects a result up to the limits. The driver reuses the buffers of
// nothing it hands out, so values are kept as they are.
func (l *Ledger) read(ctx context.Context, c driver.Conn, query string, args []driver.NamedValue) (_ Rowset, err error) {
	rows, err := c.(driver.QueryerContext).QueryContext(ctx, query, args)
	if err != nil {
		return Rowset{}, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var set Rowset
	types, _ := rows.(driver.RowsColumnTypeDatabaseTypeName)
	for i, name := range rows.Columns() {
		col := Column{Name: name}
		if types != nil {
			col.Type = types.ColumnTypeDatabaseTypeName(i)
		}
		set.Columns = append(set.Columns, col)
	}
	size := 0
	for {
		row := make([]driver.Value, len(set.Columns))
		if err := rows.Next(row); err == io.EOF { //nolint:errorlint // the driver's contract is io.EOF itself
			return set, nil
		} else if err != nil {
			return Rowset{}, err
		}
		for _, v := range row {
			size += sizeOf(v)
		}
		set.Rows = append(set.Rows, row)
		if len(set.Rows) > l.limits.Rows || size > l.limits.Bytes {
			return Rowset{}, &LimitError{fmt.Sprintf("The result of %q is larger than the sandbox allows (%d rows, %d KiB).",
				Shorten(query, 80), l.limits.Rows, l.limits.Bytes>>10)}
		}
	}
}

func sizeOf(v driver.Value) int {
	switch x := v.(type) {
	case string:
		return len(x) + 8
	case []byte:
		return len(x) + 8
	default:
		return 16
	}
}
