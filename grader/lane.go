package grader

import (
	"context"
	"fmt"

	"redeliver/grader/cluster"
	"redeliver/grader/guest/abi"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// lane is one instance of the consumer over all its lives.
type lane struct {
	id    string // "A"
	life  int    // 1 is "A", 2 is "A2"
	proc  *process
	state laneState
	parts []partition

	member  *cluster.Member // nil: a simple consumer
	fenced  bool            // the partitions belong to another instance now
	current *work
	busy    int  // SQLITE_BUSY answers in a row
	backoff bool // it returned an error last
}

// laneState is what an instance does next.
type laneState int

const (
	idle       laneState = iota // polls
	atEffect                    // its guest is parked at a call
	committing                  // its handler has returned nil
	finished                    // there is nothing left for it
)

// inHand says that the instance holds a record.
func (l *lane) inHand() bool { return l.state == atEffect || l.state == committing }

const offsetCommit = "the offset commit"

// nextLabel names the effect that comes next.
func (l *lane) nextLabel() string {
	switch {
	case l.state == committing && l.current.task.Kind == abi.Publish:
		return callerHears
	case l.state == committing:
		return offsetCommit
	}
	e, err := readEffect(*l.proc.pending)
	if err != nil {
		return "a malformed call"
	}
	return label(e)
}

// startProcess gives an instance its next life: fresh memory, no connections.
func (r *run) startProcess(ctx context.Context, l *lane) error {
	l.life++
	name := l.id
	if l.life > 1 {
		name = fmt.Sprintf("%s%d", l.id, l.life)
	}
	snap, stop, err := r.sub.snapshot(ctx, name)
	if err != nil {
		return err
	}
	l.proc, l.state, l.backoff, l.busy = &process{name: name, lane: l.id, w: r.world}, idle, false, 0
	if stop != nil {
		r.limit(l, *stop)
		return nil
	}
	if err := l.proc.begin(ctx, snap, r.live); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	r.entry.started(l)
	if l.life > 1 {
		r.rec.Add(verdict.Step{Lane: name, Event: trace.Restart, Text: fmt.Sprintf("A new process starts as %s: empty memory.", name)})
	}
	return nil
}
