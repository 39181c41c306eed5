package sandbox_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"redeliver/grader/sandbox"
)

// TestColdFunctions leaves functions out of what is loaded, also half of those that are
// called all the time: what a program does must be the same to the last byte of memory.
func TestColdFunctions(t *testing.T) {
	t.Parallel()
	wasm := guestModule(t)
	names, err := sandbox.FunctionNames(wasm)
	if err != nil {
		t.Fatal(err)
	}
	half, n := map[string]bool{}, 0
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if n++; n%2 == 0 {
			half[name] = true
		}
	}
	all := load(t, wasm, patient.WithCold(map[string]bool{}))
	if len(all.Cold()) > 0 {
		t.Fatal("something is left out though nothing is cold")
	}
	for name, cold := range map[string]map[string]bool{"Default": nil, "Half": half} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			some := load(t, wasm, patient.WithCold(cold))
			if len(some.Cold()) < 500 {
				t.Errorf("only %d functions are left out", len(some.Cold()))
			}
			want, got := newProcess(t, all), newProcess(t, some)
			for _, task := range []string{
				"return", "notes", "deferred", "random", "clock", "sleep-day", "timeout", "grow", "deadlock", "exit-3", "concurrent-map",
				"panic-error", "panic-nested", "panic-nil", "panic-goroutine", "recovered", "print", "dial", "wild-in", "count",
			} {
				want.restore(t)
				got.restore(t)
				wantStop, wantNotes := want.do(t, task)
				stop, notes := got.do(t, task)
				wantStop.Detail, stop.Detail = "", "" // has addresses of WebAssembly functions
				if stop != wantStop || !slices.Equal(notes, wantNotes) {
					t.Errorf("%s: %+v %q, want %+v %q", task, stop, notes, wantStop, wantNotes)
				}
				if !got.State().Same(want.State()) {
					t.Errorf("%s: the memory is another", task)
				}
			}
			if name != "Default" && !some.Whole() {
				t.Error("no function that was left out was called")
			}
		})
	}
}

// TestForgedColdCall is a guest that makes the call itself, for whatever function.
func TestForgedColdCall(t *testing.T) {
	t.Parallel()
	names, err := sandbox.FunctionNames(guestModule(t))
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { return !strings.Contains(name, "CmpFunc") })
	p := load(t, guestModule(t), patient.WithCold(names))
	q := newProcess(t, p)
	forge := func(task string, index uint32) sandbox.Stop {
		q.restore(t)
		return q.Handle(t.Context(), &host{task: task, reply: []byte(strconv.FormatUint(uint64(index), 10))})
	}
	if len(p.Cold()) == 0 {
		t.Fatal("nothing is cold")
	}
	for _, index := range []uint32{0, 1, 1 << 20} {
		const want = "The handler made a call that does not exist."
		if stop := forge("forge", index); stop.Reason != sandbox.Protocol || stop.Text != want {
			t.Errorf("function %d: %+v", index, stop)
		}
	}
	for _, index := range p.Cold() {
		if stop := forge("forge", index); stop.Reason.Ours() {
			t.Errorf("function %d: %+v", index, stop)
		}
		// From a function that is cold itself: a second time, which would not end.
		if stop := forge("forge-again", index); stop.Reason != sandbox.Protocol {
			t.Errorf("function %d, from a cold one: %+v", index, stop)
		}
	}
	q.fresh(t, "notes")
}

// BenchmarkColdCall is a loop of a thousand calls of a small function, one that is
// loaded and one that is not.
func BenchmarkColdCall(b *testing.B) {
	wasm := guestModule(b)
	for name, cold := range map[string]map[string]bool{"loaded": {}, "cold": {"redeliver_handler.leaf": true}} {
		b.Run(name, func(b *testing.B) {
			p := load(b, wasm, patient.WithCold(cold))
			if len(p.Cold()) != len(cold) {
				b.Fatal("the guest has no function leaf")
			}
			q := newProcess(b, p)
			for b.Loop() {
				q.do(b, "leaves")
			}
		})
	}
}
