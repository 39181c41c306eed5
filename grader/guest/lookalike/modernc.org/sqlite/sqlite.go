// Package sqlite stands in for modernc.org/sqlite in a submission: the error
// type of its driver, for handlers that look at the kind of an SQL error. The
// database is handed to the handler, so there is no driver to open.
package sqlite

import "redeliver/grader/guest/sqlite"

// Error is an error of SQLite: its Code is the extended result code.
type Error = sqlite.Error
