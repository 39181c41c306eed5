package sandbox

import (
	"bytes"
	"slices"
)

// maxCrash bounds what is kept of a crash report, in bytes. A report lists every
// goroutine, and printing them all would take longer than a call may.
const maxCrash = 32 << 10

// output keeps what a guest writes to its standard streams.
type output struct {
	limit          int
	stdout, stderr []byte
	// crash is what was written since the last header of a report, with a limit
	// of its own: the handler may have used up that of the stream before.
	crash []byte
	state reportState
}

type reportState int

const (
	noReport  reportState = iota
	headed                // a header was written, by the runtime or by the handler
	reporting             // Go's runtime is writing stacks: the process is dying
)

// written says how a write went.
type written int

const (
	kept     written = iota
	overflow         // the stream is full
	enough           // the process is dying, and the rest of its report is not needed
)

// reset starts with what the package initialisation wrote.
func (o *output) reset(stdout, stderr []byte) {
	o.stdout, o.stderr = bytes.Clone(stdout), bytes.Clone(stderr)
	o.crash, o.state = nil, noReport
}

// write appends p to a stream and reports whether it fitted. What fits of p is
// kept in any case.
func (o *output) write(stream *[]byte, p []byte) written {
	n := min(len(p), o.limit-len(*stream))
	*stream = append(*stream, p[:n]...)
	if n < len(p) {
		return overflow
	}
	return kept
}

func (o *output) writeStdout(p []byte) written { return o.write(&o.stdout, p) }

func (o *output) writeStderr(p []byte) written {
	o.follow(p)
	result := o.write(&o.stderr, p)
	if o.state == noReport {
		return result
	}
	n := min(len(p), maxCrash-len(o.crash))
	o.crash = append(o.crash, p[:n]...)
	switch {
	case n == len(p):
		return kept
	case o.state == reporting:
		return enough
	default:
		return result
	}
}

// follow recognises a report while it is written. Go's runtime writes each
// piece by itself, so a header is the start of a write and the beginning of the
// stacks a write of its own. A header within a report is the report's: a panic
// raised by a deferred function, or a failure to print a stack.
func (o *output) follow(p []byte) {
	nested := o.state == headed && bytes.HasSuffix(o.crash, []byte("\t"))
	isHeader := slices.ContainsFunc(crashHeaders, func(h string) bool { return bytes.HasPrefix(p, []byte(h)) })
	switch {
	case isHeader && !nested && o.state != reporting:
		o.crash, o.state = o.crash[:0], headed
	case o.state == headed && slices.Contains(stackHeaders, string(p)):
		o.state = reporting
	}
}
