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

// ErrTooManyConns is answered when an instance opens more than MaxConns.
var ErrTooManyConns = fmt.Errorf("the sandbox allows %d open database connections per instance", MaxConns)

// Conn is one connection of an instance, as the driver in the guest numbers them.
type Conn struct {
	l   *Ledger
	raw driver.Conn
	tx  driver.Tx

	changes []string
	refused string
	seen    seen
	session session
}

// Conn returns the connection with that number of an instance, opened when
// needed. It returns ErrTooManyConns, or an error of ours.
func (l *Ledger) Conn(instance string, id uint64) (*Conn, error) {
	key := connKey{instance, id}
	if c, ok := l.conns[key]; ok {
		return c, nil
	}
	n := 0
	for k := range l.conns {
		if k.instance == instance {
			n++
		}
	}
	if n >= MaxConns {
		return nil, ErrTooManyConns
	}
	raw, err := l.driver.Open(l.dsn())
	if err != nil {
		return nil, fmt.Errorf("open connection of %s: %w", instance, err)
	}
	c := &Conn{l: l, raw: raw}
	if err := c.guard(); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	l.conns[key] = c
	return c, nil
}

// CloseConn closes one connection, as the guest's pool does.
func (l *Ledger) CloseConn(instance string, id uint64) error {
	key := connKey{instance, id}
	c, ok := l.conns[key]
	if !ok {
		return nil
	}
	delete(l.conns, key)
	if err := c.raw.Close(); err != nil {
		return fmt.Errorf("close connection of %s: %w", instance, err)
	}
	return nil
}

// guard installs the rules and the hook that collects row differences.
func (c *Conn) guard() error {
	hooks, ok := c.raw.(sqlite.HookRegisterer)
	if !ok {
		return errors.New("the SQLite driver has no pre-update hook")
	}
	hooks.RegisterPreUpdateHook(c.collect)
	rules, ok := c.raw.(sqlite.AuthorizerRegisterer)
	if !ok {
		return errors.New("the SQLite driver has no authoriser")
	}
	if err := rules.RegisterAuthorizer(c.authorise); err != nil {
		return fmt.Errorf("install the rules: %w", err)
	}
	return nil
}

// Refused says what the rules refused in the last statement, "" when nothing.
func (c *Conn) Refused() string { return c.refused }

// Prepare compiles a statement and forgets it: it returns SQLite's error.
func (c *Conn) Prepare(ctx context.Context, query string) error {
	c.refused = ""
	s, err := c.raw.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	return s.Close()
}

// Exec runs a statement, or several. Errors are SQLite's own, a *LimitError,
// or ctx's.
func (c *Conn) Exec(ctx context.Context, query string, args []driver.NamedValue) (Result, error) {
	var res Result
	err := c.limited(ctx, query, func(ctx context.Context) error {
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
	res.Changes, res.Access = c.changes, c.settle(err)
	return res, err
}

// Query runs a statement and reads its whole result.
func (c *Conn) Query(ctx context.Context, query string, args []driver.NamedValue) (Rowset, error) {
	var rows Rowset
	err := c.limited(ctx, query, func(ctx context.Context) (err error) {
		rows, err = c.l.read(ctx, c.raw, query, args)
		return err
	})
	rows.Changes, rows.Access = c.changes, c.settle(err)
	return rows, err
}

// Begin starts a transaction. It takes no lock and pins nothing: SQLite's BEGIN
// is deferred.
func (c *Conn) Begin(ctx context.Context, opts driver.TxOptions) error {
	c.changes, c.refused, c.seen = nil, "", seen{}
	tx, err := c.raw.(driver.ConnBeginTx).BeginTx(ctx, opts)
	if err != nil {
		return err
	}
	c.tx, c.session = tx, session{open: true}
	return nil
}

// errNoTx answers a COMMIT that the guest's driver sent outside a transaction,
// which database/sql does not do.
var errNoTx = errors.New("no transaction is open on this connection")

// Commit ends the transaction. After an error it is rolled back, as in
// modernc.org/sqlite.
func (c *Conn) Commit() (Access, error) {
	err := c.end(driver.Tx.Commit)
	return c.ended(true, err), err
}

// Rollback gives the transaction up.
func (c *Conn) Rollback() (Access, error) {
	err := c.end(driver.Tx.Rollback)
	return c.ended(false, err), err
}

func (c *Conn) end(how func(driver.Tx) error) error {
	c.changes, c.refused, c.seen = nil, "", seen{}
	if c.tx == nil {
		return errNoTx
	}
	tx := c.tx
	c.tx = nil
	return how(tx)
}

// limited runs one statement with the wall-clock limit. A limit is ours to
// report and not an answer to the submission, so it is told from ctx's own end.
func (c *Conn) limited(ctx context.Context, query string, fn func(context.Context) error) error {
	c.changes, c.refused, c.seen = nil, "", seen{}
	inner, cancel := context.WithTimeout(ctx, c.l.limits.Statement)
	defer cancel()
	err := fn(inner)
	if err != nil && inner.Err() != nil && ctx.Err() == nil {
		return &LimitError{fmt.Sprintf("The SQL statement %q did not finish within %g s.", Shorten(query, 80), c.l.limits.Statement.Seconds())}
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
