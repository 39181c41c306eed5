package sandbox

import (
	"sync"
	"time"
)

// budget counts down the guest's own running time and calls expire once it is
// used up. It stands still while a host call is in progress: the host may park
// it for as long as other instances run, and that is no time of this guest.
type budget struct {
	mu      sync.Mutex
	left    time.Duration
	since   time.Time // start of the current stretch
	running bool
	spent   bool
	timer   *time.Timer
	expire  func()
}

// newBudget returns a budget that is not running yet. expire is called from
// another goroutine.
func newBudget(d time.Duration, expire func()) *budget {
	return &budget{left: d, expire: expire}
}

func (b *budget) resume() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running, b.since = true, time.Now()
	if b.timer == nil {
		b.timer = time.AfterFunc(b.left, b.fire)
		return
	}
	b.timer.Reset(max(b.left, 0))
}

func (b *budget) pause() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running = false
	b.left -= time.Since(b.since)
	b.timer.Stop()
}

// fire also runs for a timer that went off while it was being stopped; the
// comparison tells that apart from a budget that is used up.
func (b *budget) fire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running && time.Since(b.since) >= b.left {
		b.spent = true
		b.expire()
	}
}

func (b *budget) exhausted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}
