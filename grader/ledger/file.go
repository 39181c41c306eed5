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
//
// To open a connection takes longer than what a schedule does with it, so they
// stay open from one schedule to the next: a connection that its process has left
// is put back to the state of a new one (pool.go), and the rows that a schedule has
// changed are put back with SQL (start.go). After a schedule that has changed the
// schema everything is closed and the file written anew.
type file struct {
	l      *Ledger
	dir    string
	path   string
	image  []byte       // of the start of a schedule
	tables startTables  // in image
	grader *remembering // ours; nil until asked for
	// attached says that grader sees the copy of the start.
	attached bool
	idle     []*fileConn // as good as new

	// What the schedule has done to the database.
	dirty   map[string]bool // tables that it wrote, as Access names them
	changed bool            // the schema is, or may be, another one
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
	return &file{l: l, dir: dir, path: filepath.Join(dir, "schedule.db"), dirty: map[string]bool{}}, nil
}

func (f *file) own() (driver.Conn, error) {
	if f.grader != nil {
		return f.grader, nil
	}
	raw, err := new(sqlite.Driver).Open(f.dsn())
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	if err := limitLength(raw, f.l.limits.Bytes); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	c := remember(raw)
	c.whose = func() trust { return f.l.trust }
	f.grader = c
	rules, ok := raw.(sqlite.AuthorizerRegisterer)
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
	f.image, f.tables = nil, startTables{}
	return f.write()
}

func (f *file) keep(ctx context.Context) (err error) {
	if err := f.closePool(); err != nil {
		return err
	}
	c, err := f.own()
	if err != nil {
		return err
	}
	if f.tables, err = readStart(ctx, f.l); err != nil {
		return err
	}
	if _, err := execRaw(ctx, c, "PRAGMA wal_checkpoint(TRUNCATE)", nil); err != nil {
		return err
	}
	if err := f.closeOwn(); err != nil {
		return err
	}
	if f.image, err = os.ReadFile(f.path); err != nil {
		return err
	}
	return f.tables.save(f.startPath(), f.image)
}

// maxLog is how large the log may become before the file is written anew: nothing
// else makes it shorter.
const maxLog = 4 << 20

func (f *file) reset(ctx context.Context) error {
	wal, err := os.Stat(f.path + "-wal")
	if f.changed || !f.tables.simple || !f.known() || err != nil || wal.Size() > maxLog {
		return f.write()
	}
	if len(f.dirty) == 0 {
		return nil
	}
	if err := f.putBack(ctx); err != nil {
		return fmt.Errorf("put the tables back: %w", err)
	}
	clear(f.dirty)
	return nil
}

// write makes the file what image says. It closes every connection.
func (f *file) write() error {
	if err := errors.Join(f.closePool(), f.closeOwn()); err != nil {
		return err
	}
	clear(f.dirty)
	f.changed = false
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(f.path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.WriteFile(f.path, f.image, 0o600)
}

func (f *file) close() error {
	return errors.Join(f.closePool(), f.closeOwn(), os.RemoveAll(f.dir))
}

func (f *file) closeOwn() error {
	if f.grader == nil {
		return nil
	}
	c := f.grader
	f.grader, f.attached = nil, false
	return c.Close()
}

// dsn sets what a connection needs. WAL is what a careful service uses and lets
// a reader see the last commit while a writer is open; max_page_count keeps the
// file below 16 MiB.
func (f *file) dsn() string {
	q := url.Values{"_pragma": {
		"journal_mode(WAL)", "busy_timeout(0)", "synchronous(OFF)", fmt.Sprintf("max_page_count(%d)", maxPages), "wal_autocheckpoint(0)",
		"temp_store(FILE)", // what is sorted may be larger than the memory; small tables stay in the cache
	}}
	return (&url.URL{Scheme: "file", Path: f.path, RawQuery: q.Encode()}).String()
}

// maxPages of 4 KiB are as large as a database may become.
const maxPages = 4096
