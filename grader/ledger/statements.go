package ledger

import (
	"context"
	"database/sql/driver"
	"errors"
)

// maxStatements bounds how many statements a connection keeps compiled. The
// schedules of a grading execute some twenty different ones.
const maxStatements = 128

// remembering is a connection that keeps what it has compiled: SQLite takes longer
// to compile a statement than to execute it, and schedules execute the same ones
// again and again. SQLite itself compiles one anew when the schema has changed.
type remembering struct {
	driver.Conn
	compiled map[statementKey]statement
	// notes is where the authoriser of this connection writes; nil when nobody
	// reads that. It is asked when SQLite compiles, so what it said is kept too.
	notes *rules
	// whose says on whose behalf statements run now; nil: always the same.
	whose func() trust
}

type statementKey struct {
	query string
	whose trust
}

type statement struct {
	driver.Stmt
	notes rules
}

func remember(raw driver.Conn) *remembering {
	return &remembering{Conn: raw, compiled: map[statementKey]statement{}}
}

// compile returns a statement that belongs to the connection.
func (r *remembering) compile(ctx context.Context, query string) (driver.Stmt, error) {
	key := statementKey{query: query}
	if r.whose != nil {
		key.whose = r.whose()
	}
	if s, ok := r.compiled[key]; ok {
		if r.notes != nil {
			*r.notes = s.notes.clone()
		}
		return s.Stmt, nil
	}
	if len(r.compiled) >= maxStatements {
		if err := r.forget(); err != nil {
			return nil, err
		}
	}
	raw, err := r.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s := statement{Stmt: raw}
	if r.notes != nil {
		s.notes = r.notes.clone()
	}
	r.compiled[key] = s
	return s.Stmt, nil
}

// ExecContext implements driver.ExecerContext.
func (r *remembering) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := r.compile(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.(driver.StmtExecContext).ExecContext(ctx, args)
}

// QueryContext implements driver.QueryerContext. The result must be closed before
// the next statement.
func (r *remembering) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := r.compile(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.(driver.StmtQueryContext).QueryContext(ctx, args)
}

// forget frees what is compiled.
func (r *remembering) forget() error {
	var errs []error
	for _, s := range r.compiled {
		errs = append(errs, s.Close())
	}
	clear(r.compiled)
	return errors.Join(errs...)
}

// Close implements driver.Conn.
func (r *remembering) Close() error { return errors.Join(r.forget(), r.Conn.Close()) }
