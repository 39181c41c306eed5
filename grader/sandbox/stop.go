package sandbox

import (
	"fmt"
	"time"

	"redeliver/grader/verdict"
)

// Reason says how a call into a guest ended.
type Reason string

// The reasons. Panic to Protocol are the submission's doing, Killed the
// schedule's; Canceled and Broken are ours, and no verdict may rest on them.
const (
	Returned  Reason = "returned"
	Killed    Reason = "killed"     // the host answered a call with kill
	Panic     Reason = "panic"      // a panic or another fatal error of Go's runtime
	Exit      Reason = "exit"       // os.Exit
	Deadline  Reason = "deadline"   // computing time
	Memory    Reason = "memory"     // Options.MemoryPages
	Recursion Reason = "recursion"  // call stack
	Deadlock  Reason = "deadlock"   // all goroutines asleep
	Output    Reason = "output"     // Options.OutputBytes
	HostCalls Reason = "host-calls" // Options.HostCalls
	Trap      Reason = "trap"       // WebAssembly stopped the program
	Protocol  Reason = "protocol"   // a malformed host call
	Canceled  Reason = "canceled"   // the context of the call ended
	Broken    Reason = "broken"     // a fault of ours
)

// Kind returns the kind of finding that a reason is, and false for those that
// are none.
func (r Reason) Kind() (verdict.Kind, bool) {
	switch r {
	case Panic, Exit, Recursion, Trap, Protocol:
		return verdict.Crash, true
	case Deadline, Deadlock, HostCalls:
		return verdict.Timeout, true
	case Memory:
		return verdict.Memory, true
	case Output:
		return verdict.Output, true
	default:
		return "", false
	}
}

// Ours says that the reason is no one's doing but ours: the run must be
// repeated or the verdict is inconclusive.
func (r Reason) Ours() bool { return r == Canceled || r == Broken }

// Stop is how a call into a guest ended. The zero value is not one.
type Stop struct {
	Reason Reason
	// Text is one sentence for people; empty for Returned.
	Text string
	// File and Line are the candidate's place, when it is known: the base name
	// of a file of package redeliver/handler, and a line from 1.
	File string
	Line int
	// Detail is for those who look closer: the report of Go's runtime, a stack
	// of WebAssembly functions, or the error behind Broken. It may be empty.
	Detail string
}

// Ended says that the process cannot be called again before a Restore.
func (s Stop) Ended() bool { return s.Reason != Returned }

// signal is what a host function panics with to end the guest on the spot: no
// deferred function runs. wazero unwinds its stack and returns it, wrapped; the
// instance stays usable for a Restore.
type signal struct {
	reason Reason
	code   uint32 // Exit: the status
	text   string // Output: the stream; Protocol, Broken: what was wrong
}

func (s *signal) Error() string { return fmt.Sprintf("%s: %s", s.reason, s.text) }

// phase is the part of a process's life in which a call happens.
type phase int

const (
	initialising phase = iota
	handling
	draining
)

// subject begins a sentence about what the guest did.
func (p phase) subject() string {
	switch p {
	case initialising:
		return "The package initialisation"
	case draining:
		return "A goroutine that the handler left running"
	default:
		return "The handler"
	}
}

func deadlineText(p phase, limit time.Duration) string {
	switch p {
	case initialising:
		return fmt.Sprintf("The package initialisation did not end within %s of computing time.", seconds(limit))
	case draining:
		return fmt.Sprintf("A goroutine that the handler left running computed for more than %s.", seconds(limit))
	default:
		return fmt.Sprintf("The handler did not return within %s of computing time.", seconds(limit))
	}
}

func hostCallsText(p phase, limit int) string {
	if p == draining {
		return fmt.Sprintf("The handler and the goroutines that it left running made more than %d calls to the database and to Kafka in one delivery.", limit)
	}
	return fmt.Sprintf("%s made more than %d calls to the database and to Kafka in one delivery.", p.subject(), limit)
}

func seconds(d time.Duration) string {
	return fmt.Sprintf("%g s", d.Seconds())
}

// size prints bytes in the largest binary unit that divides them.
func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
