package store

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Backup writes the database as it is at one moment into a new file, while
// others read and write it. The copy is compact and needs no -wal file. It exists
// for SQLite; PostgreSQL has pg_dump.
func (s *Store) Backup(ctx context.Context, path string) error {
	if s.Dialect != SQLite {
		return errors.New("back up: only a SQLite database is one file")
	}
	// SQLite would accept an empty file. The mode is set before anything is in it:
	// the copy holds what people wrote.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	if err := s.vacuumInto(ctx, path); err != nil {
		return fmt.Errorf("back up: %w", errors.Join(err, os.Remove(path)))
	}
	return nil
}

// vacuumInto has a connection of its own: those of Read refuse the statement,
// although it changes nothing in their database.
func (s *Store) vacuumInto(ctx context.Context, path string) (err error) {
	pool, err := sqlitePool(s.URL, 1, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	_, err = pool.ExecContext(ctx, "VACUUM INTO ?", path)
	return err
}
