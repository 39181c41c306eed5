package bubble_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"redeliver/grader/cluster/bubble"
)

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	if err := bubble.Check(); err != nil {
		t.Fatal(err)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	errMine := errors.New("mine")
	for _, tc := range []struct {
		name string
		f    func(context.Context) error
		want string
	}{
		{"Returns", func(context.Context) error { return nil }, ""},
		{"ErrorIsKept", func(context.Context) error { return errMine }, "mine"},
		{"PanicIsAnError", func(context.Context) error { panic("ouch") }, "panic: ouch"},
		{"NilPointerIsAnError", func(context.Context) error { var p *int; *p = 1; return nil }, "nil pointer"},
		{"GoexitIsAnError", func(context.Context) error { runtime.Goexit(); return nil }, "Goexit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := bubble.Run(t.Context(), tc.f)
			switch {
			case tc.want == "" && err != nil, tc.want != "" && err == nil:
				t.Errorf("%v", err)
			case tc.want != "" && !strings.Contains(err.Error(), tc.want):
				t.Errorf("%v; want something with %q", err, tc.want)
			}
			if tc.name == "ErrorIsKept" && !errors.Is(err, errMine) {
				t.Errorf("%v is another error", err)
			}
		})
	}
}

// The clock is the one that Real promises.
func TestClock(t *testing.T) {
	t.Parallel()
	var started time.Time
	wall := time.Now()
	d := 24 * time.Hour
	if bubble.Real {
		d = time.Millisecond
	}
	if err := bubble.Run(t.Context(), func(ctx context.Context) error {
		started = time.Now()
		if err := wait(ctx, d); err != nil {
			return err
		}
		if got := time.Since(started); got < d {
			t.Errorf("%v went by instead of %v", got, d)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if virtual := started.Year() == 2000; virtual == bubble.Real {
		t.Errorf("the clock shows %v and Real is %v", started, bubble.Real)
	}
	if took := time.Since(wall); took > time.Minute {
		t.Errorf("it took %v of real time", took)
	}
}

type key struct{}

// A context from outside comes through with its values and its end, while
// another goroutine inside keeps the clock going.
func TestContext(t *testing.T) {
	t.Parallel()
	errOver := errors.New("over")
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "v"))
	defer cancel(nil)
	inside := make(chan struct{})
	go func() { <-inside; cancel(errOver) }()
	err := bubble.Run(ctx, func(ctx context.Context) error {
		if ctx.Value(key{}) != "v" {
			t.Error("the value is lost")
		}
		close(inside)
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, errOver) {
		t.Errorf("%v", err)
	}
}

// A context that is over already, and one with a deadline, end the function too.
func TestDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for range 2 {
		if err := bubble.Run(ctx, func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	}
}

// A hundred at once do not see each other's clocks.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	got := make(chan error)
	for i := range 100 {
		go func() {
			got <- bubble.Run(t.Context(), func(ctx context.Context) error {
				at := time.Now()
				d := time.Duration(i) * time.Millisecond
				if err := wait(ctx, d); err != nil {
					return err
				}
				if !bubble.Real && time.Since(at) != d {
					return errors.New("another bubble moved the clock")
				}
				return nil
			})
		}()
	}
	for range 100 {
		if err := <-got; err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		if err := bubble.Run(b.Context(), func(context.Context) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for b.Loop() {
		if err := bubble.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
