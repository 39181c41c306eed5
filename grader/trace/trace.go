// Package trace turns what happened in a schedule into a timeline: steps with a
// lane, a text, the candidate's line and the rows that changed. It is plain data;
// web/views draws it, Text writes it for a terminal.
package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"

	"redeliver/grader/verdict"
)

// The events of a step, in the order of a life of a record.
const (
	Produce      = "produce"
	Restart      = "restart"
	Deliver      = "deliver"
	SQL          = "sql"
	Send         = "send" // the submission produces a record
	Redis        = "redis"
	Charge       = "gateway"
	Return       = "return"
	CommitOffset = "commit-offset"
	Fault        = "fault"
	Crash        = "crash"
	Limit        = "limit"
	Leak         = "leak"
	Check        = "check"
	Group        = "group"       // joined, assigned, left
	Wait         = "wait"        // a statement meets another transaction's lock
	Transaction  = "transaction" // a producer ends one
	Marker       = "marker"      // the broker ends one in a partition, or has it open
)

// Recorder collects the steps of one schedule.
type Recorder struct{ steps []verdict.Step }

// Add appends a step and numbers it.
func (r *Recorder) Add(s verdict.Step) {
	s.Step = len(r.steps) + 1
	if s.Rows == nil {
		s.Rows = []string{}
	}
	r.steps = append(r.steps, s)
}

// Last returns the step that was added last, to be completed; nil before the
// first.
func (r *Recorder) Last() *verdict.Step {
	if len(r.steps) == 0 {
		return nil
	}
	return &r.steps[len(r.steps)-1]
}

// Steps returns what was recorded.
func (r *Recorder) Steps() []verdict.Step { return r.steps }

// Hash is the hash of many traces in a fixed order.
type Hash struct{ h hash.Hash }

// NewHash starts with nothing.
func NewHash() *Hash { return &Hash{sha256.New()} }

// Add takes in the trace of one schedule; name is the schedule's text.
func (h *Hash) Add(name string, steps []verdict.Step) {
	fmt.Fprintf(h.h, "%q\n", name)
	// A step is plain data: strings, numbers, a bool. It always has JSON.
	_ = json.NewEncoder(h.h).Encode(steps)
}

// String is "sha256:" and hexadecimal digits.
func (h *Hash) String() string { return "sha256:" + hex.EncodeToString(h.h.Sum(nil)) }
