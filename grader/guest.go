package grader

import (
	"context"
	"fmt"
	"slices"

	"redeliver/grader/guest/abi"
	"redeliver/grader/sandbox"
)

// guest runs the processes of one lane, one after the other: an instance of the
// sandbox, and between two moves of a process that has begun a record a goroutine
// inside its WebAssembly call. The goroutine is parked in Call whenever feed does
// not run.
type guest struct {
	inst  *sandbox.Instance
	clock *sandbox.Clock

	requests chan request
	replies  chan reply
	ended    chan sandbox.Stop
	cancel   context.CancelFunc
	parked   bool

	task   []byte     // what OpTask answers
	result abi.Return // what OpReturn said last
}

// reply answers a request. kill ends the process instead of answering.
type reply struct {
	out  []byte
	kill bool
}

// guest is that of a lane, made on first use: a program that cannot even be
// initialised never needs one.
func (w *world) guest(ctx context.Context, lane string) (*guest, error) {
	if w.guests[lane] == nil {
		clock := sandbox.NewClock()
		inst, err := w.sub.program.Instance(ctx, clock)
		if err != nil {
			return nil, fmt.Errorf("make an instance: %w", err)
		}
		w.guests[lane] = &guest{inst: inst, clock: clock}
	}
	return w.guests[lane], nil
}

// restore makes it a process that has just started.
func (g *guest) restore(snap *sandbox.Snapshot) error {
	g.kill()
	g.clock.Set(snap.Time())
	g.result = abi.Return{}
	return g.inst.Restore(snap)
}

// feed gives the guest an event and waits for its move. An error is ours.
func (g *guest) feed(ctx context.Context, ev event) (move, error) {
	g.clock.Set(ev.at)
	switch ev.kind {
	case handed:
		g.task = ev.data
		g.call(ctx, g.inst.Handle)
	case drained:
		g.call(ctx, g.inst.Drain)
	case answered:
		g.parked = false
		g.replies <- reply{out: ev.data}
	}
	var m move
	select {
	case r := <-g.requests:
		g.parked = true
		m.request = &r
	case stop := <-g.ended:
		g.cancel()
		if stop.Reason == sandbox.Canceled && ctx.Err() != nil {
			return move{}, ctx.Err()
		}
		if stop.Reason.Ours() {
			return move{}, fmt.Errorf("sandbox: %s %s", stop.Text, stop.Detail)
		}
		m.stop = &stop
	}
	m.result, m.clock = g.result, g.clock.Now()
	m.stdout, m.stderr = slices.Clip(g.inst.Stdout()), slices.Clip(g.inst.Stderr())
	return m, nil
}

// call starts the goroutine.
func (g *guest) call(ctx context.Context, export func(context.Context, sandbox.Host) sandbox.Stop) {
	ctx, g.cancel = context.WithCancel(ctx)
	g.requests, g.replies = make(chan request), make(chan reply)
	g.ended = make(chan sandbox.Stop, 1)
	go func() { g.ended <- export(ctx, g) }()
}

// kill ends the goroutine, if there is one, and returns when it has ended.
func (g *guest) kill() {
	if !g.parked {
		return
	}
	g.parked = false
	g.replies <- reply{kill: true}
	<-g.ended
	g.cancel()
}

// Call is the guest's side of a host call: it waits until feed brings the reply.
func (g *guest) Call(ctx context.Context, op uint32, in []byte) (out []byte, kill bool) {
	switch op {
	case abi.OpTask:
		return g.task, false
	case abi.OpReturn:
		r := abi.NewReader(in)
		g.result = r.Return()
		return nil, r.End() != nil
	}
	select {
	case g.requests <- request{op, in}:
	case <-ctx.Done():
		return nil, true
	}
	select {
	case r := <-g.replies:
		return r.out, r.kill
	case <-ctx.Done():
		return nil, true
	}
}
