package sandbox_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"redeliver/grader/sandbox"
)

// TestNothingRemains does not run in parallel: it counts what the whole process
// holds. A goroutine that outlives the bubble fails it by itself.
func TestNothingRemains(t *testing.T) {
	wasm := guestModule(t)
	before := heap()
	synctest.Test(t, func(t *testing.T) { exhaust(t, wasm) })
	if after := heap(); after > before+16<<20 {
		t.Errorf("%d MiB remain", (after-before)>>20)
	}
}

// exhaust restores 500 times, after every kind of end: returned, killed in the
// host, exited, grown, canceled.
func exhaust(t *testing.T, wasm []byte) {
	ctx := t.Context()
	p, err := sandbox.Load(ctx, wasm, sandbox.Options{InitTime: time.Hour, CallTime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := p.Snapshot(ctx, sandbox.Identity{Name: "A"})
	if err != nil {
		t.Fatal(err)
	}
	i, err := p.Instance(ctx, sandbox.NewClock())
	if err != nil {
		t.Fatal(err)
	}
	var start uint64
	for k := range 500 {
		if k == 5 { // the whole program is loaded, for the functions that some of the ends need
			start = heap()
		}
		if err := i.Restore(s); err != nil {
			t.Fatal(err)
		}
		endSomehow(ctx, i, k)
		if k%100 == 99 && heap() > start+64<<20 {
			t.Fatalf("after %d processes, one at a time, %d MiB are held", k+1, (heap()-start)>>20)
		}
	}
	if err := p.Close(ctx); err != nil {
		t.Error(err)
	}
}

func endSomehow(ctx context.Context, i *sandbox.Instance, k int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	switch k % 5 {
	case 0:
		i.Handle(ctx, &host{task: "return"})
		i.Drain(ctx, &host{})
	case 1:
		i.Handle(ctx, &host{task: "return", onNote: func(context.Context, int) bool { return true }})
	case 2:
		i.Handle(ctx, &host{task: "exit-3"})
	case 3:
		i.Handle(ctx, &host{task: "grow-a-little"})
	case 4:
		i.Handle(ctx, &host{task: "calls", onNote: func(context.Context, int) bool { cancel(); return false }})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what a finalizer of the first round held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
