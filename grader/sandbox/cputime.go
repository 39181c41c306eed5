package sandbox

import (
	"runtime"
	"time"
)

// ComputingOf is how long work computes in the calling goroutine, in processor time
// like the limits of a guest. Work should not wait for another goroutine: its own is
// tied to a thread meanwhile.
func ComputingOf(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := currentThread()
	before := t.cpuTime()
	work()
	return t.cpuTime() - before
}
