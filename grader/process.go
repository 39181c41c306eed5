package grader

import (
	"context"
	"hash/fnv"
	"time"

	"redeliver/grader/guest/abi"
	"redeliver/grader/sandbox"
)

// A process is run by three parts:
//
//	process.go  what the scheduler sees: it hands over a record or a reply and
//	            learns what the process does next
//	guest.go    a process that runs as WebAssembly
//	memo.go     what processes did before, so that a process that is in no other
//	            situation does not run
//
// Everything that a guest can observe comes in as an event. What is added to the
// operations of package abi needs nothing here: an effect is performed by the
// scheduler (step.go), and what is no effect by world.aside.

// event is what a process is given. Until its next move it depends on nothing
// else, so equal events in equal order bring equal moves.
type event struct {
	kind eventKind
	at   time.Time // the process's clock as the event comes
	data []byte    // the task or the reply, encoded as in package abi; it does not change
}

type eventKind byte

const (
	handed   eventKind = iota // a record: the handler begins
	answered                  // a reply: the guest goes on
	drained                   // nothing: goroutines run that the handler left behind
)

// move is what a process does after an event: either it waits for the reply to a
// request, or what the event began has ended.
type move struct {
	request *request
	stop    *sandbox.Stop

	result         abi.Return // what the handler returned last
	clock          time.Time  // the process's
	stdout, stderr []byte     // everything written so far; they do not change
}

// request is a call of a guest. It does not change.
type request struct {
	op uint32
	in []byte
}

// process is one life of an instance of the consumer. It runs only between an
// event and the move that follows, so at any moment either the scheduler or one
// process is running, never two.
type process struct {
	name string // "A"; after a crash "A2"
	lane string // "A" for both
	w    *world
	snap *sandbox.Snapshot

	// at is what it has done since its start, nil when that is not in the memo.
	// guest is nil for as long as the memo knows what comes next.
	at    *node
	guest *guest

	last    move
	pending *request // the effect that it waits at
}

// begin makes it a process that has just started. live makes it run at once, and
// what the memo knows of it is only compared.
func (p *process) begin(ctx context.Context, snap *sandbox.Snapshot, live bool) error {
	p.snap, p.at = snap, p.w.sub.memo.root(p.name)
	p.last = move{clock: snap.Time(), stdout: snap.Stdout(), stderr: snap.Stderr()}
	if !live && p.at != nil {
		return nil
	}
	_, err := p.wake(ctx)
	return err
}

// start gives the process a task and runs it to its first effect. The result is
// nil while it waits at an effect, else how the submission's function ended.
func (p *process) start(ctx context.Context, task abi.Task) (*sandbox.Stop, error) {
	return p.feed(ctx, handed, abi.AppendTask(nil, task))
}

// answer lets the process go on to its next effect or its end.
func (p *process) answer(ctx context.Context, out []byte) (*sandbox.Stop, error) {
	return p.feed(ctx, answered, out)
}

// drain lets goroutines run that the handler left behind. An effect that they
// ask for is work after the return; the first one ends the process.
func (p *process) drain(ctx context.Context) (leak *request, stop *sandbox.Stop, err error) {
	stop, err = p.feed(ctx, drained, nil)
	if err != nil || stop != nil {
		return nil, stop, err
	}
	leak = p.pending
	p.kill()
	return leak, nil, nil
}

// kill ends the process at the effect at which it waits.
func (p *process) kill() {
	p.pending = nil
	if p.guest != nil {
		p.guest.kill()
	}
}

// feed gives the process an event and answers what is no effect. A malformed
// request is left pending like an effect.
func (p *process) feed(ctx context.Context, kind eventKind, data []byte) (*sandbox.Stop, error) {
	for {
		m, err := p.next(ctx, event{kind, p.timeOf(kind), data})
		if err != nil {
			return nil, err
		}
		p.last, p.pending = m, m.request
		p.w.clock.Advance(m.clock.Sub(p.w.clock.Now()))
		if m.request == nil {
			return m.stop, nil
		}
		reply, ok, err := p.w.aside(ctx, p.name, *m.request)
		if err != nil || !ok {
			return nil, err
		}
		kind, data = answered, reply
	}
}

// next is the move that follows an event: from the memo, or from the guest.
func (p *process) next(ctx context.Context, ev event) (move, error) {
	if p.guest == nil {
		if n := p.w.sub.memo.after(p.at, ev); n != nil {
			p.at = n
			return n.move, nil
		}
		if m, err := p.wake(ctx); err != nil || m.stop != nil {
			return m, err
		}
	}
	m, err := p.run(ctx, ev)
	if err != nil {
		return move{}, err
	}
	p.at, err = p.w.sub.memo.add(p.at, ev, m)
	return m, err
}

// wake makes the process run: a guest is brought to where the process is. A move
// that is returned with a stop is that of a guest that did not get there, because
// its computing time ended before.
func (p *process) wake(ctx context.Context) (move, error) {
	var err error
	if p.guest, err = p.w.guest(ctx, p.lane); err != nil {
		return move{}, err
	}
	if err := p.guest.restore(p.snap); err != nil {
		return move{}, err
	}
	for _, n := range p.at.path() {
		m, err := p.run(ctx, n.event)
		if err != nil {
			return move{}, err
		}
		if byChance(m) {
			p.at = nil
			return m, nil
		}
		if !m.equal(n.move) {
			return move{}, errUnlike
		}
	}
	return move{}, nil
}

// run gives the guest an event. The error may be errComputing.
func (p *process) run(ctx context.Context, ev event) (move, error) {
	before := p.guest.inst.Computed()
	m, err := p.guest.feed(ctx, ev)
	if err != nil {
		return move{}, err
	}
	return m, p.w.sub.computing.add(p.guest.inst.Computed() - before)
}

// The clocks of processes. Each process has a clock of its own, which moves as
// its guest reads it and sleeps, so that what it did does not depend on how often
// others have read theirs. The schedule's clock, world.clock, is never behind one
// of them; it is what the database calls now. A process that comes behind moves
// to a round time: when it is handed a record, and otherwise when it is too far
// behind, as after a jump, after a sleep of another one or when it stood still.
// A round time has the process's own fraction of a millisecond: two processes that
// read the same nanosecond would be a coincidence that no machine offers.
const (
	roundTime = 100 * time.Millisecond
	tooFar    = time.Second
)

// timeOf is the time of a process's clock as its next event comes.
func (p *process) timeOf(kind eventKind) time.Time {
	now := p.w.clock.Now()
	behind := now.Sub(p.last.clock)
	if behind <= 0 || kind != handed && behind < tooFar {
		return p.last.clock
	}
	round := now.Truncate(roundTime)
	if round.Before(now) {
		round = round.Add(roundTime)
	}
	return round.Add(p.fraction())
}

// fraction is what tells the clock of a process from those of others: between a
// nanosecond and a millisecond.
func (p *process) fraction() time.Duration {
	h := fnv.New32a()
	h.Write([]byte(p.name))
	return time.Duration(h.Sum32()%999_999 + 1)
}
