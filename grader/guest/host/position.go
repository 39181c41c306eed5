//go:build wasip1

package host

import (
	"path"
	"runtime"
	"strings"

	"redeliver/grader/guest/abi"
)

// candidatePackage is the import path of a submission; the names of its
// functions begin with it and a dot.
const candidatePackage = "redeliver/handler."

// lines finds the candidate's lines in this process.
var lines = positions{lines: map[uintptr]abi.Position{}}

// NoPositions says whether Position shall answer zero, which is quicker.
func NoPositions(off bool) { lines.off = off }

// Position returns the innermost line of the candidate's on this goroutine's
// stack, the cause of an effect. The function that calls it must not be the
// candidate's.
func Position() abi.Position { return lines.find() }

// positions finds the lines of effects. In an interpreter that is expensive:
// to unwind the stack takes 0.4 ms, to look up every frame of it another 1 ms,
// six times in a usual delivery of 5 ms. So frames are looked up once, those of
// other packages only by the function's name, and a host that needs no lines says
// so with the record. Most do not, so the warm-up looks nothing up.
type positions struct {
	off bool
	// others are functions that are not the candidate's, by index. An address
	// is in WebAssembly the index of a function and, in the low 16 bits, a
	// block in it.
	others [1 << 14]bool
	// lines has the other addresses that were seen. The zero Position is what
	// was inlined into the candidate's function from another package.
	lines map[uintptr]abi.Position
}

// find looks at the stack above its caller's caller.
func (p *positions) find() abi.Position {
	if p.off {
		return abi.Position{}
	}
	var pcs [16]uintptr
	// Skip runtime.Callers, find, Position and the function that called it.
	for skip := 4; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for _, pc := range pcs[:n] {
			if at := p.line(pc); at.Line > 0 {
				return at
			}
		}
		if n < len(pcs) {
			return abi.Position{}
		}
	}
}

// line returns the candidate's line at an address, or the zero Position.
func (p *positions) line(pc uintptr) abi.Position {
	function := pc >> 16
	small := function < uintptr(len(p.others))
	if small && p.others[function] {
		return abi.Position{}
	}
	if at, ok := p.lines[pc]; ok {
		return at
	}
	// The name of a function at its entry is found at once, a line only by
	// decoding a table up to it. Nothing of the candidate's is inlined into a
	// function of another package: those are compiled before it.
	if small && !strings.HasPrefix(runtime.FuncForPC(function<<16).Name(), candidatePackage) {
		p.others[function] = true
		return abi.Position{}
	}
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	var at abi.Position
	if strings.HasPrefix(frame.Function, candidatePackage) {
		at = abi.Position{File: path.Base(frame.File), Line: frame.Line}
	}
	p.lines[pc] = at
	return at
}
