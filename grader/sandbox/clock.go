package sandbox

import (
	"math"
	"sync/atomic"
	"time"
)

// Epoch is the time at which every clock starts: 14 November 2023, 22:13:20 UTC.
const Epoch = int64(1_700_000_000_000_000_000) // nanoseconds since 1970

// tick is how far one reading by a guest moves the clock, so that a loop that
// waits for a time ends. Go's scheduler reads the clock too, dozens of times per
// delivery: a larger tick would let short timeouts of a handler expire by
// themselves.
const tick = 100 * time.Microsecond

// Clock is virtual time: of one process, or of a whole schedule. A process's moves
// when its guest reads it, sleeps or yields, and both move when somebody says so;
// never by itself. It may be used from several goroutines.
type Clock struct {
	ns atomic.Int64
}

// NewClock returns a clock that stands at Epoch.
func NewClock() *Clock {
	c := new(Clock)
	c.ns.Store(Epoch)
	return c
}

// Now returns the time without moving the clock, in UTC.
func (c *Clock) Now() time.Time { return time.Unix(0, c.ns.Load()).UTC() }

// Set puts the clock to t, also backwards: for the start of a schedule or of a
// process, before its instance is restored.
func (c *Clock) Set(t time.Time) { c.ns.Store(t.UnixNano()) }

// Advance moves the clock forward by d and leaves it alone when d is negative.
// It stops at the last instant that 64 bits of nanoseconds can hold.
func (c *Clock) Advance(d time.Duration) { c.advance(int64(d)) }

func (c *Clock) advance(d int64) int64 {
	for {
		old := c.ns.Load()
		now := old + max(d, 0)
		if now < old {
			now = math.MaxInt64
		}
		if c.ns.CompareAndSwap(old, now) {
			return now
		}
	}
}

// read is a reading by a guest.
func (c *Clock) read() int64 { return c.advance(int64(tick)) }

// atLeast moves the clock to ns unless it is later already.
func (c *Clock) atLeast(ns int64) {
	for {
		old := c.ns.Load()
		if old >= ns || c.ns.CompareAndSwap(old, ns) {
			return
		}
	}
}
