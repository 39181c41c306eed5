package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// thread is a thread of this process, by its kernel id.
type thread int

func currentThread() thread { return thread(unix.Gettid()) }

// cpuTime is the processor time that the thread has used since it began. The
// clock's number is made of the thread id as the kernel does it for
// pthread_getcpuclockid: the inverted id, then the bits for "one thread" and
// "scheduler's time" (include/linux/posix-timers.h). A thread that has ended
// has none; the guest's cannot end while its goroutine is locked to it, as it is
// while it computes.
func (t thread) cpuTime() time.Duration {
	const perThread, scheduler = 4, 2
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^int(t))<<3|perThread|scheduler, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
