package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// ErrNotEmpty refuses to copy into a database that has rows.
var ErrNotEmpty = errors.New("the database that is copied to is not empty")

// CopyTo copies every table of a SQLite database into a PostgreSQL one, whose
// tables are migrated and empty, in one transaction that then also runs after,
// for the tables of a library that shares the database. Which tables there are
// says the schema. It returns the rows of each.
func (s *Store) CopyTo(ctx context.Context, to *Store, after func(context.Context, *sql.Tx) error) (map[string]int64, error) {
	if s.Dialect != SQLite || to.Dialect != Postgres {
		return nil, errors.New("copy: from SQLite to PostgreSQL only")
	}
	tables, err := s.tables(ctx)
	if err != nil {
		return nil, fmt.Errorf("copy: %w", err)
	}
	conn, err := to.Write.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("copy: %w", err)
	}
	defer conn.Close() //nolint:errcheck // goes back to the pool
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("copy: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after Commit
	counts := map[string]int64{}
	for _, table := range tables {
		if counts[table], err = s.copyTable(ctx, conn, tx, table); err != nil {
			return nil, fmt.Errorf("copy table %s: %w", table, err)
		}
	}
	if err := after(ctx, tx); err != nil {
		return nil, fmt.Errorf("copy: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("copy: %w", err)
	}
	return counts, nil
}

// tables lists ours, those that others refer to first. The tables of goose and
// River are theirs.
func (s *Store) tables(ctx context.Context) ([]string, error) {
	left, err := texts(ctx, s.Read, `SELECT name FROM sqlite_master WHERE type = 'table'
		AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE 'goose\_%' ESCAPE '\' AND name NOT LIKE 'river\_%' ESCAPE '\' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	var ordered []string
	for len(left) > 0 {
		before := len(left)
		for _, table := range slices.Clone(left) {
			parents, err := texts(ctx, s.Read, `SELECT DISTINCT "table" FROM pragma_foreign_key_list(?)`, table)
			if err != nil {
				return nil, err
			}
			waits := slices.ContainsFunc(parents, func(p string) bool { return p != table && slices.Contains(left, p) })
			if !waits {
				ordered = append(ordered, table)
				left = slices.DeleteFunc(left, func(t string) bool { return t == table })
			}
		}
		if len(left) == before {
			return nil, fmt.Errorf("the tables %s refer to each other in a circle", strings.Join(left, ", "))
		}
	}
	return ordered, nil
}

// copyTable copies the rows in the order in which they were written, so that a
// row may refer to an earlier one of its table.
func (s *Store) copyTable(ctx context.Context, conn *sql.Conn, tx *sql.Tx, table string) (n int64, err error) {
	columns, err := texts(ctx, s.Read, `SELECT name FROM pragma_table_info(?)`, table)
	if err != nil {
		return 0, err
	}
	name := pgx.Identifier{table}.Sanitize()
	var full bool
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+name+")").Scan(&full); err != nil {
		return 0, err
	}
	if full {
		return 0, ErrNotEmpty
	}
	booleans, err := texts(ctx, tx, `SELECT column_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1 AND data_type = 'boolean'`, table)
	if err != nil {
		return 0, err
	}
	rows, err := s.Read.QueryContext(ctx, `SELECT "`+strings.Join(columns, `", "`)+`" FROM "`+table+`" ORDER BY rowid`) //nolint:gosec,rowserrcheck // names of our own schema; copySource.Err asks
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	source := &copySource{rows: rows, values: make([]any, len(columns))}
	for i, column := range columns {
		if slices.Contains(booleans, column) {
			source.booleans = append(source.booleans, i)
		}
	}
	err = conn.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("the connection is a %T", driver)
		}
		n, err = c.Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, source)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, advanceIdentity(ctx, tx, table)
}

// advanceIdentity makes the next row get a number above those that were copied.
func advanceIdentity(ctx context.Context, tx *sql.Tx, table string) error {
	columns, err := texts(ctx, tx, `SELECT column_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1 AND is_identity = 'YES'`, table)
	if err != nil {
		return err
	}
	for _, column := range columns {
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`SELECT setval(pg_get_serial_sequence($1, $2), greatest(max(%s), 1), max(%[1]s) IS NOT NULL) FROM %s`,
			pgx.Identifier{column}.Sanitize(), pgx.Identifier{table}.Sanitize()), table, column)
		if err != nil {
			return fmt.Errorf("advance %s: %w", column, err)
		}
	}
	return nil
}

// copySource hands SQLite's rows to PostgreSQL's COPY.
type copySource struct {
	rows     *sql.Rows
	booleans []int // columns in which SQLite has 0 and 1
	values   []any
	err      error
}

// Next reads one row.
func (c *copySource) Next() bool {
	if c.err != nil || !c.rows.Next() {
		return false
	}
	pointers := make([]any, len(c.values))
	for i := range c.values {
		pointers[i] = &c.values[i]
	}
	if c.err = c.rows.Scan(pointers...); c.err != nil {
		return false
	}
	for _, i := range c.booleans {
		if n, ok := c.values[i].(int64); ok {
			c.values[i] = n != 0
		}
	}
	return true
}

// Values returns the row.
func (c *copySource) Values() ([]any, error) { return c.values, nil }

// Err says why the rows have ended early.
func (c *copySource) Err() error { return errors.Join(c.err, c.rows.Err()) }

type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// texts returns the first column.
func texts(ctx context.Context, q queryer, query string, args ...any) (list []string, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}
