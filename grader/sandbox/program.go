package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// ErrImport is wrapped by the error of Load when a module imports a function
// that the sandbox does not offer; the error names it.
var ErrImport = errors.New("import that the sandbox does not offer")

const pageSize = 64 << 10 // bytes of a WebAssembly page

// Options are the limits of a program. A zero field means its default.
type Options struct {
	// MemoryPages limits the guest's memory, in pages of 64 KiB; 1024 (64 MiB).
	MemoryPages uint32
	// ExtraPages is room that the guest owns from the start, so that it rarely
	// grows its memory: 64 (4 MiB).
	ExtraPages uint32
	// OutputBytes limits each of standard output and standard error between
	// two restores; 64 KiB.
	OutputBytes int
	// HostCalls limits the calls of one Handle and its Drain; 1000.
	HostCalls int
	// InitTime and CallTime limit the guest's own computing time, without host
	// calls, during the package initialisation (5 s) and in each Handle and
	// Drain (2 s). It is measured, so a Deadline should be believed only when it
	// happens twice.
	InitTime, CallTime time.Duration

	cold map[string]bool // names of functions that are not loaded before they are called
}

func (o Options) withDefaults() Options {
	o.MemoryPages = cmp.Or(o.MemoryPages, 1024)
	o.ExtraPages = cmp.Or(o.ExtraPages, 64)
	o.OutputBytes = cmp.Or(o.OutputBytes, 64<<10)
	o.HostCalls = cmp.Or(o.HostCalls, 1000)
	o.InitTime = cmp.Or(o.InitTime, 5*time.Second)
	o.CallTime = cmp.Or(o.CallTime, 2*time.Second)
	if o.cold == nil {
		o.cold = defaultCold()
	}
	return o
}

// Program is a loaded module. It may be used from several goroutines.
type Program struct {
	runtime  wazero.Runtime
	module   wazero.CompiledModule
	layout   layout
	options  Options
	watchdog *watchdog
	// refused is set when the module's own variables exceed the memory: every
	// Snapshot ends with it.
	refused *Stop
	most    atomic.Int64 // calls of one Handle and its Drain

	coldMu   sync.Mutex
	sections []section             // of the program, until all of it is loaded
	whole    wazero.CompiledModule // with the cold functions; nil until one is called

	mu    sync.Mutex
	spare *Instance // that of the last snapshot; nil while it is in use
	blank *Snapshot // of an instance that has run nothing
	// last are the blocks of the last snapshot. Most are alike in all of them and
	// kept once.
	last [][]byte
}

// Load prepares a module that was compiled with GOOS=wasip1 and
// -buildmode=c-shared. It must export _initialize, handle and drain, without
// parameters and results, and import nothing beyond what the sandbox offers
// (ErrImport). Loading takes about a tenth of a second for 4 MB, as much again when
// the program calls a function that was left out (cold.go). Close frees what it holds.
func Load(ctx context.Context, wasm []byte, o Options) (*Program, error) {
	p := &Program{options: o.withDefaults()}
	sections, err := split(wasm)
	if err != nil {
		return nil, fmt.Errorf("read module: %w", err)
	}
	rewritten, l, err := rewrite(sections, p.options.ExtraPages, p.options.cold)
	if err != nil {
		return nil, fmt.Errorf("read module: %w", err)
	}
	p.sections, p.layout, p.watchdog = sections, l, newWatchdog()
	if l.pages > p.options.MemoryPages {
		p.refused = p.tooLarge()
		return p, nil
	}
	p.runtime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().
		WithCloseOnContextDone(true).
		WithMemoryLimitPages(p.options.MemoryPages))
	if err := p.compile(ctx, rewritten); err != nil {
		return nil, errors.Join(fmt.Errorf("load module: %w", err), p.Close(ctx))
	}
	return p, nil
}

func (p *Program) compile(ctx context.Context, wasm []byte) (err error) {
	if p.module, err = p.runtime.CompileModule(ctx, wasm); err != nil {
		return err
	}
	if err := errors.Join(checkImports(p.module), checkExports(p.module)); err != nil {
		return err
	}
	return errors.Join(instantiateSystem(ctx, p.runtime), instantiateHost(ctx, p.runtime))
}

func (p *Program) tooLarge() *Stop {
	own := int64(p.layout.pages-p.options.ExtraPages) * pageSize
	limit := int64(p.options.MemoryPages) * pageSize
	return &Stop{Reason: Memory, Text: fmt.Sprintf(
		"The program's own variables need %d MiB of memory; %s are allowed.", own>>20, size(limit))}
}

// MostCalls is how many host calls one Handle and its Drain have made at most, of
// all that have run so far.
func (p *Program) MostCalls() int { return int(p.most.Load()) }

// sawCalls keeps the highest number.
func (p *Program) sawCalls(n int64) {
	for most := p.most.Load(); n > most && !p.most.CompareAndSwap(most, n); most = p.most.Load() {
	}
}

// Close frees the program and all its instances, none of which may be in a
// call.
func (p *Program) Close(ctx context.Context) error {
	p.watchdog.close()
	if p.runtime == nil {
		return nil
	}
	if err := p.runtime.Close(ctx); err != nil {
		return fmt.Errorf("close program: %w", err)
	}
	return nil
}

func checkImports(m wazero.CompiledModule) error {
	for _, f := range m.ImportedFunctions() {
		module, name, _ := f.Import()
		params, results, ok := offered(module, name)
		if !ok {
			return fmt.Errorf("%w: %s.%s", ErrImport, module, name)
		}
		if !slices.Equal(params, f.ParamTypes()) || !slices.Equal(results, f.ResultTypes()) {
			return fmt.Errorf("%w: %s.%s with another signature", ErrImport, module, name)
		}
	}
	return nil
}

// offered looks up the signature of a function that guests may import.
func offered(module, name string) (params, results []api.ValueType, ok bool) {
	switch module {
	case hostModule:
		params, results = hostSignature()
		return params, results, name == hostFunction
	case wasiModule:
		for _, s := range systems() {
			if s.name == name {
				params, results = s.signature()
				return params, results, true
			}
		}
	}
	return nil, nil, false
}

const (
	exportInit   = "_initialize"
	exportHandle = "handle"
	exportDrain  = "drain"
)

func checkExports(m wazero.CompiledModule) error {
	exports := m.ExportedFunctions()
	for _, name := range []string{exportInit, exportHandle, exportDrain} {
		f, ok := exports[name]
		if !ok {
			return fmt.Errorf("the module does not export %s", name)
		}
		if len(f.ParamTypes())+len(f.ResultTypes()) > 0 {
			return fmt.Errorf("the module's export %s has parameters or results", name)
		}
	}
	return nil
}
