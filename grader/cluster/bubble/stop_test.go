package bubble

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// A function that stands still, because it waits where the virtual clock does not
// move, is given up: never a hang.
func TestStandstillIsGivenUp(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	mu.Lock()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := run(ctx, 20*time.Millisecond, func(context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		return nil
	})
	if !errors.Is(err, ErrStopped) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	mu.Unlock() // lets the goroutine end
}
