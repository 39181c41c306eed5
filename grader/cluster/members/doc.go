// Package members plays scenarios of a consumer group with real clients: two
// franz-go members, A and B, of one group on a kfake cluster of their own, in
// virtual time. A member's network goes through a gate that can freeze it, cut
// it, or lose an answer. Instead of a program of a candidate it drives a Handle,
// which says before which of its effects it stands.
//
// A scenario is a script: one step after the other, each waiting for what it
// has caused (a partition assigned, a commit answered). Callbacks of the clients
// come from goroutines of theirs; the script takes them from a queue where it
// expects them, so the story has one order, the same each time. What it does not
// expect is an error of ours, never a story.
//
// Protocol: classic groups only; under KIP-848 the same scenario takes 45 or 50 s.
// The records are in one topic with one partition, whatever partition they name:
// which of several partitions a client reads first is random.
//
// What is not imitated: max.poll.interval.ms. franz-go has none, so a member that
// is too slow is removed from the group by an administrator's LeaveGroup instead,
// to the same effect.
package members

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Handle processes one delivery. It runs in a goroutine of its own, in the
// bubble: it may sleep (virtual time) and it calls d.Effect before each of its
// effects. When Effect or Blocked returns an error, it has to return that error
// at once: its process is gone. Any other error means that the handler refused:
// nothing is committed, the instance stops, and the record comes again.
type Handle func(ctx context.Context, d *Delivery) error

// ErrCrashed is what Effect returns in a process that the scenario ends there.
// A Handle that returns it by itself says that its process died.
var ErrCrashed = errors.New("the process ended")

// ErrNobody is what Blocked returns when no other delivery is on its way.
var ErrNobody = errors.New("no other instance is processing")

// Options say how a scenario is played.
type Options struct {
	// At is the effect, from 1, before which A stops in its first delivery. When
	// the handler has fewer, or At is 0, A stops after the last one, before its
	// offset commit.
	At int
	// MaxDeliveries ends a story as stuck when the handler refuses a record that
	// was delivered that often. Zero means 5.
	MaxDeliveries int
	// Limit is the real time that the whole may take. Zero means 30 s.
	Limit time.Duration
}

func (o Options) withDefaults() Options {
	if o.MaxDeliveries == 0 {
		o.MaxDeliveries = 5
	}
	if o.Limit == 0 {
		o.Limit = 30 * time.Second
	}
	return o
}

// Records is what the group reads, in this order, as offsets 0, 1, 2, and so on.
// They are produced to one partition of the story's own broker. A handler sees the
// topic and partition that they have here, and the broker's offset.
type Records []*kgo.Record
