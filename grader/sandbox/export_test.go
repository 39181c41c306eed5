package sandbox

import (
	"context"
	"slices"
)

// Globals returns how many globals of the guest are saved in a snapshot.
func (s *Snapshot) Globals() int { return len(s.globals) }

// Same says that two snapshots hold the same state.
func (s *Snapshot) Same(o *Snapshot) bool {
	return s.clock == o.clock && s.pages == o.pages && slices.Equal(s.globals, o.globals) && slices.EqualFunc(s.blocks, o.blocks, slices.Equal) &&
		slices.Equal(s.stdout, o.stdout) && slices.Equal(s.stderr, o.stderr)
}

// Start returns a process that has run its package initialisation and was never
// restored.
func (p *Program) Start(ctx context.Context, clock *Clock, id Identity) (*Instance, Stop, error) {
	i, err := p.Instance(ctx, clock)
	if err != nil {
		return nil, Stop{}, err
	}
	i.seed(id, "start")
	stop := i.run(ctx, i.module.ExportedFunction(exportInit), initialising, nil)
	i.seed(id, "run")
	return i, stop, nil
}

// State is what a process has done, as a snapshot.
func (i *Instance) State() *Snapshot { return i.snapshot(Identity{}) }

// WithCold changes which functions are not loaded.
func (o Options) WithCold(names map[string]bool) Options {
	o.cold = names
	return o
}

// Cold lists the functions that are not loaded.
func (p *Program) Cold() []uint32 { return p.layout.cold }

// Whole says that a cold function has been called.
func (p *Program) Whole() bool { return p.whole != nil }

// FunctionNames lists the names of a program's functions.
func FunctionNames(wasm []byte) (map[string]bool, error) {
	sections, err := split(wasm)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	err = eachName(sections, func(_ uint32, name string) { names[name] = true })
	return names, err
}
