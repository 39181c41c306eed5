package readcommitted

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Database is what is committed, and the sessions beside it. It is not safe for
// concurrent use: one statement runs at a time, as in the schedules that it is
// made for.
type Database struct {
	conn   driver.Conn // holds what is committed, between two calls nothing else
	image  []byte      // of the start
	tables map[string]*table

	sessions map[*Session]bool
	numbered int
	locks    map[string]*Session
	counters map[string]int64 // AUTOINCREMENT, by table: the last id that was given
	rows     map[string]int64 // by table: the last rowid, where it is not a column
	born     map[string]int   // by row: how often a row with this identity was committed
	moved    bool             // some row was committed under another identity

	changes []Change // of the statement that runs
	broken  error    // of the hook
}

// maxChanges is how many rows a transaction may change: each of its statements
// makes the changes before it anew.
const maxChanges = 5000

// Change is a row that a statement inserted (Old is nil), deleted (New is nil)
// or changed.
type Change struct {
	Table    string
	Old, New []any
	from, to int64 // rowids
}

// serializer is what a connection of modernc.org/sqlite can do beyond the
// interfaces of package driver.
type serializer interface {
	Serialize() ([]byte, error)
	Deserialize(image []byte) error
}

// Open takes over a connection to an empty SQLite database in memory.
func Open(conn driver.Conn) (*Database, error) {
	hooks, ok := conn.(sqlite.HookRegisterer)
	if _, can := conn.(serializer); !ok || !can {
		return nil, errors.New("open the model of READ COMMITTED: the driver has no pre-update hook or cannot serialize")
	}
	d := &Database{conn: conn}
	hooks.RegisterPreUpdateHook(d.collect)
	d.forget()
	return d, nil
}

// Keep makes what was written through the connection the start: call it once the
// tables are there. The error is a *SchemaError when the model cannot have them.
func (d *Database) Keep(ctx context.Context) error {
	if err := d.readSchema(ctx); err != nil {
		return err
	}
	if err := d.countIDs(ctx); err != nil {
		return fmt.Errorf("count ids: %w", err)
	}
	if err := d.readSchema(ctx); err != nil { // now with counters
		return err
	}
	image, err := d.conn.(serializer).Serialize()
	if err != nil {
		return fmt.Errorf("keep the start: %w", err)
	}
	d.image = image
	return d.Reset(ctx)
}

// Reset puts the start back. Sessions are gone, whatever they were about.
func (d *Database) Reset(ctx context.Context) error {
	d.forget()
	if err := d.conn.(serializer).Deserialize(d.image); err != nil {
		return fmt.Errorf("put the start back: %w", err)
	}
	for name, t := range d.tables {
		if t.rowid == "" || t.alias >= 0 && !t.counter {
			continue
		}
		last, err := d.query(ctx, fmt.Sprintf("SELECT coalesce(max(%s), 0) FROM %s", t.rowid, quote(t.name)))
		if err != nil {
			return fmt.Errorf("put the start back: %w", err)
		}
		n, _ := last[0][0].(int64)
		if t.counter {
			d.counters[name] = n
		} else {
			d.rows[name] = n
		}
	}
	return nil
}

func (d *Database) forget() {
	d.sessions, d.locks = map[*Session]bool{}, map[string]*Session{}
	d.counters, d.rows, d.born, d.moved = map[string]int64{}, map[string]int64{}, map[string]int{}, false
}

// collect is SQLite's pre-update hook. It sees what is rolled back later too.
func (d *Database) collect(u sqlite.SQLitePreUpdateData) {
	if u.DatabaseName != "main" || len(d.changes) > maxChanges {
		return
	}
	c := Change{Table: u.TableName, from: u.OldRowID, to: u.NewRowID}
	n := u.Count()
	if u.Op != sqlite3.SQLITE_INSERT {
		c.Old = make([]any, n)
		d.broken = errors.Join(d.broken, u.Old(c.Old...))
	}
	if u.Op != sqlite3.SQLITE_DELETE {
		c.New = make([]any, n)
		d.broken = errors.Join(d.broken, u.New(c.New...))
	}
	d.changes = append(d.changes, c)
}

func named(args []any) []driver.NamedValue {
	all := make([]driver.NamedValue, len(args))
	for i, a := range args {
		all[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return all
}

func (d *Database) exec(ctx context.Context, query string, args ...any) error {
	_, err := d.conn.(driver.ExecerContext).ExecContext(ctx, query, named(args))
	return err
}

// query reads a result of the model's own.
func (d *Database) query(ctx context.Context, query string, args ...any) ([][]driver.Value, error) {
	return d.rowsOf(ctx, query, named(args))
}

func (d *Database) rowsOf(ctx context.Context, query string, args []driver.NamedValue) (all [][]driver.Value, err error) {
	rows, err := d.conn.(driver.QueryerContext).QueryContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for {
		row := make([]driver.Value, len(rows.Columns()))
		if err := rows.Next(row); err == io.EOF { //nolint:errorlint // the driver's contract is io.EOF itself
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
}

// Session is a connection to the database. It begins outside of a transaction.
func (d *Database) Session(name string) *Session {
	d.numbered++
	s := &Session{d: d, name: name, number: d.numbered}
	d.sessions[s] = true
	return s
}

// doubtful are the rows of a table that other transactions have changed or
// deleted: whether they stay is not decided.
func (d *Database) doubtful(s *Session, table string) []Change {
	var all []Change
	for _, o := range d.order() {
		if o == s {
			continue
		}
		for _, c := range o.redo {
			if c.Old != nil && d.tables[fold(c.Table)] == d.tables[table] {
				all = append(all, Change{Table: c.Table, Old: c.Old, from: c.from})
			}
		}
	}
	return all
}

// undecided says that another transaction has changed the table.
func (d *Database) undecided(s *Session, t *table) bool {
	for o := range d.sessions {
		if o != s && slices.ContainsFunc(o.redo, func(c Change) bool { return d.tables[fold(c.Table)] == t }) {
			return true
		}
	}
	return false
}

// order lists the sessions always the same way.
func (d *Database) order() []*Session {
	return slices.SortedFunc(maps.Keys(d.sessions), func(a, b *Session) int { return a.number - b.number })
}
