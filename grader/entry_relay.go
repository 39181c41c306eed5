package grader

import (
	"context"
	"slices"

	"redeliver/grader/guest/abi"
)

// relay is the entry of that name: records are handled as in the entry handler,
// and each instance calls Relay whenever it has none, until Relay has nothing left
// to send.
type relay struct {
	records
	lanes map[*lane]*relaying
	last  rest
}

// relaying is what an instance's calls of Relay have shown in its current life.
type relaying struct {
	calls  int
	failed int  // in a row
	quiet  bool // the last one returned nil and sent nothing
	rested bool // and there is nothing left to do
	begun  int  // effects of the schedule when the last one began
}

// rest is a call of Relay that left nothing to do.
type rest struct {
	lane       int // by number
	begun, end int // effects of the schedule before and after it
}

func (e *relay) of(l *lane) *relaying {
	if e.lanes == nil {
		e.lanes = map[*lane]*relaying{}
	}
	if e.lanes[l] == nil {
		e.lanes[l] = &relaying{}
	}
	return e.lanes[l]
}

func (e *relay) next(ctx context.Context, r *run, l *lane) (*work, error) {
	if w, err := e.records.next(ctx, r, l); w != nil || err != nil {
		return w, err
	}
	state := e.of(l)
	if l.fenced || state.rested {
		return nil, nil //nolint:nilnil // it has nothing left
	}
	state.begun = len(r.out.effects)
	return &work{task: abi.Task{Kind: abi.Relay, NoPositions: !r.positions}, attempt: state.failed + 1}, nil
}

// maxRelays bounds the calls of Relay in a life that find something to send: one
// for each record would do.
func maxRelays(set *recordSet) int { return 2*len(set.sent) + maxAttempts }

func (e *relay) returned(r *run, l *lane, w *work, failed bool) laneState {
	if w.task.Kind != abi.Relay {
		return e.records.returned(r, l, w, failed)
	}
	state := e.of(l)
	state.calls++
	quiet := !failed && !w.sent
	switch {
	case failed:
		state.failed++
	case quiet && (!w.changed || state.quiet): // one that only writes down something may send next time
		state.rested = true
		e.last = rest{slices.Index(r.lanes, l), state.begun, len(r.out.effects)}
	case state.calls > maxRelays(r.set):
		r.restless(l)
	default:
		state.failed = 0
	}
	state.quiet = quiet
	return idle
}

func (e *relay) started(l *lane) { delete(e.lanes, l) }

// settle calls Relay once more when something has been written since a call had
// nothing to do: by another instance during it, or by any after it.
func (e *relay) settle(r *run) *lane {
	news := false
	for i, eff := range r.out.effects {
		later := i >= e.last.end || i >= e.last.begun && eff.Lane != e.last.lane
		news = news || later && eff.durable && !eff.offset
	}
	i := slices.IndexFunc(r.lanes, func(l *lane) bool { return !l.fenced })
	if !news || i < 0 {
		return nil
	}
	e.of(r.lanes[i]).rested = false
	return r.lanes[i]
}
