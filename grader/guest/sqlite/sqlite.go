// Package sqlite has the error type that the driver in the sandbox returns. A
// submission knows it as modernc.org/sqlite.Error, which is an alias: the type
// lives here because that package must not export how to make one.
package sqlite

// Error is an error of SQLite.
type Error struct {
	text string
	code int
}

// New returns the error with an extended result code and the text that the
// real driver gives it.
func New(code int, text string) *Error { return &Error{text, code} }

// Error returns the text of the real driver: "constraint failed: UNIQUE
// constraint failed: t.id (1555)".
func (e *Error) Error() string { return e.text }

// Code returns SQLite's extended result code.
func (e *Error) Code() int { return e.code }
