//go:build wasip1

// Package host is the guest's side of the calls to the grader: the one door
// through which the stand-ins for client libraries reach the systems outside.
// It is compiled for wasip1 only.
package host

import (
	"runtime"
	"unsafe"

	"redeliver/grader/guest/abi"
)

// hostCall hands one request to the grader and parks the whole process until
// the answer is there.
//
//go:wasmimport redeliver call
func hostCall(op uint32, in unsafe.Pointer, inLen uint32, out unsafe.Pointer, outCap uint32) uint32

// The buffers of a call. A process of WebAssembly runs one goroutine at a time
// and changes it only where Go code waits, which nothing does between filling
// the request and reading the reply; so one pair serves all goroutines, and a
// call allocates nothing for its transport.
var (
	request = make([]byte, 0, 4<<10)
	reply   [16 << 10]byte
	// offline answers calls here instead of at the host, while warming up.
	offline func(op uint32) []byte
)

// quiet is how many goroutines there are when nothing of the candidate's runs.
var quiet int

// Quiet says that the goroutines of now are all that do not belong to the candidate.
func Quiet(goroutines int) { quiet = goroutines }

// Yield lets other goroutines run, and those that they wake, up to n times; less
// often when after one time there is nobody left to run. A goroutine that a timer
// starts has run by then: the scheduler looks at its timers first.
func Yield(n int) {
	for range n {
		runtime.Gosched()
		if runtime.NumGoroutine() <= quiet {
			return
		}
	}
}

// Offline answers every call by answer instead of at the host while f runs: for
// what warms the process up.
func Offline(answer func(op uint32) []byte, f func()) {
	offline = answer
	defer func() { offline = nil }()
	f()
}

// Call sends the request of op, if write is not nil, and returns the reply,
// which is valid until the next call.
func Call(op uint32, write func([]byte) []byte) *abi.Reader {
	request = request[:0]
	if write != nil {
		request = write(request)
	}
	if offline != nil {
		return abi.NewReader(offline(op))
	}
	n := hostCall(op, unsafe.Pointer(unsafe.SliceData(request)), uint32(len(request)), unsafe.Pointer(&reply), uint32(len(reply)))
	if int(n) <= len(reply) {
		return abi.NewReader(reply[:n])
	}
	// Rare, so the larger buffer is not kept: it would live in every snapshot.
	large := make([]byte, n)
	n = hostCall(abi.OpMore, unsafe.Pointer(&reply), 0, unsafe.Pointer(unsafe.SliceData(large)), n)
	return abi.NewReader(large[:n])
}
