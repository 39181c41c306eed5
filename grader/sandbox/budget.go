package sandbox

import (
	"sync"
	"time"
)

// starved is how many times its budget a guest may take in real time. Reached
// only on a machine that hardly runs the process at all.
const starved = 20

// lookOut is how often the watchdog looks at the running guests.
const lookOut = 20 * time.Millisecond

// budget counts down the guest's own computing time. It stands still while a host
// call is in progress: the host may park it for as long as other instances run,
// and that is no time of this guest.
//
// What counts is the processor time of the thread that the guest computes on, so a
// machine that is busy with other work makes no handler slow. Where the system does
// not tell a thread's processor time (see cputime_other.go), real time counts.
type budget struct {
	mu       sync.Mutex
	left     time.Duration        // processor time
	patience time.Duration        // real time
	cpuTime  func() time.Duration // of the thread of the current stretch
	cpu      time.Duration        // cpuTime at the stretch's start
	running  bool
	spent    bool
	expire   func()
}

// newBudget returns a budget that is not running yet. expire is called from the
// watchdog's goroutine.
func newBudget(d time.Duration, expire func()) *budget {
	return &budget{left: d, patience: starved * d, expire: expire}
}

// resume begins a stretch. cpuTime tells the processor time of its thread, which
// must stay the same until pause.
func (b *budget) resume(cpuTime func() time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running, b.cpuTime, b.cpu = true, cpuTime, cpuTime()
}

// pause ends the stretch and returns how long it was, in processor time.
func (b *budget) pause() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.running {
		return 0
	}
	b.running = false
	stretch := b.cpuTime() - b.cpu
	b.left -= stretch
	return stretch
}

// look ends the guest when its budget is used up; since is the real time that
// has passed since the last look.
func (b *budget) look(since time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.running || b.spent {
		return
	}
	b.patience -= since
	if b.left > b.cpuTime()-b.cpu && b.patience > 0 {
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

// watchdog looks at the budgets of the guests of a program that are in a call. It
// is one goroutine, started when the program is loaded: a guest may run inside a
// bubble of testing/synctest, whose clock stands still while it computes, so no
// timer that is made there could ever end a guest that loops.
type watchdog struct {
	mu      sync.Mutex
	budgets map[*budget]struct{}
	stop    chan struct{}
	stopped chan struct{}
}

func newWatchdog() *watchdog {
	w := &watchdog{budgets: map[*budget]struct{}{}, stop: make(chan struct{}), stopped: make(chan struct{})}
	go w.run()
	return w
}

func (w *watchdog) run() {
	defer close(w.stopped)
	tick := time.NewTicker(lookOut)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.mu.Lock()
			for b := range w.budgets {
				b.look(lookOut)
			}
			w.mu.Unlock()
		case <-w.stop:
			return
		}
	}
}

func (w *watchdog) watch(b *budget) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.budgets[b] = struct{}{}
}

func (w *watchdog) forget(b *budget) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.budgets, b)
}

// close ends the goroutine and waits for it. A second call does nothing.
func (w *watchdog) close() {
	w.mu.Lock()
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
	w.mu.Unlock()
	<-w.stopped
}
