package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Instance is one process. Its methods must be called from one goroutine at a
// time.
type Instance struct {
	program *Program
	clock   *Clock
	module  api.Module
	handle  api.Function
	drain   api.Function
	globals []api.Global
	random  *rand.ChaCha8
	out     output
	// cold is the second module of the process (cold.go), nil until a function
	// that is only in it is called.
	cold *coldInstance

	// alive is false until a Restore and after a call that did not return.
	alive bool
	// discard says that the module is closed or will be at any moment.
	discard bool

	// State of the call in progress.
	phase  phase
	host   Host
	budget *budget
	calls  int
	reply  []byte // kept for abi.OpMore

	computed time.Duration // since the last Restore
}

// Instance makes a process that must be restored before it is called. The clock is
// what its guest reads and moves. Program.Close closes it, if Close did not.
func (p *Program) Instance(ctx context.Context, clock *Clock) (*Instance, error) {
	if p.refused != nil {
		return nil, fmt.Errorf("instantiate: %s", p.refused.Text)
	}
	i := &Instance{program: p, clock: clock, out: output{limit: p.options.OutputBytes}}
	if err := i.instantiate(ctx); err != nil {
		return nil, err
	}
	return i, nil
}

func (i *Instance) instantiate(ctx context.Context) error {
	p := i.program
	m, err := p.anonymous(ctx, p.module)
	if err != nil {
		return fmt.Errorf("instantiate: %w", err)
	}
	i.module, i.discard = m, false
	i.handle, i.drain = m.ExportedFunction(exportHandle), m.ExportedFunction(exportDrain)
	i.globals = make([]api.Global, p.layout.globals)
	for k := range i.globals {
		i.globals[k] = m.ExportedGlobal(globalName(k))
	}
	return nil
}

// anonymous makes an instance of a module, of which there may be many.
func (p *Program) anonymous(ctx context.Context, m wazero.CompiledModule) (api.Module, error) {
	return p.runtime.InstantiateModule(ctx, m, wazero.NewModuleConfig().WithName("").WithStartFunctions())
}

// Close frees the process, which must not be in a call. The instance must not
// be used afterwards.
func (i *Instance) Close() error {
	i.alive = false
	if err := i.close(); err != nil {
		return fmt.Errorf("close instance: %w", err)
	}
	return nil
}

// close takes no context: closing waits for nothing.
func (i *Instance) close() error {
	var err error
	if i.cold != nil { // first: it uses the memory of the other
		err = i.cold.module.Close(context.Background())
		i.cold = nil
	}
	return errors.Join(err, i.module.Close(context.Background()))
}

func (i *Instance) memory() api.Memory { return i.module.Memory() }

func (i *Instance) seed(id Identity, use string) { i.random = rand.NewChaCha8(id.seed(use)) }

// Restore makes the instance a fresh process: memory, randomness, output and
// counts are those of the snapshot. The clock belongs to the caller and stays,
// unless it is behind the snapshot's: for a process, time never runs backwards.
func (i *Instance) Restore(s *Snapshot) error {
	i.alive = false
	if s.program != i.program {
		return errors.New("restore: the snapshot belongs to another program")
	}
	// Memory cannot shrink, but Go's runtime keeps its own account of it, which
	// a restore puts back. The next growth would come on top of the real size,
	// at every restore anew, until the limit. So a grown instance is replaced.
	if i.discard || i.module.IsClosed() || i.memory().Size()/pageSize > s.pages {
		if err := i.replace(); err != nil {
			return fmt.Errorf("restore %s: %w", s.identity.Name, err)
		}
	}
	if err := s.load(i.memory(), i.globals); err != nil {
		return fmt.Errorf("restore %s: %w", s.identity.Name, err)
	}
	i.clock.atLeast(s.clock)
	i.seed(s.identity, "run")
	i.out.reset(s.stdout, s.stderr)
	i.calls, i.reply, i.computed = 0, nil, 0
	i.alive = true
	return nil
}

func (i *Instance) replace() error {
	return errors.Join(i.close(), i.instantiate(context.Background()))
}

// Stdout returns what the process wrote to standard output since it started,
// its package initialisation included; at most Options.OutputBytes. The bytes
// stay as they are: what is written later is appended, and a Restore begins a
// slice of its own.
func (i *Instance) Stdout() []byte { return i.out.stdout }

// Stderr is like Stdout, for standard error. It includes the beginning of a
// crash report, whose whole is in Stop.Detail.
func (i *Instance) Stderr() []byte { return i.out.stderr }

// Computed is how long the guest has computed since the last Restore, in processor
// time. Like every measure it differs from run to run. It may be asked during a host
// call, too, which does not count.
func (i *Instance) Computed() time.Duration { return i.computed }

// Handle lets the process handle the record that host gives it. Unless the stop
// is Returned, the process is gone and the instance needs a Restore.
func (i *Instance) Handle(ctx context.Context, host Host) Stop {
	i.calls = 0
	return i.run(ctx, i.handle, handling, host)
}

// Drain lets goroutines run that the handler left behind. Host calls made now
// are work that the handler started and did not wait for; pass a host of its own
// to see them. It is due after every Handle that returned, also because such
// goroutines, if never run, pile up in the guest's memory.
func (i *Instance) Drain(ctx context.Context, host Host) Stop {
	return i.run(ctx, i.drain, draining, host)
}
