package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"redeliver/grader/sandbox"
)

// compile builds the guest in testdata; args are more flags for go build.
func compile(args ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "sandbox-guest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "guest.wasm")
	args = append([]string{"build", "-C", "testdata/guest", "-trimpath", "-buildmode=c-shared", "-o", file}, args...)
	cmd := exec.Command("go", append(args, "./main")...)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return os.ReadFile(file)
}

var guest = sync.OnceValues(func() ([]byte, error) { return compile() })

func guestModule(tb testing.TB) []byte {
	tb.Helper()
	wasm, err := guest()
	if err != nil {
		tb.Fatal(err)
	}
	return wasm
}

// patient is for tests that are not about time: a busy machine must not turn
// another stop into a Deadline.
var patient = sandbox.Options{InitTime: time.Minute, CallTime: time.Minute}

func load(tb testing.TB, wasm []byte, o sandbox.Options) *sandbox.Program {
	tb.Helper()
	p, err := sandbox.Load(context.Background(), wasm, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return p
}

// patientProgram is shared: loading takes a quarter of a second. It lives as
// long as the test binary.
var patientProgram = sync.OnceValues(func() (*sandbox.Program, error) {
	wasm, err := guest()
	if err != nil {
		return nil, err
	}
	return sandbox.Load(context.Background(), wasm, patient)
})

func sharedProgram(tb testing.TB) *sandbox.Program {
	tb.Helper()
	p, err := patientProgram()
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func snapshot(tb testing.TB, p *sandbox.Program, id sandbox.Identity) *sandbox.Snapshot {
	tb.Helper()
	s, stop, err := p.Snapshot(context.Background(), id)
	if err != nil || stop != nil {
		tb.Fatal("snapshot:", stop, err)
	}
	return s
}

// process is an instance with what its tests need.
type process struct {
	*sandbox.Instance
	clock    *sandbox.Clock
	snapshot *sandbox.Snapshot
}

// newProcess makes a restored process A of p.
func newProcess(tb testing.TB, p *sandbox.Program) *process {
	tb.Helper()
	clock := sandbox.NewClock()
	i, err := p.Instance(context.Background(), clock)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := i.Close(); err != nil {
			tb.Error(err)
		}
	})
	q := &process{i, clock, snapshot(tb, p, sandbox.Identity{Name: "A", Seed: 1})}
	q.restore(tb)
	return q
}

func (q *process) restore(tb testing.TB) {
	tb.Helper()
	q.clock.Set(sandbox.NewClock().Now())
	if err := q.Restore(q.snapshot); err != nil {
		tb.Fatal(err)
	}
}

// do lets the process perform a task of the guest.
func (q *process) do(tb testing.TB, task string) (sandbox.Stop, []string) {
	tb.Helper()
	h := &host{task: task}
	return q.Handle(context.Background(), h), h.notes
}

// fresh is do in a restored process, and must return.
func (q *process) fresh(tb testing.TB, task string) []string {
	tb.Helper()
	q.restore(tb)
	stop, notes := q.do(tb, task)
	if stop.Reason != sandbox.Returned {
		tb.Fatalf("%s: %+v", task, stop)
	}
	return notes
}

// The guest's operations.
const (
	opTask = 1
	opNote = 5
)

// host names a task and collects notes.
type host struct {
	task   string
	notes  []string
	reply  []byte
	onNote func(ctx context.Context, n int) (kill bool) // n counts from 1
}

func (h *host) Call(ctx context.Context, op uint32, in []byte) ([]byte, bool) {
	if op == opTask {
		return []byte(h.task), false
	}
	h.notes = append(h.notes, string(in))
	if h.onNote != nil && h.onNote(ctx, len(h.notes)) {
		return nil, true
	}
	return h.reply, false
}

// place returns "handler.go:12" and 12, the line of the guest that holds code.
func place(tb testing.TB, code string) (string, int) {
	tb.Helper()
	source, err := os.ReadFile("testdata/guest/handler/handler.go")
	if err != nil {
		tb.Fatal(err)
	}
	before, _, ok := strings.Cut(string(source), code)
	if !ok {
		tb.Fatalf("the guest has no %q", code)
	}
	line := strings.Count(before, "\n") + 1
	return fmt.Sprintf("handler.go:%d", line), line
}
