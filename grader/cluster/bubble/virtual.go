//go:build !realtime

package bubble

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// Real says that Run uses the real clock.
const Real = false

// lookOut is how often, in virtual time, the end of the outer context is looked
// for. A channel from outside would be awaited without the clock moving on.
const lookOut = 10 * time.Second

// enter runs f in a bubble and sends what became of it to done.
func enter(ctx context.Context, f func(context.Context) error, done chan<- error) {
	err := errors.New("virtual time: the bubble ended early")
	defer func() {
		if p := recover(); p != nil { // synctest's answer to waiting goroutines
			err = errors.Join(err, fmt.Errorf("virtual time: %w: %v", ErrLeaked, p))
		}
		done <- err
	}()
	synctest.Test(new(testing.T), func(*testing.T) {
		err = guard(func() error { return follow(ctx, f) })
	})
}

// follow calls f with a context of this bubble that ends after outer.
func follow(outer context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(outer))
	defer cancel(nil)
	over := make(chan struct{})
	left := make(chan struct{})
	go func() {
		defer close(left)
		tick := time.NewTicker(lookOut)
		defer tick.Stop()
		for outer.Err() == nil {
			select {
			case <-tick.C:
			case <-over:
				return
			}
		}
		cancel(context.Cause(outer))
	}()
	defer func() { close(over); <-left }()
	return f(ctx)
}

// Check tries out what Run relies on and nobody promises: that a bubble starts
// outside of tests, that its clock is virtual, and that panics and forgotten
// goroutines become errors. It takes a few milliseconds and leaves one
// waiting goroutine behind. Call it once, at start-up.
func Check() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	started := time.Now()
	var virtual time.Duration
	err := run(ctx, time.Second, func(ctx context.Context) error {
		at := time.Now()
		select {
		case <-time.After(time.Hour):
		case <-ctx.Done():
		}
		virtual = time.Since(at)
		return ctx.Err()
	})
	switch {
	case err != nil:
		return fmt.Errorf("check virtual time with %s: %w", runtime.Version(), err)
	case virtual != time.Hour || time.Since(started) > time.Minute:
		return fmt.Errorf("check virtual time with %s: an hour took %v", runtime.Version(), virtual)
	}
	if err := run(ctx, time.Second, func(context.Context) error { panic("on purpose") }); err == nil {
		return fmt.Errorf("check virtual time with %s: a panic was no error", runtime.Version())
	}
	if err := run(ctx, time.Second, func(context.Context) error {
		go func() { select {} }()
		return nil
	}); !errors.Is(err, ErrLeaked) {
		return fmt.Errorf("check virtual time with %s: a goroutine left behind gave %v", runtime.Version(), err) //nolint:errorlint // nil is possible and wrong here
	}
	return nil
}
