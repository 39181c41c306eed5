package sandbox

import (
	"bytes"
	"slices"
)

// maxCrash bounds what is kept of a crash report; it lists every goroutine.
const maxCrash = 64 << 10

// output keeps what a guest writes to its standard streams.
type output struct {
	limit          int
	stdout, stderr []byte
	// crash is what Go's runtime printed since its last header, with maxCrash
	// as its own limit: a report may be long, and it must not be lost because
	// the handler had written much before.
	crash    []byte
	crashing bool
}

func (o *output) reset() {
	o.stdout, o.stderr, o.crash, o.crashing = nil, nil, nil, false
}

// write appends p to a stream and reports whether it fitted. What fits of p is
// kept in any case.
func (o *output) write(stream *[]byte, p []byte) bool {
	n := min(len(p), o.limit-len(*stream))
	*stream = append(*stream, p[:n]...)
	return n == len(p)
}

func (o *output) writeStdout(p []byte) bool { return o.write(&o.stdout, p) }

func (o *output) writeStderr(p []byte) bool {
	o.noteCrash(p)
	return o.write(&o.stderr, p) || o.crashing
}

// noteCrash relies on Go's runtime writing each piece of a report by itself, so
// that a header is the start of a write. A panic raised by a deferred function
// is printed after a tab and belongs to the report that has begun.
func (o *output) noteCrash(p []byte) {
	nested := o.crashing && bytes.HasSuffix(o.crash, []byte("\t"))
	isHeader := slices.ContainsFunc(crashHeaders, func(h string) bool { return bytes.HasPrefix(p, []byte(h)) })
	if isHeader && !nested {
		o.crash, o.crashing = o.crash[:0], true
	}
	if o.crashing {
		o.crash = append(o.crash, p[:min(len(p), maxCrash-len(o.crash))]...)
	}
}
