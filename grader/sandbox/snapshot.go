package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// Identity is one process of a schedule: what makes its randomness its own.
// Equal identities get equal snapshots.
type Identity struct {
	Name string // "A"; after a crash "A2"
	Seed int64  // of the grading
}

// seed derives the state of a generator. Each use has its own: otherwise
// crypto/rand in a handler would repeat what the runtime drew at its start.
func (id Identity) seed(use string) [32]byte {
	b := append([]byte(use), 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(id.Seed))
	return sha256.Sum256(append(b, id.Name...))
}

// block is the unit in which memory is compared and copied, in bytes.
const block = 4096

// Snapshot is the state of a process that has run its package initialisation
// and nothing else. It may be restored into any instance of its program, from
// several goroutines.
type Snapshot struct {
	identity Identity
	program  *Program
	clock    int64
	globals  []uint64
	pages    uint32
	stdout   []byte
	stderr   []byte
	computed time.Duration
	// blocks is the memory in pieces of block bytes; nil is one of zeros, which
	// two thirds of them are.
	blocks [][]byte
}

// Time is the process's clock after the package initialisation.
func (s *Snapshot) Time() time.Time { return time.Unix(0, s.clock).UTC() }

// Stdout is what the package initialisation wrote to standard output. It must not
// be changed.
func (s *Snapshot) Stdout() []byte { return s.stdout }

// Stderr is like Stdout, for standard error.
func (s *Snapshot) Stderr() []byte { return s.stderr }

// Computed is how long the package initialisation has computed, in processor time.
func (s *Snapshot) Computed() time.Duration { return s.computed }

// Snapshot starts a process and runs its package initialisation. A non-nil Stop
// says that the submission did not get through it; it is never Returned,
// Canceled or Broken, which are errors here.
func (p *Program) Snapshot(ctx context.Context, id Identity) (*Snapshot, *Stop, error) {
	if p.refused != nil {
		stop := *p.refused
		return nil, &stop, nil
	}
	i, err := p.unused(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("snapshot %s: %w", id.Name, err)
	}
	defer p.keep(i)
	i.seed(id, "start")
	stop := i.run(ctx, i.module.ExportedFunction(exportInit), initialising, nil)
	switch {
	case stop.Reason.Ours():
		return nil, nil, fmt.Errorf("snapshot %s: %s %s", id.Name, stop.Text, stop.Detail)
	case stop.Ended():
		return nil, &stop, nil
	}
	return i.snapshot(id), nil, nil
}

// unused returns an instance that has run nothing: a new one, or that of an earlier
// snapshot with all that it did undone.
func (p *Program) unused(ctx context.Context) (*Instance, error) {
	p.mu.Lock()
	i, blank := p.spare, p.blank
	p.spare = nil
	p.mu.Unlock()
	if i != nil {
		i.clock = NewClock()
		return i, i.Restore(blank)
	}
	i, err := p.Instance(ctx, NewClock())
	if err != nil || blank != nil {
		return i, err
	}
	blank = i.snapshot(Identity{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blank = blank
	return i, nil
}

// keep keeps the instance for the next snapshot.
func (p *Program) keep(i *Instance) {
	p.mu.Lock()
	old := p.spare
	p.spare = i
	p.mu.Unlock()
	if old != nil {
		_ = old.close() // it frees memory; there is nothing to lose
	}
}

func (i *Instance) snapshot(id Identity) *Snapshot {
	memory, _ := i.memory().Read(0, i.memory().Size()) // all of it: in range
	s := &Snapshot{
		identity: id,
		program:  i.program,
		clock:    i.clock.ns.Load(),
		pages:    uint32(len(memory) / pageSize),
		stdout:   i.out.stdout,
		stderr:   i.out.stderr,
		computed: i.computed,
	}
	for _, g := range i.globals {
		s.globals = append(s.globals, g.Get())
	}
	i.program.mu.Lock()
	defer i.program.mu.Unlock()
	last := i.program.last
	var zero [block]byte
	for k := 0; len(memory) > 0; k, memory = k+1, memory[block:] {
		var b []byte
		switch now := memory[:block]; {
		case bytes.Equal(now, zero[:]):
		case k < len(last) && bytes.Equal(now, last[k]):
			b = last[k]
		default:
			b = bytes.Clone(now)
		}
		s.blocks = append(s.blocks, b)
	}
	i.program.last = s.blocks
	return s
}

// load puts memory and globals of an instance that is not larger than the
// snapshot into its state. Only blocks that differ are written: comparing is
// cheaper than dirtying memory, and zero blocks are compared with one that
// stays in the processor's cache.
func (s *Snapshot) load(m api.Memory, globals []api.Global) error {
	if n := s.pages - m.Size()/pageSize; n > 0 {
		if _, ok := m.Grow(n); !ok {
			return fmt.Errorf("grow memory by %d pages", n)
		}
	}
	memory, _ := m.Read(0, m.Size()) // all of it: in range
	var zero [block]byte
	for k, want := range s.blocks {
		b := memory[k*block:][:block]
		if want == nil {
			want = zero[:]
		}
		if !bytes.Equal(b, want) {
			copy(b, want)
		}
	}
	for k, g := range globals {
		if g, ok := g.(api.MutableGlobal); ok {
			g.Set(s.globals[k])
		}
	}
	return nil
}
