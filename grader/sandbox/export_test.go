package sandbox

import "context"

// Globals returns how many globals of the guest are saved in a snapshot.
func (s *Snapshot) Globals() int { return len(s.globals) }

// Start returns a process that has run its package initialisation and was never
// restored.
func (p *Program) Start(ctx context.Context, clock *Clock, id Identity) (*Instance, Stop, error) {
	return p.start(ctx, clock, id)
}
