//go:build !realtime

package bubble_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"redeliver/grader/cluster/bubble"
)

func TestGoroutineLeftBehindIsAnError(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	for _, tc := range []struct {
		name string
		stay func()
	}{
		{"Waiting", func() { select {} }},
		{"WaitingForTheClock", func() {
			for {
				<-time.After(time.Second)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := bubble.Run(t.Context(), func(context.Context) error { go tc.stay(); return mine })
			if !errors.Is(err, bubble.ErrLeaked) || !errors.Is(err, mine) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestInsideABubbleIsAnError(t *testing.T) {
	t.Parallel()
	err := bubble.Run(t.Context(), func(ctx context.Context) error {
		return bubble.Run(ctx, func(context.Context) error { return nil })
	})
	if err == nil {
		t.Error("a bubble inside a bubble was accepted")
	}
}
