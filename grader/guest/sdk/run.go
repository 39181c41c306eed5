//go:build wasip1

package sdk

import (
	"context"

	"redeliver/grader/guest/abi"
	"redeliver/grader/guest/host"
)

// handle asks for one task, calls the candidate's function and tells the host
// how it ended. A panic is not recovered: it ends the process, as it would a
// real consumer, and Go's runtime writes it to standard error.
//
//go:wasmexport handle
func handle() {
	r := host.Call(abi.OpTask, nil)
	task := r.Task()
	if err := r.End(); err != nil {
		panic(host.Broken(err))
	}
	host.NoPositions(task.NoPositions)
	ctx := context.Background()
	if !task.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, task.Deadline)
		defer cancel()
	}
	ret := process.perform(ctx, task)
	host.Call(abi.OpReturn, func(b []byte) []byte { return abi.AppendReturn(b, ret) })
}

func outcome(err error) abi.Return {
	if err == nil {
		return abi.Return{}
	}
	return abi.Return{Failed: true, Text: err.Error()}
}

// drain lets goroutines run that the candidate's function left behind:
// database/sql leaves two for each transaction. The host calls of a goroutine of
// the candidate's, or of a Kafka client that was not flushed, show up here,
// after the return.
//
//go:wasmexport drain
func drain() { host.Yield(2) }
