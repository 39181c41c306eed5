//go:build wasip1

package sdk

import (
	"database/sql/driver"

	"redeliver/grader/guest/abi"
	"redeliver/grader/guest/host"
	"redeliver/grader/guest/sqlite"
)

// asError turns an error of a reply into what the real driver would return.
func asError(e abi.Error) error {
	switch e.Kind {
	case abi.SQLiteError:
		return sqlite.New(e.Code, e.Text)
	case abi.BadConn:
		return driver.ErrBadConn
	default:
		return host.Error(e)
	}
}
