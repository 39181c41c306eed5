package sandbox_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"redeliver/grader/sandbox"
)

// TestNoDoor shows what a handler finds when it looks for the machine.
func TestNoDoor(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"read-file":  "open /etc/passwd: Bad file number",
		"write-file": "open x: Bad file number",
		"mkdir":      "mkdir /tmp/x: Bad file number",
		"dial":       "dial tcp 127.0.0.1:80: address 127.0.0.1:80: connect: Connection refused",
		"stdin":      "0 <nil>",
		"env":        "[handler] [] wasip1 <nil>",
	} {
		t.Run(task, func(t *testing.T) {
			t.Parallel()
			if got := newProcess(t, sharedProgram(t)).fresh(t, task); !slices.Equal(got, []string{want}) {
				t.Errorf("noted %q, want %q", got, want)
			}
		})
	}
}

func TestVirtualTime(t *testing.T) {
	t.Parallel()
	epoch := sandbox.NewClock().Now()
	for _, tt := range []struct {
		task, note string
		least      time.Duration
	}{
		{"sleep-day", "24h0m0s", 24 * time.Hour},
		{"timeout", "after", time.Hour},
		{"sleep-max", "awake", 200 * 365 * 24 * time.Hour},
	} {
		t.Run(tt.task, func(t *testing.T) {
			t.Parallel()
			q := newProcess(t, sharedProgram(t))
			if got := q.fresh(t, tt.task); !slices.Equal(got, []string{tt.note}) {
				t.Errorf("noted %q, want %q", got, tt.note)
			}
			if d := q.clock.Now().Sub(epoch); d < tt.least {
				t.Errorf("the clock moved by %s, want %s or more", d, tt.least)
			}
		})
	}
	t.Run("IsShared", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		other, err := sharedProgram(t).Instance(context.Background(), q.clock)
		if err != nil {
			t.Fatal(err)
		}
		q.do(t, "sleep-day")
		if err := other.Restore(q.snapshot); err != nil {
			t.Fatal(err)
		}
		h := &host{task: "clock"}
		other.Handle(context.Background(), h)
		if want := "2023-11-15T22:13:20."; len(h.notes) != 1 || !strings.HasPrefix(h.notes[0], want) {
			t.Errorf("the other process reads %q, want %s…", h.notes, want)
		}
	})
	t.Run("DoesNotRunBackwardsForAProcess", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		q.clock.Set(epoch.Add(-time.Hour))
		if err := q.Restore(q.snapshot); err != nil {
			t.Fatal(err)
		}
		if now := q.clock.Now(); now.Before(epoch) {
			t.Errorf("after a restore it is %s", now)
		}
	})
}

func TestClock(t *testing.T) {
	t.Parallel()
	c := sandbox.NewClock()
	epoch := c.Now()
	c.Advance(time.Minute)
	c.Advance(-time.Hour)
	if d := c.Now().Sub(epoch); d != time.Minute {
		t.Errorf("the clock moved by %s, want a minute", d)
	}
	c.Advance(1<<63 - 1)
	last := c.Now()
	c.Advance(time.Hour)
	if !c.Now().Equal(last) || last.Year() != 2262 {
		t.Errorf("the end of time is %s, then %s", last, c.Now())
	}
	c.Set(epoch)
	if !c.Now().Equal(epoch) {
		t.Error("the clock cannot be set back")
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	draw := func(id sandbox.Identity) string {
		q := newProcess(t, sharedProgram(t))
		q.snapshot = snapshot(t, sharedProgram(t), id)
		first := strings.Join(q.fresh(t, "random"), "")
		if again := strings.Join(q.fresh(t, "random"), ""); first != again {
			t.Errorf("%v draws %s, and after a restore %s", id, first, again)
		}
		return first
	}
	a := draw(sandbox.Identity{Name: "A", Seed: 1})
	if again := draw(sandbox.Identity{Name: "A", Seed: 1}); a != again {
		t.Errorf("equal identities draw %s and %s", a, again)
	}
	for _, id := range []sandbox.Identity{{Name: "B", Seed: 1}, {Name: "A", Seed: 2}} {
		other := draw(id)
		for k, part := range strings.Fields(other) { // crypto/rand, math/rand
			if part == strings.Fields(a)[k] {
				t.Errorf("%v draws %s, A draws %s", id, other, a)
			}
		}
	}
}

// neverRestored performs a task in a process A that was started and not restored.
func neverRestored(t *testing.T, task string) []string {
	t.Helper()
	i, stop, err := sharedProgram(t).Start(context.Background(), sandbox.NewClock(), sandbox.Identity{Name: "A", Seed: 1})
	if err != nil || stop.Ended() {
		t.Fatal(stop, err)
	}
	h := &host{task: task}
	if stop := i.Handle(context.Background(), h); stop.Ended() {
		t.Fatal(stop)
	}
	return h.notes
}

// TestTrace compares a process that was never restored with one that was, after
// everything that it may have gone through before, in what can differ between
// runs: maps, select, goroutines, random numbers, time.
func TestTrace(t *testing.T) {
	t.Parallel()
	q := newProcess(t, sharedProgram(t))
	want := neverRestored(t, "trace")
	if len(want) < 60 {
		t.Fatalf("the trace has %d notes", len(want))
	}
	for _, before := range []string{"return", "panic", "recursion", "exit-3", "memory", "grow", "leak", "flood-once", "sleep-day", "calls", "wild-in"} {
		q.restore(t)
		q.do(t, before)
		if got := q.fresh(t, "trace"); !slices.Equal(got, want) {
			t.Errorf("after %s the trace differs:\n%q\n%q", before, got, want)
		}
	}
}

func TestSnapshotHoldsTheGlobalsOfGo(t *testing.T) {
	t.Parallel()
	s := snapshot(t, sharedProgram(t), sandbox.Identity{Name: "A"})
	if n := s.Globals(); n != 8 {
		t.Errorf("%d globals, want the 8 of Go's runtime", n)
	}
}

func TestProgramServesGoroutines(t *testing.T) {
	t.Parallel()
	traces := make([][]string, 4)
	processes := make([]*process, len(traces))
	for k := range processes {
		processes[k] = newProcess(t, sharedProgram(t))
	}
	var wg sync.WaitGroup
	for k, q := range processes {
		wg.Go(func() {
			for range 3 {
				traces[k] = q.fresh(t, "trace")
			}
		})
	}
	wg.Wait()
	for k := range traces {
		if !slices.Equal(traces[k], traces[0]) {
			t.Errorf("process %d: %q, process 0: %q", k, traces[k], traces[0])
		}
	}
}
