// Package abi is the binary encoding between a submission (the guest) and the
// grader (the host). There is one import,
//
//	redeliver.call(op, inPtr, inLen, outPtr, outCap uint32) (outLen uint32)
//
// and what goes through it is uvarints, length-prefixed strings and one tag
// byte per value. No JSON: in an interpreter it would cost more than everything
// else a handler does. When outLen exceeds outCap the host has kept the reply
// and the guest asks for it with OpMore and a larger buffer.
//
// Host and guest are compiled from the same sources, so there is no version in
// the encoding. The host treats the guest's bytes as hostile: every method of
// Reader reports a short or malformed buffer through Err and never panics.
package abi

// Operations. SQL operations and OpCommit… are effects: each is a point at
// which the host may schedule another instance, crash this one, or answer with
// an error. OpRecord, OpReturn, OpPrepare and OpMore are not.
const (
	OpRecord   = 1 // –                           → record
	OpReturn   = 2 // text of the error, "" nil   → –
	OpMore     = 3 // –                           → the reply that did not fit
	OpPrepare  = 4 // position, sql               → error
	OpExec     = 5 // position, sql, args         → error, rows affected, last insert id
	OpQuery    = 6 // position, sql, args         → error, columns, rows
	OpBegin    = 7 // position, read-only         → error
	OpCommit   = 8 // position                    → error
	OpRollback = 9 // position                    → error
)

// Limits that the host enforces; the guest's sources know them only to give
// an early and clear error.
const (
	MaxRequest = 1 << 20 // bytes of one request
	MaxReply   = 4 << 20 // bytes of one reply
)
