package build

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ownGroup puts the command into a process group of its own, which is killed
// as a whole: the go command starts others.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		if errors.Is(err, unix.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

// limitProcess bounds a process that has just started. It has no time to do
// harm before: its first milliseconds go into starting Go's runtime. Memory is
// counted as RLIMIT_DATA does, writable private mappings, because Go reserves
// far more address space than it uses.
func limitProcess(pid int, memory uint64, cpu time.Duration) error {
	limits := map[int]uint64{}
	if memory > 0 {
		limits[unix.RLIMIT_DATA] = memory
	}
	if cpu > 0 {
		limits[unix.RLIMIT_CPU] = uint64(cpu/time.Second) + 1
	}
	for resource, n := range limits {
		err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: n, Max: n}, nil)
		if err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: it has ended already
			return err
		}
	}
	return nil
}

// cpuUsedUp reports whether the process was ended for its processor time.
func cpuUsedUp(s *os.ProcessState) bool {
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled() && w.Signal() == syscall.SIGXCPU
}
