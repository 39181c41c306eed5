// Package ledger is the database of one schedule, put back to the exercise's
// start before each schedule. There are two: a real SQLite file (Open), in which
// every instance of the handler has its own connections, so that locks,
// SQLITE_BUSY and rollback are SQLite's own; and a model of PostgreSQL's READ
// COMMITTED (OpenReadCommitted), in which a writer waits for another one. The
// grader looks at what is committed through a connection that the submission
// cannot reach.
//
// What differs from a database in production: there is no fsync (nothing here
// has to survive a power cut), the busy time-out is zero, `now` and random()
// come from the schedule, and a submission may not leave its database: see
// rules.go. What the model does not imitate stands in package readcommitted.
package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"modernc.org/sqlite"

	"redeliver/grader/ledger/readcommitted"
)

// MaxConns is how many connections one instance may hold at once.
const MaxConns = 8

// Limits bound what one statement may cost.
type Limits struct {
	Statement time.Duration // wall clock; 0: 5 s
	Rows      int           // of one result; 0: 10,000
	Bytes     int           // of one result, and of one text or blob; 0: 1 MiB
}

func (l Limits) withDefaults() Limits {
	if l.Statement == 0 {
		l.Statement = 5 * time.Second
	}
	if l.Rows == 0 {
		l.Rows = 10_000
	}
	if l.Bytes == 0 {
		l.Bytes = 1 << 20
	}
	return l
}

// Statement is SQL with its arguments, for setting up an exercise.
type Statement struct {
	SQL  string
	Args []driver.NamedValue
}

// Ledger is one database and the connections to it. It is not safe for
// concurrent use: a schedule runs one effect at a time.
type Ledger struct {
	limits Limits
	now    func() time.Time
	driver *sqlite.Driver // the submission's: functions of the schedule's clock
	rand   *rand.Rand
	guard  map[string]bool

	engine  engine
	conns   map[connKey]Conn
	trust   trust  // in the SQL that runs on the grader's connection
	refused string // why the rules stopped it
	columns map[string][]string
	calc    driver.Conn // evaluates SQLite's own date functions
}

// engine is what the two databases differ in.
type engine interface {
	// connect opens a connection of an instance.
	connect(instance string) (Conn, error)
	// own is the grader's connection, under authoriseOwn.
	own() (driver.Conn, error)
	// clear leaves an empty database.
	clear() error
	// define runs a submitted schema under the rules.
	define(ctx context.Context, sql string) error
	// keep makes what is there the start of every schedule, reset puts it back.
	// No connection of an instance is open.
	keep(ctx context.Context) error
	reset(ctx context.Context) error
	close() error
}

type connKey struct {
	instance string
	id       uint64
}

// Open makes a ledger over a SQLite file, in a new folder below parent. now is
// the schedule's clock. Close removes the folder.
func Open(ctx context.Context, parent string, limits Limits, now func() time.Time) (*Ledger, error) {
	return open(ctx, limits, now, func(l *Ledger) (engine, error) { return newFile(l, parent) })
}

// OpenReadCommitted makes a ledger over the model of READ COMMITTED, in memory.
func OpenReadCommitted(ctx context.Context, limits Limits, now func() time.Time) (*Ledger, error) {
	return open(ctx, limits, now, newModel)
}

func open(ctx context.Context, limits Limits, now func() time.Time, engineOf func(*Ledger) (engine, error)) (*Ledger, error) {
	l := &Ledger{
		limits: limits.withDefaults(), now: now, driver: &sqlite.Driver{},
		conns: map[connKey]Conn{}, guard: map[string]bool{}, columns: map[string][]string{},
	}
	calc, err := new(sqlite.Driver).Open(":memory:")
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	l.calc = remember(calc)
	// The functions outlive the call that opens the ledger.
	if err := l.registerFunctions(context.WithoutCancel(ctx)); err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger: %w", err), l.calc.Close())
	}
	if l.engine, err = engineOf(l); err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger: %w", err), l.calc.Close())
	}
	return l, nil
}

// Schema is what makes the tables of an exercise.
type Schema struct {
	SQL string
	// Submitted says that a candidate wrote it: it runs under the rules.
	Submitted bool
}

// SchemaError says that a submitted schema does not work: a sentence for people.
type SchemaError struct{ Text string }

func (e *SchemaError) Error() string { return e.Text }

// PackError says that SQL of a pack does not work.
type PackError struct {
	What string // "schema.sql"
	Err  error
}

func (e *PackError) Error() string { return e.What + ": " + e.Err.Error() }

// Unwrap gives SQLite's error.
func (e *PackError) Unwrap() error { return e.Err }

// Prepare runs the schema and then the statements in an empty database and
// keeps the result as the start of every schedule. Tables of the schema are
// guarded: a submission can neither drop nor alter them. The error is a
// *SchemaError when a submitted schema is wrong, a *PackError when the pack's SQL
// is, otherwise ours.
func (l *Ledger) Prepare(ctx context.Context, schema Schema, setup []Statement) error {
	l.guard, l.columns = map[string]bool{}, map[string][]string{}
	l.seed(1)
	if err := l.closeConns(); err != nil {
		return err
	}
	if err := l.engine.clear(); err != nil {
		return fmt.Errorf("clear ledger: %w", err)
	}
	c, err := l.engine.own()
	if err != nil {
		return err
	}
	if err := l.createTables(ctx, c, schema); err != nil {
		return err
	}
	for _, s := range setup {
		if err := l.execPack(ctx, c, s.SQL, s.Args); err != nil && schema.Submitted {
			return &SchemaError{fmt.Sprintf("The harness cannot fill the tables with %q: %v.", Shorten(s.SQL, 100), err)}
		} else if err != nil {
			return &PackError{fmt.Sprintf("setup %q", Shorten(s.SQL, 100)), err}
		}
	}
	names, err := l.Query(ctx, `SELECT lower(name) FROM sqlite_master WHERE type IN ('table', 'view', 'trigger', 'index')`)
	if err != nil {
		return err
	}
	for _, row := range names.Rows {
		l.guard[fmt.Sprint(row[0])] = true
	}
	if err := l.closeConns(); err != nil {
		return err
	}
	var wrong *readcommitted.SchemaError
	switch err := l.engine.keep(ctx); {
	case errors.As(err, &wrong) && schema.Submitted:
		return &SchemaError{wrong.Text}
	case errors.As(err, &wrong):
		return &PackError{"schema.sql", wrong}
	case err != nil:
		return fmt.Errorf("keep the start of a schedule: %w", err)
	}
	return nil
}

func (l *Ledger) createTables(ctx context.Context, own driver.Conn, schema Schema) error {
	if !schema.Submitted {
		if err := l.execPack(ctx, own, schema.SQL, nil); err != nil {
			return &PackError{"schema.sql", err}
		}
		return nil
	}
	return l.engine.define(ctx, schema.SQL)
}

// Reset closes every connection and puts the database back to what Prepare left.
// seed is what random() draws from.
func (l *Ledger) Reset(seed uint64) error {
	if err := l.closeConns(); err != nil {
		return err
	}
	l.seed(seed)
	if err := l.engine.reset(context.Background()); err != nil {
		return fmt.Errorf("reset ledger: %w", err)
	}
	for table := range l.columns { // those of the exercise's tables cannot change
		if !l.guard[strings.ToLower(table)] {
			delete(l.columns, table)
		}
	}
	return nil
}

func (l *Ledger) seed(seed uint64) {
	l.rand = rand.New(rand.NewPCG(seed, 0x6c6564676572)) //nolint:gosec // a schedule's randomness must repeat
}

// Close closes every connection and removes the files.
func (l *Ledger) Close() error {
	return errors.Join(l.closeConns(), l.calc.Close(), l.engine.close())
}

func (l *Ledger) closeConns() error {
	return l.closeIf(func(connKey) bool { return true })
}

func (l *Ledger) closeIf(which func(connKey) bool) error {
	var errs []error
	for key, c := range l.conns {
		if which(key) {
			errs = append(errs, c.close())
			delete(l.conns, key)
		}
	}
	return errors.Join(errs...)
}

// Kill is the death of an instance's process: its connections close, open
// transactions roll back, their locks are free.
func (l *Ledger) Kill(instance string) error {
	if err := l.closeIf(func(key connKey) bool { return key.instance == instance }); err != nil {
		return fmt.Errorf("kill connections of %s: %w", instance, err)
	}
	return nil
}

// Conn returns the connection with that number of an instance, opened when
// needed. It returns ErrTooManyConns, or an error of ours.
func (l *Ledger) Conn(instance string, id uint64) (Conn, error) {
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
	c, err := l.engine.connect(instance)
	if err != nil {
		return nil, fmt.Errorf("open connection of %s: %w", instance, err)
	}
	l.conns[key] = c
	return c, nil
}

// CloseConn closes one connection, as the guest's pool does.
func (l *Ledger) CloseConn(instance string, id uint64) error {
	if err := l.closeIf(func(key connKey) bool { return key == connKey{instance, id} }); err != nil {
		return fmt.Errorf("close connection of %s: %w", instance, err)
	}
	return nil
}

// OpenTransactions says how many transactions an instance has open: a handler
// that returns with one has forgotten to commit or to roll back.
func (l *Ledger) OpenTransactions(instance string) int {
	n := 0
	for key, c := range l.conns {
		if key.instance == instance && c.open() {
			n++
		}
	}
	return n
}

// Holder names the instance whose transaction an instance's statement waits for;
// "" when it waits for none, or no longer. Only the model makes anybody wait.
func (l *Ledger) Holder(instance string) string {
	for key, c := range l.conns {
		if key.instance == instance {
			if holder := c.holder(); holder != "" {
				return holder
			}
		}
	}
	return ""
}

// ownStatement bounds the grader's own statements: only a submission that filled
// its tables, or a machine that stands still, gets near.
const ownStatement = time.Minute

// Query runs SQL on the grader's own connection, outside the rules. It sees what
// is committed.
func (l *Ledger) Query(ctx context.Context, query string, args ...driver.NamedValue) (Rowset, error) {
	c, err := l.engine.own()
	if err != nil {
		return Rowset{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, ownStatement)
	defer cancel()
	return l.read(ctx, c, query, args)
}

// QueryPack runs a query of a pack on the grader's own connection. It may read
// what is in the database and do nothing else.
func (l *Ledger) QueryPack(ctx context.Context, query string) (Rowset, error) {
	l.trust, l.refused = queryOfAPack, ""
	defer func() { l.trust = ourSQL }()
	rows, err := l.Query(ctx, query)
	if err != nil && l.refused != "" {
		return Rowset{}, fmt.Errorf("%w: %s", err, l.refused)
	}
	return rows, err
}

// execPack runs statements of a pack that make or fill tables.
func (l *Ledger) execPack(ctx context.Context, c driver.Conn, query string, args []driver.NamedValue) error {
	l.trust, l.refused = tablesOfAPack, ""
	defer func() { l.trust = ourSQL }()
	_, err := execRaw(ctx, c, query, args)
	if err != nil && l.refused != "" {
		return fmt.Errorf("%w: %s", err, l.refused)
	}
	return err
}

// Exec runs SQL on the grader's own connection: the tables of the harness.
func (l *Ledger) Exec(ctx context.Context, query string, args ...driver.NamedValue) error {
	c, err := l.engine.own()
	if err != nil {
		return err
	}
	_, err = execRaw(ctx, c, query, args)
	return err
}

// State is a hash of everything committed: schema and rows of every table in
// the order of their content, so that two histories that leave the same rows
// have the same state.
func (l *Ledger) State(ctx context.Context) ([32]byte, error) {
	tables, err := l.Query(ctx, `SELECT name, coalesce(sql, '') FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
	if err != nil {
		return [32]byte{}, err
	}
	h := sha256.New()
	for _, t := range tables.Rows {
		rows, err := l.Query(ctx, fmt.Sprintf("SELECT * FROM main.%s ORDER BY %s", quote(fmt.Sprint(t[0])), orderAll(len(l.columnsOf(fmt.Sprint(t[0]))))))
		if err != nil {
			return [32]byte{}, err
		}
		for _, text := range []string{fmt.Sprint(t[0]), fmt.Sprint(t[1]), formatRows(rows.Rows)} {
			h.Write(binary.AppendUvarint(nil, uint64(len(text))))
			h.Write([]byte(text))
		}
	}
	return [32]byte(h.Sum(nil)), nil
}
