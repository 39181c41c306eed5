package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrInUse refuses a data folder that another process holds.
var ErrInUse = errors.New("another redeliver uses this data folder")

// LockFolder takes a data folder for this process, until release is called or
// the process ends, however it ends. Two processes on one SQLite database would
// take back each other's running jobs. Where the system knows no such lock,
// everybody gets it.
func LockFolder(dir string) (release func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	ok, err := tryLock(f)
	if err == nil && !ok {
		err = fmt.Errorf("%w (%s): stop it, or name another folder with --data", ErrInUse, dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
