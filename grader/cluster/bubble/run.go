package bubble

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// patience is the real time that a function has to come back after its context
// has ended.
const patience = 5 * time.Second

// Run calls f and returns its error. f's clock is virtual and starts at midnight
// UTC on 2000-01-01, unless Real is true. When ctx ends, so does f's context.
//
// A panic of f, runtime.Goexit, goroutines left behind (ErrLeaked) and a function
// that does not come back within 5 s after the end of ctx (ErrStopped) are errors.
// Give ctx a deadline: it is what ends a bubble that stands still. Run must not
// be called inside a bubble.
func Run(ctx context.Context, f func(ctx context.Context) error) error {
	return run(ctx, patience, f)
}

func run(ctx context.Context, patience time.Duration, f func(ctx context.Context) error) error {
	done := make(chan error, 1)
	ended := ctx.Done()                 // made outside before anyone asks for it inside
	go func() { enter(ctx, f, done) }() // its own goroutine: synctest may end it
	select {
	case err := <-done:
		return err
	case <-ended:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("virtual time: %w within %v after: %w", ErrStopped, patience, context.Cause(ctx))
	}
}

// guard calls f in a goroutine of its own and turns its panic or runtime.Goexit
// into an error.
func guard(f func() error) error {
	done := make(chan error)
	go func() {
		err := errors.New("the function called runtime.Goexit")
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
			done <- err
		}()
		err = f()
	}()
	return <-done
}
