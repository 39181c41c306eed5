//go:build unix

package build

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock that belongs to an open file, for as long as the file
// is open. It ends with the process, however that ends.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
