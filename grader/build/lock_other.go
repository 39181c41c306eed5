//go:build !unix

package build

import "os"

// tryLock grants the lock to everybody: without one, processes that prepare at
// the same time do the work twice, and the first to finish wins.
func tryLock(*os.File) (bool, error) { return true, nil }
