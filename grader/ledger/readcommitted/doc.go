// Package readcommitted is a model of PostgreSQL's READ COMMITTED isolation,
// executed by SQLite's SQL engine.
//
// One SQLite connection holds what is committed. A transaction is a list of row
// changes beside it. A statement is executed on the newest committed rows with
// the transaction's own changes on top, its changes are read from SQLite's
// pre-update hook, and everything is rolled back again: what remains is the
// longer list. The rows that it changed and the values of their unique keys are
// locks. When another open transaction holds one of them, the statement waits
// (*Waiting) and is tried again when that transaction has ended. COMMIT applies
// the list.
//
// What it takes from PostgreSQL, with the scenarios of testdata/scenarios.txtar
// and random programs as proof: a snapshot for each statement, not for the
// transaction; row locks of UPDATE, DELETE and SELECT … FOR UPDATE; inserts that
// wait for an uncommitted row with the same key, and for a row that is being
// changed or deleted; after a wait, UPDATE, DELETE and FOR UPDATE look at the
// newest version of the rows that they had found before, while an INSERT keeps
// the rows that it had decided on; an error aborts the transaction, which frees
// its locks at once, answers 25P02 until ROLLBACK, and answers COMMIT with a
// rollback; who closes a circle of waits gets 40P01; generated ids come from
// counters outside of transactions.
//
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
//
// What it does not imitate. The dialect, the types and the texts of errors are
// SQLite's. Foreign keys are not enforced, as in SQLite's default. There are no
// savepoints, no REPEATABLE READ and no SERIALIZABLE, no DDL inside a schedule,
// no triggers and no generated columns: such a statement is answered with an
// error (0A000), such a schema is refused. What PostgreSQL would answer cannot
// be told for some statements that waited: those with a sub-select, and some
// that meet a row under another identity. They end with *Outside, and nothing
// may be concluded from a schedule in which that happened.
package readcommitted
