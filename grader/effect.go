package grader

import (
	"context"
	"errors"
	"fmt"
	"io"

	"redeliver/grader/guest/abi"
	"redeliver/grader/invariant"
	"redeliver/grader/ledger"
)

// effect is one call of a guest to a system outside of its process, read once.
// Faults, crashes and orders are the scheduler's and know no more of the system
// than this. A new system needs, beside its operations in package abi:
//
//   - a type that is an effect, and its case in readEffect;
//   - a service, when it has a state of its own, in newWorld;
//   - an event of package trace.
type effect interface {
	// position is the candidate's line.
	position() abi.Position
	// event is the kind of its step in the timeline, text what the step says.
	event() string
	text() string
	// noun names it inside a sentence: "UPDATE accounts".
	noun() string
	// perform does it for the instance. What the system refuses is an outcome. An
	// error is one of noAnswer's, with the access all the same, or ours.
	perform(ctx context.Context, w *world, instance string) (outcome, error)
	// fault is an answer that the schedule made up: an error as the system's
	// client gives it. what says whether the effect took place.
	fault(what string) outcome
	// abandon does what an effect leaves behind that fails and did nothing: a
	// COMMIT that fails ends its transaction.
	abandon(w *world, instance string) error
}

// service is a system outside of the processes, beside the database: what it
// holds outlives a process and not a schedule.
type service interface {
	// reset brings it to the start of a schedule over a set of records.
	reset(ctx context.Context, set *recordSet) error
	// kill ends what a process that died had under way.
	kill(instance string) error
	// state writes what is durable: equal writes, equal futures.
	state(ctx context.Context, w io.Writer) error
	// tables are those of the harness that show it to invariants, by name.
	tables(ctx context.Context) (map[string]invariant.Table, error)
}

// outcome is what performing an effect gave.
type outcome struct {
	reply   []byte
	result  string   // "1 row", "error: …": the end of the step's text
	changes []string // row differences
	refused string   // what the ledger's rules refused
	// access says for the search which other effects this one's order matters
	// to; names begin with the system's, "topic:…". A durable effect can lose its
	// answer.
	access ledger.Access
	busy   bool // SQLite answered SQLITE_BUSY
	fault  bool // the answer is one that the schedule made up
}

var errMalformed = errors.New("malformed request")

// readEffect reads a request, whose bytes are the submission's and thus hostile.
func readEffect(q request) (effect, error) {
	switch q.op {
	case abi.OpExec, abi.OpQuery, abi.OpBegin, abi.OpCommit, abi.OpRollback:
		return readSQL(q)
	case abi.OpProduce:
		return readProduce(q)
	case abi.OpRedis:
		return readRedis(q)
	case abi.OpCharge:
		return readCharge(q)
	case abi.OpKafka:
		return readKafka(q)
	default:
		return nil, fmt.Errorf("%w: there is no operation %d", errMalformed, q.op)
	}
}

// label names an effect and its line inside a sentence: "UPDATE accounts
// (handler.go:31)".
func label(e effect) string {
	if at := e.position(); at.Line > 0 {
		return fmt.Sprintf("%s (%s:%d)", e.noun(), at.File, at.Line)
	}
	return e.noun()
}
