//go:build wasip1

package host

import (
	"context"
	"errors"
	"time"

	"redeliver/grader/guest/abi"
)

// Error turns an error of a reply into Go's, for the kinds that are no library's
// own.
func Error(e abi.Error) error {
	switch e.Kind {
	case abi.NoError:
		return nil
	case abi.Canceled:
		return context.Canceled
	case abi.DeadlineExceeded:
		return context.DeadlineExceeded
	default:
		return errors.New(e.Text)
	}
}

// Broken is returned when a reply cannot be read, which is a mistake of the
// grader's and not the candidate's.
func Broken(err error) error {
	return errors.Join(errors.New("redeliver: the sandbox gave an unreadable answer"), err)
}

// Ended returns the error of a context that has ended. A handler that computes
// without ever waiting does not let Go's timers fire in this single-threaded
// process, where on a real machine they would; so the clock is asked as well.
func Ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d, ok := ctx.Deadline(); ok && !time.Now().Before(d) {
		return context.DeadlineExceeded
	}
	return nil
}
