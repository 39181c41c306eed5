// Package sqlite3 has SQLite's result codes with the names and values of
// modernc.org/sqlite/lib, for handlers that compare the code of an SQL error.
// The database itself runs outside the sandbox.
package sqlite3
