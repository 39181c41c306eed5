package sandbox

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		share int // of the processor that the guest's thread gets: one in share
		want  time.Duration
	}{
		{"CountsOnlyWhatRuns", 1, 2*time.Hour + 3*time.Second},
		{"WaitsForAProcessor", 4, 2*time.Hour + 12*time.Second},
		{"GivesUpWhenStarved", 1000, 2*time.Hour + 60*time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				expired := make(chan time.Time, 1)
				var ran time.Duration // real time of the stretches that have ended
				resumed := start
				b := newBudget(3*time.Second, func() time.Duration { return (ran + time.Since(resumed)) / time.Duration(tc.share) },
					func() { expired <- time.Now() })
				for range 2 { // runs 2 s, stands for 2 h
					resumed = time.Now()
					b.resume()
					time.Sleep(time.Second)
					b.pause()
					ran += time.Second
					time.Sleep(time.Hour)
				}
				if b.exhausted() {
					t.Fatal("spent while standing still")
				}
				resumed = time.Now()
				b.resume()
				got := (<-expired).Sub(start)
				if over := got - tc.want; over < 0 || over > 2*time.Second {
					t.Errorf("expired after %s, want %s", got, tc.want)
				}
				b.pause()
			})
		})
	}
}

// A thread that computes uses processor time, and one that waits does not.
func TestThreadTime(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	th := currentThread()
	if th.cpuTime() <= 0 {
		t.Error("the thread has used no processor time")
	}
}
