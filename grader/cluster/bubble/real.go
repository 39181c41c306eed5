//go:build realtime

package bubble

import "context"

// Real says that Run uses the real clock.
const Real = true

// enter runs f in real time and sends what became of it to done.
func enter(ctx context.Context, f func(context.Context) error, done chan<- error) {
	done <- guard(func() error { return f(ctx) })
}

// Check has nothing to try out in real time.
func Check() error { return nil }
