package sandbox

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	t.Run("CountsOnlyWhatRuns", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			expired := time.Time{}
			b := newBudget(3*time.Second, func() { expired = time.Now() })
			start := time.Now()
			for range 2 { // runs 2 s, stands for 2 h
				b.resume()
				time.Sleep(time.Second)
				b.pause()
				time.Sleep(time.Hour)
			}
			if b.exhausted() {
				t.Fatal("spent while standing still")
			}
			b.resume()
			time.Sleep(2 * time.Second)
			if got := expired.Sub(start); !b.exhausted() || got != 2*time.Hour+3*time.Second {
				t.Errorf("expired after %s, want 2h0m3s", got)
			}
			b.pause()
		})
	})
}
