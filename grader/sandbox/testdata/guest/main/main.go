//go:build wasip1

// The guest of the sandbox's tests. Its first host call of a delivery asks what
// to do; package handler does it, under the import path of a real submission.
package main

import (
	"runtime"

	"redeliver/handler"
)

//go:wasmexport handle
func handle() { handler.Handle() }

//go:wasmexport drain
func drain() {
	for range 8 {
		runtime.Gosched()
	}
}

func main() {}
