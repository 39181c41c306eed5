package sandbox

import (
	"bytes"
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"redeliver/grader/guest/abi"
)

const (
	hostModule   = "redeliver"
	hostFunction = "call"
)

// Host answers the calls of a guest: the effects of a submission.
type Host interface {
	// Call performs operation op of package abi and returns its reply, of at
	// most abi.MaxReply bytes. It may block for as long as it likes: it is the
	// point at which another instance runs, and no time of this guest. It must
	// return when ctx is done. With kill the process dies here, like by kill -9:
	// no deferred function runs, and the reply does not matter.
	//
	// in belongs to the host. The reply must not change until the guest's next
	// call. Call is never called from two goroutines at once for one instance,
	// and must not use that instance itself.
	Call(ctx context.Context, op uint32, in []byte) (reply []byte, kill bool)
}

// hostSignature is call(op, inPtr, inLen, outPtr, outCap) outLen.
func hostSignature() (params, results []api.ValueType) {
	const i32 = api.ValueTypeI32
	return []api.ValueType{i32, i32, i32, i32, i32}, []api.ValueType{i32}
}

func instantiateHost(ctx context.Context, rt wazero.Runtime) error {
	params, results := hostSignature()
	run := func(ctx context.Context, _ api.Module, stack []uint64) {
		a := args(stack)
		stack[0] = uint64(running(ctx).call(ctx, a.u32(0), a.u32(1), a.u32(2), a.u32(3), a.u32(4)))
	}
	_, err := rt.NewHostModuleBuilder(hostModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(run), params, results).Export(hostFunction).Instantiate(ctx)
	return err
}

// call is one host call of the guest. A reply that does not fit stays here until
// the guest has asked for it with abi.OpMore; the host does not see that.
func (i *Instance) call(ctx context.Context, op, in, inLen, out, outCap uint32) uint32 {
	if op == opCold {
		return i.coldCall(ctx, in, inLen)
	}
	if op != abi.OpMore {
		i.reply = i.ask(ctx, op, i.request(in, inLen))
	} else if i.reply == nil {
		panic(&signal{reason: Protocol, text: "asked for the rest of a reply that does not exist"})
	}
	if uint64(len(i.reply)) > uint64(outCap) {
		return uint32(len(i.reply))
	}
	if !i.memory().Write(out, i.reply) {
		panic(&signal{reason: Protocol, text: "passed a buffer outside its memory"})
	}
	n := len(i.reply)
	i.reply = nil
	return uint32(n)
}

func (i *Instance) request(in, n uint32) []byte {
	if n > abi.MaxRequest {
		panic(&signal{reason: Protocol, text: fmt.Sprintf("sent a request of %s; %s are allowed", size(int64(n)), size(abi.MaxRequest))})
	}
	p, ok := i.memory().Read(in, n)
	if !ok {
		panic(&signal{reason: Protocol, text: "passed a request outside its memory"})
	}
	return bytes.Clone(p)
}

// ask passes a call to the host, with the guest's budget standing still.
func (i *Instance) ask(ctx context.Context, op uint32, in []byte) []byte {
	if i.host == nil {
		panic(&signal{reason: Protocol, text: "called the database or Kafka; only the handler may do that"})
	}
	if i.calls++; i.calls > i.program.options.HostCalls {
		panic(&signal{reason: HostCalls})
	}
	i.rest()
	defer i.compute()
	reply, kill := i.host.Call(ctx, op, in)
	switch {
	case ctx.Err() != nil:
		// The module is being closed, at some moment; until then the guest would go on.
		panic(&signal{reason: Canceled})
	case kill:
		panic(&signal{reason: Killed})
	case len(reply) > abi.MaxReply:
		panic(&signal{reason: Broken, text: fmt.Sprintf("the reply to operation %d has %s", op, size(int64(len(reply))))})
	case reply == nil:
		return []byte{} // nil means that there is none
	}
	return reply
}
