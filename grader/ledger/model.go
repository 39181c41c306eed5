package ledger

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"redeliver/grader/ledger/readcommitted"
)

// model is the model of READ COMMITTED. Its one connection belongs to the grader
// and executes the submission's statements too, then under the rules.
type model struct {
	l      *Ledger
	raw    driver.Conn
	data   *readcommitted.Database
	active *modelConn // whose statement SQLite compiles; nil: one of ours
}

func newModel(l *Ledger) (engine, error) {
	m := &model{l: l}
	return m, m.open()
}

func (m *model) open() error {
	raw, err := m.l.driver.Open(":memory:")
	if err != nil {
		return err
	}
	rules, ok := raw.(sqlite.AuthorizerRegisterer)
	if !ok {
		return errors.Join(errNoAuthoriser, raw.Close())
	}
	if err := rules.RegisterAuthorizer(m.authorise); err != nil {
		return errors.Join(fmt.Errorf("install the rules: %w", err), raw.Close())
	}
	if err := limitLength(raw, m.l.limits.Bytes); err != nil {
		return errors.Join(err, raw.Close())
	}
	data, err := readcommitted.Open(raw)
	if err != nil {
		return errors.Join(err, raw.Close())
	}
	m.raw, m.data = raw, data
	return nil
}

func (m *model) clear() error {
	if err := m.raw.Close(); err != nil {
		return err
	}
	return m.open()
}

func (m *model) authorise(action sqlite.AuthorizerActionCode, arg1, arg2, database, trigger string) sqlite.AuthorizerReturnCode {
	if m.active == nil {
		return m.l.authoriseOwn(action, arg1, arg2, database, trigger)
	}
	return m.active.rules.authorise(m.active.l, action, arg1, arg2)
}

func (m *model) connect(instance string) (Conn, error) {
	return &modelConn{l: m.l, m: m, session: m.data.Session(instance)}, nil
}

func (m *model) own() (driver.Conn, error) { return m.raw, nil }

func (m *model) define(ctx context.Context, sql string) error {
	c := &modelConn{l: m.l, m: m}
	_, err := c.run(ctx, sql, func(ctx context.Context) (readcommitted.Result, error) {
		_, err := execRaw(ctx, m.raw, sql, nil)
		return readcommitted.Result{}, err
	})
	if err != nil && ctx.Err() == nil {
		return &SchemaError{strings.TrimSpace(fmt.Sprintf("%v. %s", err, c.Refused()))}
	}
	return ctx.Err()
}

func (m *model) keep(ctx context.Context) error { return m.data.Keep(ctx) }

// reset also removes the tables of the harness, which are temporary ones of this
// connection and would stand before the submission's.
func (m *model) reset(ctx context.Context) error {
	rows, err := m.raw.(driver.QueryerContext).QueryContext(ctx, "SELECT name FROM sqlite_temp_master WHERE type = 'table'", nil)
	if err != nil {
		return err
	}
	var names []string
	row := make([]driver.Value, 1)
	for rows.Next(row) == nil {
		names = append(names, fmt.Sprint(row[0]))
	}
	if err := rows.Close(); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := execRaw(ctx, m.raw, "DROP TABLE temp."+quote(name), nil); err != nil {
			return err
		}
	}
	if err := m.data.Reset(ctx); err != nil {
		return err
	}
	_, err = execRaw(ctx, m.raw, fmt.Sprintf("PRAGMA max_page_count = %d", maxPages), nil)
	return err
}

func (m *model) close() error { return m.raw.Close() }

// modelConn is a session of the model.
type modelConn struct {
	l       *Ledger
	m       *model
	session *readcommitted.Session
	rules   rules
}

func (c *modelConn) Refused() string { return c.rules.refused }

func (c *modelConn) open() bool { return c.session.Open() }

func (c *modelConn) holder() string {
	if s := c.session.Blocked(); s != nil {
		return s.Name()
	}
	return ""
}

func (c *modelConn) close() error {
	c.session.Close()
	return nil
}

// run executes something of the submission's on SQLite, under the rules.
func (c *modelConn) run(ctx context.Context, query string, fn func(context.Context) (readcommitted.Result, error)) (res readcommitted.Result, err error) {
	c.m.active = c
	defer func() { c.m.active = nil }()
	err = c.l.limited(ctx, query, func(ctx context.Context) (err error) {
		res, err = fn(ctx)
		return err
	})
	return res, err
}

func (c *modelConn) Prepare(ctx context.Context, query string) error {
	c.rules = rules{}
	_, err := c.run(ctx, query, func(ctx context.Context) (res readcommitted.Result, err error) {
		s, err := c.m.raw.(driver.ConnPrepareContext).PrepareContext(ctx, readcommitted.Text(query))
		if err != nil {
			return res, err
		}
		return res, s.Close()
	})
	return err
}

func (c *modelConn) Exec(ctx context.Context, query string, args []driver.NamedValue) (Result, error) {
	out, access, err := c.do(ctx, query, args, func(ctx context.Context, query string) (res readcommitted.Result, err error) {
		r, err := execRaw(ctx, c.m.raw, query, args)
		if err != nil || r == nil { // nil: an empty statement
			return res, err
		}
		if res.Affected, err = r.RowsAffected(); err != nil {
			return res, err
		}
		res.LastInsertID, err = r.LastInsertId()
		return res, err
	})
	return Result{out.Affected, out.LastInsertID, c.differences(out.Changes), access}, err
}

func (c *modelConn) Query(ctx context.Context, query string, args []driver.NamedValue) (Rowset, error) {
	out, access, err := c.do(ctx, query, args, func(ctx context.Context, query string) (res readcommitted.Result, err error) {
		rows, err := c.l.read(ctx, c.m.raw, query, args)
		for _, col := range rows.Columns {
			res.Columns = append(res.Columns, readcommitted.Column(col))
		}
		res.Rows = rows.Rows
		return res, err
	})
	set := Rowset{Rows: out.Rows, Changes: c.differences(out.Changes), Access: access}
	for _, col := range out.Columns {
		set.Columns = append(set.Columns, Column(col))
	}
	return set, err
}

// do runs a statement through the model. What it read is what SQLite's
// authoriser saw; a statement that writes a table depends on its rows too.
func (c *modelConn) do(ctx context.Context, query string, args []driver.NamedValue, fn readcommitted.Evaluate) (readcommitted.Outcome, Access, error) {
	c.rules = rules{}
	out, err := c.session.Do(ctx, query, args, func(ctx context.Context, query string) (readcommitted.Result, error) {
		return c.run(ctx, query, func(ctx context.Context) (readcommitted.Result, error) { return fn(ctx, query) })
	})
	a := accessOf(out)
	for _, name := range slices.Concat(c.rules.seen.reads, c.rules.seen.writes) {
		if !slices.Contains(a.Reads, name) {
			a.Reads = append(a.Reads, name)
		}
	}
	return out, a, err
}

func accessOf(out readcommitted.Outcome) Access {
	return Access{Reads: out.Reads, Writes: out.Writes, Durable: out.Durable}
}

func (c *modelConn) differences(changes []readcommitted.Change) []string {
	var all []string
	for i, ch := range changes {
		if i == maxChanges {
			return append(all, "… and more rows")
		}
		all = append(all, difference(ch.Table, c.l.columnsOf(ch.Table), ch.Old, ch.New))
	}
	return all
}

func (c *modelConn) Begin(_ context.Context, opts driver.TxOptions) error {
	c.rules = rules{}
	return c.session.Begin(opts.ReadOnly)
}

func (c *modelConn) Commit() (Access, error) {
	c.rules = rules{}
	out, err := c.session.Commit(context.Background())
	return accessOf(out), err
}

func (c *modelConn) Rollback() (Access, error) {
	c.rules = rules{}
	out, err := c.session.Rollback()
	return accessOf(out), err
}

// Fail aborts the transaction, as every error does in PostgreSQL.
func (c *modelConn) Fail() Access { return Access{Writes: c.session.Abort()} }
