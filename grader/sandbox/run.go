package sandbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// runningKey finds the instance that a host function was called by.
type runningKey struct{}

func running(ctx context.Context) *Instance { return ctx.Value(runningKey{}).(*Instance) }

// run calls an export and says how it ended.
func (i *Instance) run(ctx context.Context, f api.Function, p phase, host Host) Stop {
	if !i.alive && p != initialising {
		return Stop{Reason: Broken, Text: "The sandbox failed.", Detail: "called an instance that was not restored"}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	i.phase, i.host, i.reply = p, host, nil
	i.budget = newBudget(i.limit(p), i.interrupt)
	i.program.watchdog.watch(i.budget)
	i.compute()
	_, err := f.Call(context.WithValue(ctx, runningKey{}, i))
	i.rest()
	i.program.sawCalls(int64(i.calls))
	i.program.watchdog.forget(i.budget) // after this nobody closes the module any more
	if ctx.Err() != nil || i.budget.exhausted() {
		// wazero closes the module in a goroutine of its own, which may still
		// be about to: even a call that returned cannot be followed by another.
		i.discard = true
	}
	stop := i.classify(err)
	i.alive, i.host = !stop.Ended(), nil
	return stop
}

// compute begins a stretch of the guest's own computing, until rest. Only for so
// long is the goroutine tied to a thread, whose processor time the budget counts: a
// goroutine that waits for a host call while it is tied costs a change of threads
// each way.
func (i *Instance) compute() {
	runtime.LockOSThread()
	i.budget.resume(currentThread().cpuTime)
}

func (i *Instance) rest() {
	i.computed += i.budget.pause()
	runtime.UnlockOSThread()
}

// interrupt ends the guest's call from outside: the interpreter looks at the
// module's state at every loop and call. It uses no context, whose channel could
// belong to a bubble of testing/synctest.
func (i *Instance) interrupt() {
	// The errors are about resources of the modules, of which they have none.
	_ = i.module.CloseWithExitCode(context.Background(), interrupted)
	if i.cold != nil {
		_ = i.cold.module.CloseWithExitCode(context.Background(), interrupted)
	}
}

// interrupted is the exit code of a guest that the watchdog ended.
const interrupted = 124

func (i *Instance) limit(p phase) time.Duration {
	if p == initialising {
		return i.program.options.InitTime
	}
	return i.program.options.CallTime
}

// classify turns the result of a call into a Stop.
func (i *Instance) classify(err error) Stop {
	var sig *signal
	var closed *sys.ExitError
	switch {
	case errors.As(err, &sig):
		return i.signalled(sig)
	case i.discard && (err == nil || errors.As(err, &closed)):
		return i.interrupted()
	case err == nil:
		return Stop{Reason: Returned}
	}
	// What wazero raises itself begins so; anything else is a panic in a host.
	trap, ok := strings.CutPrefix(err.Error(), "wasm error: ")
	if !ok {
		return Stop{Reason: Broken, Text: "The sandbox failed.", Detail: err.Error()}
	}
	return i.trapped(trap)
}

// interrupted explains a call whose context ended: by the budget or from outside.
func (i *Instance) interrupted() Stop {
	if i.budget.exhausted() {
		return Stop{Reason: Deadline, Text: deadlineText(i.phase, i.limit(i.phase))}
	}
	return Stop{Reason: Canceled, Text: "The grading was stopped before the submission had ended."}
}

func (i *Instance) signalled(s *signal) Stop {
	o := i.program.options
	subject := i.phase.subject()
	stop := Stop{Reason: s.reason}
	switch s.reason {
	case Canceled:
		return i.interrupted()
	case Killed:
		stop.Text = "The process was killed."
	case Exit:
		return i.exited(s.code)
	case Output:
		stop.Text = fmt.Sprintf("%s wrote more than %s to %s.", subject, size(int64(o.OutputBytes)), s.text)
	case HostCalls:
		stop.Text = hostCallsText(i.phase, o.HostCalls)
	case Protocol:
		stop.Text = fmt.Sprintf("%s %s.", subject, s.text)
	default:
		return Stop{Reason: Broken, Text: "The sandbox failed.", Detail: s.text}
	}
	return stop
}

// runtimeStatus is the status with which Go's runtime exits after a crash.
const runtimeStatus = 2

// exited tells a crash, which ends in an exit too, from os.Exit.
func (i *Instance) exited(code uint32) Stop {
	if c, ok := parseCrash(i.out.crash); ok && code == runtimeStatus {
		return i.crashed(c)
	}
	return Stop{Reason: Exit, Text: fmt.Sprintf("%s ended the process with os.Exit(%d).", i.phase.subject(), int32(code))}
}

func (i *Instance) crashed(c crash) Stop {
	s := Stop{Reason: c.reason(), File: c.file, Line: c.line, Detail: string(i.out.crash)}
	switch subject := i.phase.subject(); s.Reason {
	case Memory:
		s.Text = fmt.Sprintf("%s needed more than %s of memory.", subject, size(int64(i.program.options.MemoryPages)*pageSize))
	case Deadlock:
		s.Text = subject + " waits for ever: all goroutines are asleep."
	case Recursion:
		s.Text = recursionText(i.phase, "")
	default:
		s.Text = c.message
	}
	s.Text = c.at(s.Text)
	return s
}

// recursionText names the function, unless the place is known better.
func recursionText(p phase, function string) string {
	if function != "" {
		function = " (function " + function + ")"
	}
	return p.subject() + " nested its calls too deeply: the call stack is full" + function + "."
}

// trapped explains what WebAssembly itself stopped.
func (i *Instance) trapped(trap string) Stop {
	if c, ok := parseCrash(i.out.crash); ok {
		return i.crashed(c)
	}
	what, stack, _ := strings.Cut(trap, "\n")
	if what == "stack overflow" {
		return Stop{Reason: Recursion, Text: recursionText(i.phase, candidateFunction(stack)), Detail: stack}
	}
	return Stop{Reason: Trap, Text: fmt.Sprintf("%s was stopped by WebAssembly: %s.", i.phase.subject(), what), Detail: stack}
}
