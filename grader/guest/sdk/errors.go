//go:build wasip1

package sdk

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	"redeliver/grader/guest/abi"
	"redeliver/grader/guest/sqlite"
)

// asError turns an error of a reply into what the real driver would return.
func asError(e abi.Error) error {
	switch e.Kind {
	case abi.NoError:
		return nil
	case abi.SQLiteError:
		return sqlite.New(e.Code, e.Text)
	case abi.Canceled:
		return context.Canceled
	case abi.DeadlineExceeded:
		return context.DeadlineExceeded
	case abi.BadConn:
		return driver.ErrBadConn
	default:
		return errors.New(e.Text)
	}
}

// broken is returned when a reply cannot be read, which is a mistake of the
// grader's and not the candidate's.
func broken(err error) error {
	return errors.Join(errors.New("redeliver: the sandbox gave an unreadable answer"), err)
}

// ended returns the error of a context that has ended. A handler that computes
// without ever waiting does not let Go's timers fire in this single-threaded
// process, where on a real machine they would; so the clock is asked as well.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d, ok := ctx.Deadline(); ok && !time.Now().Before(d) {
		return context.DeadlineExceeded
	}
	return nil
}
