package sandbox

import (
	"sync"
	"time"
)

// starved is how many times its budget a guest may take in real time. Reached
// only on a machine that hardly runs the process at all.
const starved = 20

// minRecheck keeps the timer from going off all the time near the end.
const minRecheck = 5 * time.Millisecond

// budget counts down the guest's own computing time and calls expire once it is
// used up. It stands still while a host call is in progress: the host may park
// it for as long as other instances run, and that is no time of this guest.
//
// What counts is the processor time of the guest's thread, so a machine that is
// busy with other work makes no handler slow. The timer runs in real time: it
// only says when to look. Where the system does not tell a thread's processor
// time (see cputime_other.go), real time counts.
type budget struct {
	mu       sync.Mutex
	left     time.Duration // processor time
	patience time.Duration // real time
	cpuTime  func() time.Duration
	cpu      time.Duration // cpuTime at the start of the current stretch
	since    time.Time     // likewise
	running  bool
	spent    bool
	timer    *time.Timer
	expire   func()
}

// newBudget returns a budget that is not running yet. cpuTime tells the processor
// time of the guest's thread. expire is called from another goroutine.
func newBudget(d time.Duration, cpuTime func() time.Duration, expire func()) *budget {
	return &budget{left: d, patience: starved * d, cpuTime: cpuTime, expire: expire}
}

func (b *budget) resume() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running, b.since, b.cpu = true, time.Now(), b.cpuTime()
	if b.timer == nil {
		b.timer = time.AfterFunc(b.left, b.fire)
		return
	}
	b.timer.Reset(max(b.left, minRecheck))
}

func (b *budget) pause() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running = false
	b.left -= b.cpuTime() - b.cpu
	b.patience -= time.Since(b.since)
	b.timer.Stop()
}

// fire also runs for a timer that went off while it was being stopped, and for
// a guest that had to wait for a processor: both have budget left.
func (b *budget) fire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.running {
		return
	}
	left := b.left - (b.cpuTime() - b.cpu)
	if left > 0 && time.Since(b.since) < b.patience {
		b.timer.Reset(max(left, minRecheck))
		return
	}
	b.spent = true
	b.expire()
}

func (b *budget) exhausted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}
