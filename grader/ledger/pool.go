package ledger

import (
	"context"
	"errors"
	"strings"
)

// connect gives an instance a new connection, or one that is as good as new.
func (f *file) connect(string) (Conn, error) {
	if last := len(f.idle) - 1; last >= 0 {
		c := f.idle[last]
		f.idle = f.idle[:last]
		return c, nil
	}
	raw, err := f.l.driver.Open(f.dsn())
	if err != nil {
		return nil, err
	}
	if err := limitLength(raw, f.l.limits.Bytes); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	c := &fileConn{l: f.l, file: f, raw: remember(raw)}
	c.raw.notes = &c.rules
	if _, err := execRaw(context.Background(), raw, "CREATE TEMP TABLE "+rowIDs+" (x)", nil); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	if err := c.guard(); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return c, nil
}

// takeBack keeps a connection whose process is gone for another one, or closes it.
func (f *file) takeBack(c *fileConn) error {
	if c.spoilt {
		return c.raw.Close()
	}
	if err := c.renew(); err != nil {
		return errors.Join(err, c.raw.Close())
	}
	f.idle = append(f.idle, c)
	return nil
}

func (f *file) closePool() error {
	var errs []error
	for _, c := range f.idle {
		errs = append(errs, c.raw.Close())
	}
	f.idle = nil
	return errors.Join(errs...)
}

// rowIDs is a temporary table whose only use is that a row is inserted with the
// number 0 and deleted: SQLite has no other way to forget last_insert_rowid() and
// changes(), which are part of what a driver answers. total_changes() cannot be
// put back and is refused (rules.go).
const rowIDs = "redeliver_row_ids"

// renew gives the connection the state of a new one: no transaction, which a
// process that died has left, nothing inserted, nothing changed.
func (c *fileConn) renew() error {
	if c.begun {
		if err := c.ours("ROLLBACK"); err != nil && !strings.Contains(err.Error(), "no transaction is active") {
			return err
		}
	}
	for _, text := range []string{
		"INSERT INTO temp." + rowIDs + " (rowid) VALUES (0)", "DELETE FROM temp." + rowIDs, "DELETE FROM temp." + rowIDs,
	} {
		if err := c.ours(text); err != nil {
			return err
		}
	}
	c.tx, c.session, c.begun = nil, session{}, false
	return nil
}

// ours executes a statement that is no call of a process.
func (c *fileConn) ours(text string) error {
	c.forget()
	defer c.forget()
	_, err := execRaw(context.Background(), c.raw, text, nil)
	return err
}
