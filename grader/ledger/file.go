package ledger

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// file is a SQLite file in a folder of its own.
type file struct {
	l      *Ledger
	dir    string
	path   string
	image  []byte      // of the start of a schedule
	grader driver.Conn // ours; nil until asked for
}

func newFile(l *Ledger, parent string) (*file, error) {
	parent, err := filepath.Abs(parent) // the address of a database file has no relative form
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, "ledger-")
	if err != nil {
		return nil, err
	}
	return &file{l: l, dir: dir, path: filepath.Join(dir, "schedule.db")}, nil
}

func (f *file) connect(string) (Conn, error) {
	raw, err := f.l.driver.Open(f.dsn())
	if err != nil {
		return nil, err
	}
	c := &fileConn{l: f.l, raw: raw}
	if err := c.guard(); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return c, nil
}

func (f *file) own() (driver.Conn, error) {
	if f.grader != nil {
		return f.grader, nil
	}
	c, err := new(sqlite.Driver).Open(f.dsn())
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	f.grader = c
	rules, ok := c.(sqlite.AuthorizerRegisterer)
	if !ok {
		return nil, errNoAuthoriser
	}
	if err := rules.RegisterAuthorizer(f.l.authoriseOwn); err != nil {
		return nil, fmt.Errorf("install the rules: %w", err)
	}
	return c, nil
}

func (f *file) define(ctx context.Context, sql string) error {
	c, err := f.l.Conn("schema", 0)
	if err != nil {
		return err
	}
	if _, err := c.Exec(ctx, sql, nil); err != nil && ctx.Err() == nil {
		return &SchemaError{strings.TrimSpace(fmt.Sprintf("%v. %s", err, c.Refused()))}
	}
	return ctx.Err()
}

func (f *file) clear() error {
	f.image = nil
	return f.reset(context.Background())
}

func (f *file) keep(ctx context.Context) error {
	c, err := f.own()
	if err != nil {
		return err
	}
	if _, err := execRaw(ctx, c, "PRAGMA wal_checkpoint(TRUNCATE)", nil); err != nil {
		return err
	}
	if err := f.closeOwn(); err != nil {
		return err
	}
	f.image, err = os.ReadFile(f.path)
	return err
}

func (f *file) reset(context.Context) error {
	if err := f.closeOwn(); err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(f.path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.WriteFile(f.path, f.image, 0o600)
}

func (f *file) close() error {
	return errors.Join(f.closeOwn(), os.RemoveAll(f.dir))
}

func (f *file) closeOwn() error {
	if f.grader == nil {
		return nil
	}
	c := f.grader
	f.grader = nil
	return c.Close()
}

// dsn sets what a connection needs. WAL is what a careful service uses and lets
// a reader see the last commit while a writer is open; max_page_count keeps the
// file below 16 MiB.
func (f *file) dsn() string {
	q := url.Values{"_pragma": {
		"journal_mode(WAL)", "busy_timeout(0)", "synchronous(OFF)", fmt.Sprintf("max_page_count(%d)", maxPages), "wal_autocheckpoint(0)",
	}}
	return (&url.URL{Scheme: "file", Path: f.path, RawQuery: q.Encode()}).String()
}

// maxPages of 4 KiB are as large as a database may become.
const maxPages = 4096
