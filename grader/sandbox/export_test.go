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
