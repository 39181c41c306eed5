package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// How much is kept of what a tool writes: the messages of the compiler, and the
// lists of the go command.
const (
	maxMessageBytes = 64 << 10
	maxListBytes    = 1 << 20
)

// tool is one run of a program of the Go distribution.
type tool struct {
	path   string
	args   []string
	dir    string
	env    []string
	memory uint64        // bytes; 0: not limited
	cpu    time.Duration // 0: not limited
	stderr io.Writer     // also gets the messages, unless nil
}

// toolFailure says why a tool did not succeed, when it is not a mistake of ours.
type toolFailure int

const (
	toolOK       toolFailure = iota
	toolRefused              // it ended with messages
	toolTooSlow              // the time limit
	toolTooLarge             // the memory limit
)

// run runs the tool. messages are its standard error and, when it fails, its
// standard output as well. The error is about running it: a command that is
// missing, or the end of ctx before the tool has used its processor time.
func (t tool) run(ctx context.Context) (messages, stdout string, failure toolFailure, err error) {
	cmd := exec.CommandContext(ctx, t.path, t.args...)
	cmd.Dir, cmd.Env = t.dir, t.env
	out, errs := &capped{left: maxListBytes}, &capped{left: maxMessageBytes}
	cmd.Stdout, cmd.Stderr = out, errs
	if t.stderr != nil {
		cmd.Stderr = io.MultiWriter(errs, t.stderr)
	}
	ownGroup(cmd)
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return "", "", toolRefused, fmt.Errorf("start %s: %w", t.path, err)
	}
	limitErr := limitProcess(cmd.Process.Pid, t.memory, t.cpu)
	err = cmd.Wait()
	if err == nil {
		return errs.String(), out.String(), toolOK, nil
	}
	var exit *exec.ExitError
	switch {
	case cpuUsedUp(cmd.ProcessState), ctx.Err() != nil && t.usedUp(cmd.ProcessState):
		return "", "", toolTooSlow, nil
	case ctx.Err() != nil:
		return "", "", toolRefused, fmt.Errorf("run %s: %w", t.path, ctx.Err())
	case limitErr != nil:
		return "", "", toolRefused, fmt.Errorf("limit %s: %w", t.path, limitErr)
	case !errors.As(err, &exit):
		return "", "", toolRefused, fmt.Errorf("run %s: %w", t.path, err)
	case outOfMemory(errs.String()):
		return "", "", toolTooLarge, nil
	case exit.ExitCode() < 0 && t.usedUp(cmd.ProcessState): // Go programs leave SIGXCPU aside, and the kernel ends them
		return "", "", toolTooSlow, nil
	case exit.ExitCode() < 0:
		return "", "", toolRefused, fmt.Errorf("run %s: %w", t.path, err)
	default:
		messages = errs.String() + out.String() // the compiler writes to the latter
		return messages[:min(len(messages), maxMessageBytes)], "", toolRefused, nil
	}
}

// usedUp tells a tool that has had its processor time from one that did not get
// it, on a busy machine or because the caller does not wait any longer.
func (t tool) usedUp(s *os.ProcessState) bool {
	return t.cpu > 0 && s.UserTime()+s.SystemTime() >= t.cpu
}

// outOfMemory recognises how a Go program dies when the system refuses it memory.
func outOfMemory(messages string) bool {
	for _, s := range []string{"out of memory", "cannot allocate memory", "failed to reserve", "pthread_create failed"} {
		if strings.Contains(messages, s) {
			return true
		}
	}
	return false
}

// capped keeps the first bytes written to it and drops the rest, so that the
// writer never blocks.
type capped struct {
	mu   sync.Mutex
	b    strings.Builder
	left int
}

// Write implements io.Writer and never fails.
func (c *capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(p), c.left)
	c.b.Write(p[:n])
	c.left -= n
	return len(p), nil
}

func (c *capped) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}
