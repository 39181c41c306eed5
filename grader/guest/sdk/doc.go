// Package sdk is the part of a submission's program that is ours: it hands
// records to the candidate's functions and offers database/sql over host calls.
// It is compiled for wasip1 only; nothing of the server imports it.
//
// # What the driver does not imitate
//
// It behaves as modernc.org/sqlite does, error texts included, except that
//
//   - the rows of a query arrive whole, in the reply to the query: a writer
//     that comes between two calls of Rows.Next changes nothing in them, an
//     unfinished Rows holds no lock, and a result over abi.MaxReply is refused;
//   - a prepared statement is checked when it is prepared and sent as text with
//     each execution;
//   - a statement is over at the instant in which it began: a context does not
//     end in the middle of one;
//   - a connection is opened when it is first used, and there are at most
//     abi.MaxConns of them;
//   - driver-specific methods, reached through sql.Conn.Raw, are missing.
package sdk
