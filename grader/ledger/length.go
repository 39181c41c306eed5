package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// limitLength bounds the texts and blobs that a connection can make. SQLite's own
// bound is a gigabyte, and it lies in the memory of the server: printf makes one
// in a statement of 40 characters.
func limitLength(raw driver.Conn, bytes int) (err error) {
	db := sql.OpenDB(lender{raw}) // the driver sets limits only through database/sql
	defer func() { err = errors.Join(err, db.Close()) }()
	c, err := db.Conn(context.Background())
	if err != nil {
		return fmt.Errorf("limit the length of texts: %w", err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if _, err := sqlite.Limit(c, sqlite3.SQLITE_LIMIT_LENGTH, bytes); err != nil {
		return fmt.Errorf("limit the length of texts: %w", err)
	}
	return nil
}

// lender is a driver.Connector that lends a connection which is open.
type lender struct{ raw driver.Conn }

// Connect lends it.
func (l lender) Connect(context.Context) (driver.Conn, error) { return lent{l.raw}, nil }

// Driver is asked for by nobody.
func (lender) Driver() driver.Driver { return new(sqlite.Driver) }

type lent struct{ driver.Conn }

// Close leaves the connection to its owner.
func (lent) Close() error { return nil }

// Unwrap shows the driver its own connection.
func (l lent) Unwrap() driver.Conn { return l.Conn }
