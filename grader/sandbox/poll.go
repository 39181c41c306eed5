package sandbox

import (
	"encoding/binary"
	"math"
)

// Layout of poll_oneoff's memory, in bytes.
const (
	subscriptionSize = 48
	eventSize        = 32
	// maxSubscriptions is far above what Go asks for: one clock and the open
	// files, of which there are none.
	maxSubscriptions = 1024
)

const (
	pollClock      = 0
	pollAbsolute   = 1 // flag of a clock: the time is an instant
	pollFdRead     = 1
	pollFdWrite    = 2
	clockTimeoutAt = 24 // offsets within a subscription
	clockFlagsAt   = 40
)

// pollOneoff is how Go sleeps. The virtual clock jumps to the earliest time that
// is waited for, so a sleep of a day costs nothing. A file that is waited for
// does not exist, which is an event at once.
func pollOneoff(i *Instance, a args) errno {
	n := a.u32(2)
	if n == 0 || n > maxSubscriptions {
		return errnoInval
	}
	in, ok := i.memory().Read(a.u32(0), n*subscriptionSize)
	if !ok {
		return errnoFault
	}
	events, bad := pollFiles(in)
	if bad {
		return errnoInval
	}
	if len(events) == 0 {
		events = i.sleep(in)
	}
	if !i.memory().Write(a.u32(1), events) {
		return errnoFault
	}
	return i.write32(a.u32(3), uint32(len(events)/eventSize))
}

// pollFiles returns an event with EBADF for each file that is waited for.
func pollFiles(in []byte) (events []byte, bad bool) {
	for ; len(in) > 0; in = in[subscriptionSize:] {
		switch in[8] {
		case pollClock:
		case pollFdRead, pollFdWrite:
			events = append(events, pollEvent(in, errnoBadf)...)
		default:
			return nil, true
		}
	}
	return events, false
}

// sleep moves the clock to the earliest of the times that are waited for and
// returns the events of those that have come.
func (i *Instance) sleep(in []byte) (events []byte) {
	now := i.clock.read()
	earliest := int64(math.MaxInt64)
	for s := in; len(s) > 0; s = s[subscriptionSize:] {
		earliest = min(earliest, clockWait(s, now))
	}
	i.clock.advance(earliest)
	for s := in; len(s) > 0; s = s[subscriptionSize:] {
		if clockWait(s, now) <= earliest {
			events = append(events, pollEvent(s, errnoSuccess)...)
		}
	}
	return events
}

// clockWait is how long a subscription waits from now, in nanoseconds.
func clockWait(s []byte, now int64) int64 {
	t := int64(min(binary.LittleEndian.Uint64(s[clockTimeoutAt:]), math.MaxInt64))
	if binary.LittleEndian.Uint16(s[clockFlagsAt:])&pollAbsolute != 0 {
		t -= now
	}
	return max(t, 0)
}

func pollEvent(subscription []byte, e errno) []byte {
	event := make([]byte, eventSize)
	copy(event, subscription[:8]) // the guest's own mark
	binary.LittleEndian.PutUint16(event[8:], uint16(e))
	event[10] = subscription[8]
	return event
}
