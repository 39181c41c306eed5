package members

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Delivery is one record given to one instance.
type Delivery struct {
	Instance string      // A or B
	Attempt  int         // how often the record was delivered, this time included
	Record   *kgo.Record // as the client returned it

	ctx    context.Context
	run    *run
	member *member
	pause  *pause // nil: this delivery is not stopped
	effect int
	err    error         // the handler's, after ended is closed
	ended  chan struct{} // closed when the handler has returned
}

// Effect is called before each effect of the handler. It may wait for minutes of
// virtual time. After an error the handler must return it without a further
// effect.
func (d *Delivery) Effect() error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	d.effect++
	if d.pause == nil || d.effect != d.pause.at {
		return nil
	}
	return d.pause.wait(d.ctx)
}

func (d *Delivery) event(kind Kind) Event {
	return Event{Kind: kind, Instance: d.Instance, Offset: d.Record.Offset, Attempt: d.Attempt}
}

// Blocked is called by a handler that cannot go on before the other instance has:
// it waits for a lock. The other instance's handler, paused until now, runs to
// its end before Blocked returns. ErrNobody says that there is none, so that the
// lock will never come free.
func (d *Delivery) Blocked() error {
	other := d.run.paused
	if other == nil || other == d {
		return ErrNobody
	}
	select {
	case <-other.ended:
		return ErrNobody
	default:
	}
	d.run.tell(d.event(Waits))
	d.run.wake(other)
	select {
	case <-other.ended:
		return nil
	case <-d.ctx.Done():
		return d.ctx.Err()
	}
}

// start runs the handler in its goroutine.
func (d *Delivery) start(handle Handle) {
	go func() {
		defer close(d.ended)
		d.err = protect(func() error { return handle(d.ctx, d) })
		d.tellEnd()
		if d.pause != nil && d.err == nil && !d.pause.happened() {
			d.err = d.pause.wait(d.ctx) // it had fewer effects: it stops before the commit
		}
	}()
}

// tellEnd tells the handler's result, unless its process is gone.
func (d *Delivery) tellEnd() {
	if errors.Is(d.err, ErrCrashed) {
		return
	}
	e := d.event(Returned)
	if d.err != nil {
		e.Err = d.err.Error()
	}
	d.run.tell(e)
}

var errPanic = errors.New("the handler panicked")

func protect(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		}
	}()
	return f()
}

// pause stops a handler at one place and lets it go on, or die, later.
type pause struct {
	at      int
	reached chan struct{}
	resume  chan error
	once    sync.Once
}

func newPause(at int) *pause {
	return &pause{at: at, reached: make(chan struct{}), resume: make(chan error, 1)}
}

func (p *pause) wait(ctx context.Context) error {
	close(p.reached)
	select {
	case err := <-p.resume:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pause) happened() bool {
	select {
	case <-p.reached:
		return true
	default:
		return false
	}
}

// release lets the handler go on, with an error that Effect returns. The first
// call counts; it calls before, if not nil, while the handler still waits.
func (p *pause) release(err error, before func()) {
	p.once.Do(func() {
		if before != nil {
			before()
		}
		p.resume <- err
	})
}
