package sandbox

import (
	"runtime"
	"testing"
	"time"
)

// A budget is used up by the processor time of its own stretches, or, on a
// machine that does not run the guest at all, by twenty times that in real time.
func TestBudget(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		share time.Duration // of the processor that the guest's thread gets: one in share
		looks int           // of a second each, after two seconds of running
	}{
		{"CountsOnlyWhatRuns", 1, 1},
		{"WaitsForAProcessor", 4, 10},
		{"GivesUpWhenStarved", 1000, 60},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var cpu time.Duration
			expired := 0
			thread := func() time.Duration { return cpu }
			b := newBudget(3*time.Second, func() { expired++ })
			b.look(time.Hour) // it does not run yet
			for range 2 {
				b.resume(thread)
				cpu += time.Second / tc.share
				b.pause()
				cpu += time.Hour // of somebody else: the host's call
				b.look(time.Hour)
			}
			b.resume(thread)
			looks := 0
			for expired == 0 && looks < 1000 {
				cpu += time.Second / tc.share
				b.look(time.Second)
				looks++
			}
			b.look(time.Second)
			if looks != tc.looks || expired != 1 || !b.exhausted() {
				t.Errorf("expired %d times after %d looks, want once after %d", expired, looks, tc.looks)
			}
			b.pause()
		})
	}
}

// A thread that computes uses processor time.
func TestThreadTime(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	th := currentThread()
	before, n := th.cpuTime(), 0
	for th.cpuTime() == before {
		n++
	}
	if th.cpuTime() < before {
		t.Error("the thread's time runs backwards")
	}
}

func TestWatchdog(t *testing.T) {
	t.Parallel()
	w := newWatchdog()
	defer w.close()
	ended := make(chan struct{})
	b := newBudget(0, func() { close(ended) })
	w.watch(b)
	b.resume(func() time.Duration { return 0 })
	<-ended
	w.forget(b)
	w.close()
}
