package readcommitted

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Error is what PostgreSQL has and SQLite has not. It looks like an error of
// modernc.org/sqlite: a code and a text.
type Error struct {
	State string // SQLSTATE
	Text  string
	code  int
}

// Error is the text with the SQLSTATE.
func (e *Error) Error() string { return fmt.Sprintf("%s (SQLSTATE %s)", e.Text, e.State) }

// Code is the result code of SQLite that comes nearest.
func (e *Error) Code() int { return e.code }

// The errors that the model makes. An aborted transaction is SQLITE_ABORT_ROLLBACK
// in SQLite's words, a deadlock SQLITE_BUSY: the transaction may be tried again.
var (
	ErrAborted = &Error{
		"25P02", "current transaction is aborted, commands ignored until end of transaction block", sqlite3.SQLITE_ABORT_ROLLBACK,
	}
	// ErrCommitAborted answers a COMMIT of an aborted transaction. PostgreSQL
	// answers with ROLLBACK, which drivers turn into an error.
	ErrCommitAborted = &Error{"25P02", "commit unexpectedly resulted in rollback", sqlite3.SQLITE_ABORT_ROLLBACK}
	ErrDeadlock      = &Error{"40P01", "deadlock detected", sqlite3.SQLITE_BUSY}
	errInTransaction = &Error{"25001", "cannot start a transaction within a transaction", sqlite3.SQLITE_ERROR}
	errNoTransaction = &Error{"25P01", "no transaction is active", sqlite3.SQLITE_ERROR}
	errReadOnly      = &Error{"25006", "cannot write in a read-only transaction", sqlite3.SQLITE_READONLY}
)

// unsupported answers what the model has not: always the same way, so that
// nobody gets out of a verdict by asking for it.
func unsupported(what string) *Error {
	return &Error{"0A000", what + " is not available in the model of READ COMMITTED", sqlite3.SQLITE_ERROR}
}

// Waiting is no answer: the statement has to be tried again when For has ended
// its transaction, or aborted. See Session.Blocked.
type Waiting struct { //nolint:errname // what a caller does, not what went wrong
	For *Session
	Key string // what it waits for, for people: "processed_events(event_id 'e-1')"
}

func (w *Waiting) Error() string { return "waits for " + w.Key }

// BrokenError says that the model itself failed: a mistake of ours.
type BrokenError struct{ Err error }

func (e *BrokenError) Error() string { return "the model of READ COMMITTED failed: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *BrokenError) Unwrap() error { return e.Err }

// broken wraps what is neither an answer nor outside the model.
func broken(err error) error {
	var outside *Outside
	if err == nil || errors.As(err, &outside) {
		return err
	}
	return &BrokenError{err}
}

// Outside says that the model cannot tell what PostgreSQL would do. It is no
// answer either: whatever this belongs to proves nothing.
type Outside struct{ Reason string } //nolint:errname // a bound of the model, not a mistake

func (o *Outside) Error() string { return "outside the model: " + o.Reason }

// SchemaError says what of a schema the model cannot have: a sentence for people.
type SchemaError struct{ Text string }

func (e *SchemaError) Error() string { return e.Text }

// isUnique says that a row with the same key is there.
func isUnique(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || e.Code() == sqlite3.SQLITE_CONSTRAINT_ROWID)
}
