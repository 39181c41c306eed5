package grader

import (
	"context"
	"fmt"

	"redeliver/grader/guest/abi"
	"redeliver/grader/sandbox"
)

// request is an effect that a guest asks for.
type request struct {
	op uint32
	in []byte
}

// reply answers a request. kill ends the process instead of answering.
type reply struct {
	out  []byte
	kill bool
}

// process is one life of an instance of the consumer: a guest, and while it
// handles a record a goroutine inside its WebAssembly call. The goroutine runs
// only between a reply and the next request; then it is parked in Call. So at
// any moment either the scheduler or one guest is running, never two, and what
// a guest reads while it runs (in calls that are no effects) needs no lock.
type process struct {
	name string // "A"; after a crash "A2"
	inst *sandbox.Instance
	w    *world

	requests chan request
	replies  chan reply
	ended    chan sandbox.Stop
	cancel   context.CancelFunc

	current  *delivery
	pending  *request // the effect that the guest is parked at
	result   abi.Return
	returned bool // OpReturn came
	draining bool
}

// start hands the guest a record and runs it to its first effect.
func (p *process) start(ctx context.Context, d *delivery) (*sandbox.Stop, error) {
	ctx, p.cancel = context.WithCancel(ctx)
	p.requests, p.replies = make(chan request), make(chan reply)
	p.ended = make(chan sandbox.Stop, 1)
	p.current, p.pending, p.returned, p.draining = d, nil, false, false
	go func() { p.ended <- p.inst.Handle(ctx, p) }()
	return p.next(ctx)
}

// answer lets the guest go on to its next effect or its end.
func (p *process) answer(ctx context.Context, out []byte) (*sandbox.Stop, error) {
	p.pending = nil
	p.replies <- reply{out: out}
	return p.next(ctx)
}

// kill ends the process at the effect at which it is parked. The goroutine has
// ended when kill returns.
func (p *process) kill() {
	if p.pending == nil {
		return
	}
	p.pending = nil
	p.replies <- reply{kill: true}
	<-p.ended
	p.cancel()
}

// next waits for the guest: nil while it is parked at an effect, else how it
// ended.
func (p *process) next(ctx context.Context) (*sandbox.Stop, error) {
	select {
	case r := <-p.requests:
		p.pending = &r
		return nil, nil //nolint:nilnil // parked is neither an end nor an error
	case stop := <-p.ended:
		p.cancel()
		if stop.Reason == sandbox.Canceled && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if stop.Reason.Ours() {
			return nil, fmt.Errorf("sandbox: %s %s", stop.Text, stop.Detail)
		}
		return &stop, nil
	}
}

// drain lets goroutines run that the handler left behind. An effect that they
// ask for is work after the return; the first one ends the drain.
func (p *process) drain(ctx context.Context) (leak *request, stop *sandbox.Stop, err error) {
	ctx, p.cancel = context.WithCancel(ctx)
	p.draining = true
	p.ended = make(chan sandbox.Stop, 1)
	go func() { p.ended <- p.inst.Drain(ctx, p) }()
	stop, err = p.next(ctx)
	if err != nil || stop != nil {
		return nil, stop, err
	}
	leak = p.pending
	p.kill()
	return leak, nil, nil
}

// Call is the guest's side of a host call. What is no effect is answered here,
// on the guest's goroutine.
func (p *process) Call(ctx context.Context, op uint32, in []byte) (out []byte, kill bool) {
	switch op {
	case abi.OpTask:
		return abi.AppendTask(nil, abi.Task{Records: []abi.Record{p.current.record}, NoPositions: p.current.noPositions}), false
	case abi.OpReturn:
		r := abi.NewReader(in)
		p.result, p.returned = r.Return(), true
		return nil, r.End() != nil
	case abi.OpPrepare:
		return p.w.prepare(ctx, p, in)
	case abi.OpCloseConn:
		return p.w.closeConn(p, in)
	}
	select {
	case p.requests <- request{op, in}:
	case <-ctx.Done():
		return nil, true
	}
	select {
	case r := <-p.replies:
		return r.out, r.kill
	case <-ctx.Done():
		return nil, true
	}
}
