// Package store is the only door to the application's own database. SQLite and
// PostgreSQL share one schema and one set of generated queries.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // registers "pgx"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	_ "modernc.org/sqlite" // registers "sqlite"

	"redeliver/web/store/db"
)

//go:embed migrations
var migrations embed.FS

// ErrNotFound says that a row is not there, or is not the asker's.
var ErrNotFound = errors.New("not found")

// Dialect names the database behind a Store.
type Dialect string

// The supported databases.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// The sizes of the pools. SQLite lets one connection write at a time: with one
// in the pool, writers queue in this process instead of meeting SQLITE_BUSY.
const (
	sqliteWriters = 1
	sqliteReaders = 4
	postgresConns = 10
)

// Store holds the connection pools; on PostgreSQL both are the same one.
type Store struct {
	Dialect Dialect
	// URL is what Open was given; the job engine opens its listener with it.
	URL string
	// Write has a single connection on SQLite: whoever holds a transaction and
	// asks this pool again waits for ever. Nil after OpenToRead.
	Write *sql.DB
	Read  *sql.DB
}

// Open connects to a postgres:// URL, or else to the SQLite file with that path,
// which it creates.
func Open(ctx context.Context, pathOrURL string) (*Store, error) {
	open := openSQLite
	if strings.HasPrefix(pathOrURL, "postgres://") || strings.HasPrefix(pathOrURL, "postgresql://") {
		open = openPostgres
	}
	s, err := open(ctx, pathOrURL)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := s.Ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), s.Close())
	}
	return s, nil
}

func openPostgres(_ context.Context, address string) (*Store, error) {
	pool, err := sql.Open("pgx", address)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(postgresConns)
	return &Store{Dialect: Postgres, URL: address, Write: pool, Read: pool}, nil
}

func openSQLite(ctx context.Context, path string) (*Store, error) {
	write, err := sqlitePool(path, sqliteWriters, false)
	if err != nil {
		return nil, err
	}
	// A connection that may only query cannot create the file or turn it to WAL.
	if err := write.PingContext(ctx); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read, err := sqlitePool(path, sqliteReaders, true)
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	return &Store{Dialect: SQLite, URL: path, Write: write, Read: read}, nil
}

// sqlitePool puts the settings into the address: a PRAGMA sent through a pool
// reaches one of its connections. The driver checks the values of these keys
// and passes over keys that it does not know, so they are spelt once, here.
func sqlitePool(path string, conns int, queryOnly bool) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	settings := url.Values{
		"_txlock":       {"immediate"},
		"_journal_mode": {"WAL"},
		"_busy_timeout": {"5000"},
		"_synchronous":  {"NORMAL"},
		"_foreign_keys": {"1"},
	}
	if queryOnly {
		settings.Set("_query_only", "1")
	}
	address := url.URL{Scheme: "file", Path: abs, RawQuery: settings.Encode()}
	pool, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(conns)
	return pool, nil
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.Read.PingContext(ctx) }

// Close closes both pools and reports every error.
func (s *Store) Close() error {
	if s.Write == nil || s.Read == s.Write {
		return s.Read.Close()
	}
	return errors.Join(s.Read.Close(), s.Write.Close())
}

// Migrate brings our tables up to date and then calls after, for the tables of
// a library that shares the database. Servers that start together on PostgreSQL
// take turns.
func (s *Store) Migrate(ctx context.Context, after func(context.Context) error) (err error) {
	files, err := fs.Sub(migrations, "migrations/"+string(s.Dialect))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	dialect := goose.DialectSQLite3
	if s.Dialect == Postgres {
		dialect = goose.DialectPostgres
		unlock, lockErr := s.lockMigrations(ctx)
		if lockErr != nil {
			return fmt.Errorf("migrate: %w", lockErr)
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	provider, err := goose.NewProvider(dialect, s.Write, files)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return after(ctx)
}

// lockMigrations takes goose's advisory lock by hand, because it has to cover
// what after does too. The holder is asked for every second, not every five.
func (s *Store) lockMigrations(ctx context.Context) (unlock func() error, err error) {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	conn, err := s.Write.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := locker.SessionLock(ctx, conn); err != nil {
		return nil, errors.Join(fmt.Errorf("lock: %w", err), conn.Close())
	}
	return func() error {
		return errors.Join(locker.SessionUnlock(context.WithoutCancel(ctx), conn), conn.Close())
	}, nil
}

// txKey is where a context has the transaction that Once has begun.
type txKey struct{}

// reading are queries that see what has been written under ctx.
func (s *Store) reading(ctx context.Context) *db.Queries {
	if tx, ok := ctx.Value(txKey{}).(*sql.Tx); ok {
		return db.New(tx)
	}
	return db.New(s.Read)
}

// writing are queries that may write, each for itself or in the transaction of ctx.
func (s *Store) writing(ctx context.Context) *db.Queries {
	if tx, ok := ctx.Value(txKey{}).(*sql.Tx); ok {
		return db.New(tx)
	}
	return db.New(s.Write)
}

// InTx runs fn in one writing transaction, or in that of ctx, which Once has begun:
// what fn has done then counts when all that is done under Once has. Inside it use
// only tx and q.
func (s *Store) InTx(ctx context.Context, fn func(tx *sql.Tx, q *db.Queries) error) error {
	if tx, ok := ctx.Value(txKey{}).(*sql.Tx); ok {
		return fn(tx, db.New(tx))
	}
	tx, err := s.Write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after Commit
	if err := fn(tx, db.New(tx)); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// orNotFound turns "no rows" into ErrNotFound and names the operation.
func orNotFound(operation string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return fmt.Errorf("%s: %w", operation, err)
}
