package packcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// What `pack check` and `content check` have in common.

// Exit statuses beside 0, as grader/verdict says.
const (
	exitFailed       = 1
	exitInconclusive = 3
)

// ExitStatus is how a program ends after a check.
func ExitStatus(passed, inconclusive bool) int {
	switch {
	case inconclusive:
		return exitInconclusive
	case !passed:
		return exitFailed
	default:
		return 0
	}
}

// Each calls work for 0 to n-1, workers at once and at least one, and done after
// each that succeeded, never twice at once. It stops at the first error and
// returns it, or why ctx ended.
func Each(ctx context.Context, workers, n int, work func(ctx context.Context, i int) error, done func(i int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		next int
		mu   sync.Mutex
		wg   sync.WaitGroup
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == n || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range max(workers, 1) {
		wg.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := work(ctx, i); err != nil {
					cancel(err)
					return
				}
				mu.Lock()
				done(i)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// Count says how many there are: "1 problem", "2 problems".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// PrintJSON prints one object for other programs, indented for people.
func PrintJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
