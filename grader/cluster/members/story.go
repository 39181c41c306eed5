package members

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"redeliver/grader/cluster/bubble"
)

// Kind says what happened.
type Kind string

// What happens in a story. The comments name the fields that an event of the
// kind has besides At and Instance.
const (
	Joined         Kind = "joined"          // the instance starts and asks to join
	Assigned       Kind = "assigned"        // Generation, Offset: where it starts to read
	Revoked        Kind = "revoked"         // a rebalance took the partition
	Delivered      Kind = "delivered"       // Offset, Attempt
	Paused         Kind = "paused"          // Offset, Attempt, Effect: 0 is before the commit
	Frozen         Kind = "frozen"          // its heartbeats stop
	Resumed        Kind = "resumed"         // Offset, Attempt
	Waits          Kind = "waits"           // Offset, Attempt: for a lock of the paused one
	Returned       Kind = "returned"        // Offset, Attempt, Err: the handler's error
	Evicted        Kind = "evicted"         // the coordinator removed it
	SessionEnded   Kind = "session ended"   // no heartbeat for the session timeout
	CommitAccepted Kind = "commit accepted" // Offset: the next to read, Before: likewise until now
	CommitRefused  Kind = "commit refused"  // Offset: the next to read, Err: the broker's code
	CommitUnknown  Kind = "commit unknown"  // Offset: stored, but the answer got lost
	Crashed        Kind = "crashed"         // its process ends without leaving the group
	Left           Kind = "left"            // it leaves the group
	Stopped        Kind = "stopped"         // its process ends; it was no member any more
)

// lost is what a client tells that finds out that it is no member any more. No
// script plans it.
const lost Kind = "lost"

// Event is one line of a story.
type Event struct {
	At         time.Duration // since the start; 0 in real time
	Instance   string
	Kind       Kind
	Offset     int64
	Before     int64
	Attempt    int
	Effect     int
	Generation int32
	Err        string
}

// Story is what happened in a scenario. It is the same each time for a handler
// that behaves the same. No member id, port or other random value is in it.
type Story struct {
	Scenario   string
	Events     []Event
	Deliveries []int // per offset
	Generation int32 // the group's, when the last instance was assigned
	// Injected is false when the handler returned an error before A could be
	// stopped: nothing was injected then and nothing is proved.
	Injected bool
	// Stuck is true when a record was refused MaxDeliveries times. Otherwise all
	// records are committed at the end.
	Stuck bool
}

// String is the story as text, an event per line, times in seconds. They are left
// out in real time, where they differ.
func (s Story) String() string {
	var b strings.Builder
	for _, e := range s.Events {
		if !bubble.Real {
			fmt.Fprintf(&b, "%7.1fs  ", e.At.Seconds())
		}
		fmt.Fprintf(&b, "%s %s\n", e.Instance, e.text())
	}
	fmt.Fprintf(&b, "deliveries per offset %v, generation %d\n", s.Deliveries, s.Generation)
	return b.String()
}

func (e Event) text() string {
	switch e.Kind {
	case Joined:
		return "asks to join the group"
	case Assigned:
		return fmt.Sprintf("is assigned the partition, generation %d, reads from offset %d", e.Generation, e.Offset)
	case Revoked:
		return "gives the partition up in a rebalance"
	case Delivered:
		return fmt.Sprintf("gets offset %d, attempt %d", e.Offset, e.Attempt)
	case Paused:
		if e.Effect == 0 {
			return "pauses before its offset commit"
		}
		return fmt.Sprintf("pauses before effect %d", e.Effect)
	case Frozen:
		return "stops sending heartbeats"
	case Resumed:
		return fmt.Sprintf("goes on with offset %d, attempt %d", e.Offset, e.Attempt)
	case Waits:
		return fmt.Sprintf("waits for a lock at offset %d, attempt %d", e.Offset, e.Attempt)
	case Returned:
		if e.Err != "" {
			return fmt.Sprintf("refuses offset %d, attempt %d: %s", e.Offset, e.Attempt, e.Err)
		}
		return fmt.Sprintf("has processed offset %d, attempt %d", e.Offset, e.Attempt)
	case Evicted:
		return "is removed from the group"
	case SessionEnded:
		return "is removed from the group: its session has ended"
	case CommitAccepted:
		return fmt.Sprintf("commits offset %d: accepted, it was %d", e.Offset, e.Before)
	case CommitRefused:
		return fmt.Sprintf("commits offset %d: %s", e.Offset, e.Err)
	case CommitUnknown:
		return fmt.Sprintf("commits offset %d: stored, but the answer is lost", e.Offset)
	case Crashed:
		return "crashes"
	case Left:
		return "leaves the group"
	case Stopped:
		return "stops, as it is no member any more"
	default:
		return string(e.Kind)
	}
}

// teller collects the events. Handlers tell some of them, so it has a lock.
type teller struct {
	mu     sync.Mutex
	start  time.Time
	events []Event
}

func (t *teller) tell(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !bubble.Real {
		e.At = time.Since(t.start)
	}
	t.events = append(t.events, e)
}
