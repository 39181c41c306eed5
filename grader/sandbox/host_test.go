package sandbox_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redeliver/grader/guest/abi"
	"redeliver/grader/sandbox"
)

func TestKill(t *testing.T) {
	t.Parallel()
	q := newProcess(t, sharedProgram(t))
	h := &host{task: "deferred", onNote: func(_ context.Context, n int) bool { return n == 1 }}
	stop := q.Handle(context.Background(), h)
	if stop.Reason != sandbox.Killed || stop.Text != "The process was killed." {
		t.Errorf("stop is %+v", stop)
	}
	if !slices.Equal(h.notes, []string{"first"}) {
		t.Errorf("notes are %q: a deferred function ran in a killed process", h.notes)
	}
	if got := q.fresh(t, "deferred"); !slices.Equal(got, []string{"first", "deferred"}) {
		t.Errorf("after a restore the notes are %q", got)
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	t.Run("ForgetsVariables", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		for _, want := range []string{"1", "2", "3"} {
			if _, notes := q.do(t, "count"); notes[0] != want {
				t.Fatalf("counted %q, want %s", notes, want)
			}
		}
		if got := q.fresh(t, "count"); got[0] != "1" {
			t.Errorf("after a restore the count is %q", got)
		}
	})
	t.Run("ReplacesGrownMemory", func(t *testing.T) {
		t.Parallel()
		// Room for the program and one growth of 16 MiB, not for two.
		o := patient
		o.MemoryPages = 480
		q := newProcess(t, load(t, guestModule(t), o))
		for range 5 {
			q.fresh(t, "grow")
		}
	})
	t.Run("IsDueBeforeACall", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		q.do(t, "exit-3")
		stop, _ := q.do(t, "return")
		if stop.Reason != sandbox.Broken || stop.Detail != "called an instance that was not restored" {
			t.Errorf("stop is %+v", stop)
		}
	})
	t.Run("RefusesAnotherProgram", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		other := snapshot(t, load(t, guestModule(t), patient), sandbox.Identity{Name: "A"})
		if err := q.Restore(other); err == nil {
			t.Error("a snapshot of another program was restored")
		}
	})
	t.Run("StartsTheCountOfCalls", func(t *testing.T) {
		t.Parallel()
		o := patient
		o.HostCalls = 4 // the task and three notes
		p := load(t, guestModule(t), o)
		q := newProcess(t, p)
		for range 3 {
			if stop, _ := q.do(t, "notes"); stop.Ended() {
				t.Fatalf("stop is %+v", stop)
			}
		}
		q.do(t, "leak")
		stop := q.Drain(context.Background(), &host{})
		if stop.Ended() {
			t.Errorf("one call and two in the drain: %+v", stop)
		}
		if n := p.MostCalls(); n != 4 {
			t.Errorf("at most %d calls in one delivery, want 4", n)
		}
	})
}

func TestReply(t *testing.T) {
	t.Parallel()
	t.Run("ThatDoesNotFitIsKept", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		h := &host{task: "long-reply", reply: []byte("0123456789")}
		stop := q.Handle(context.Background(), h)
		// Size for a buffer of four, size again, then the whole.
		if want := []string{"", "10 10 10 0123456789"}; stop.Ended() || !slices.Equal(h.notes, want) {
			t.Errorf("stop %+v, notes %q, want %q", stop, h.notes, want)
		}
	})
	t.Run("ThatIsTooLargeIsOurFault", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		h := &host{task: "return", reply: bytes.Repeat([]byte("x"), abi.MaxReply+1)}
		stop := q.Handle(context.Background(), h)
		if stop.Reason != sandbox.Broken || stop.Detail != "the reply to operation 5 has 4194305 bytes" {
			t.Errorf("stop is %+v", stop)
		}
	})
	t.Run("ThatPanicsIsOurFault", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		h := &host{task: "return", onNote: func(context.Context, int) bool { panic("a bug of the host") }}
		stop := q.Handle(context.Background(), h)
		if stop.Reason != sandbox.Broken || !strings.Contains(stop.Detail, "a bug of the host") {
			t.Errorf("stop is %+v", stop)
		}
		q.fresh(t, "return")
	})
}

// TestParkedHost parks for an hour of the bubble's time, which is real time as
// far as the sandbox can see; the guest itself runs for none of it.
func TestParkedHost(t *testing.T) {
	p := load(t, guestModule(t), sandbox.Options{CallTime: time.Second, InitTime: time.Minute})
	s := snapshot(t, p, sandbox.Identity{Name: "A"})
	synctest.Test(t, func(t *testing.T) {
		i, err := p.Instance(t.Context(), sandbox.NewClock())
		if err != nil {
			t.Fatal(err)
		}
		if err := i.Restore(s); err != nil {
			t.Fatal(err)
		}
		h := &host{task: "notes", onNote: func(context.Context, int) bool {
			time.Sleep(time.Hour)
			return false
		}}
		if stop := i.Handle(t.Context(), h); stop.Ended() || len(h.notes) != 3 {
			t.Errorf("stop %+v, notes %q", stop, h.notes)
		}
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	want := "The grading was stopped before the submission had ended."
	t.Run("WhileParked", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		ctx, cancel := context.WithCancel(context.Background())
		h := &host{task: "calls", onNote: func(ctx context.Context, n int) bool {
			cancel()
			<-ctx.Done()
			return false
		}}
		if stop := q.Handle(ctx, h); stop.Reason != sandbox.Canceled || stop.Text != want {
			t.Errorf("stop is %+v", stop)
		}
		q.fresh(t, "return")
	})
	t.Run("BeforeTheCall", func(t *testing.T) {
		t.Parallel()
		q := newProcess(t, sharedProgram(t))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if stop := q.Handle(ctx, &host{task: "return"}); stop.Reason != sandbox.Canceled || stop.Text != want {
			t.Errorf("stop is %+v", stop)
		}
		q.fresh(t, "return")
	})
	t.Run("BeforeASnapshot", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, stop, err := sharedProgram(t).Snapshot(ctx, sandbox.Identity{Name: "A"})
		if stop != nil || err == nil {
			t.Errorf("stop %+v, error %v", stop, err)
		}
	})
}
