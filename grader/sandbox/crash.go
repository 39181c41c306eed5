package sandbox

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// crashHeaders begin a report of Go's runtime. The last is followed by a fatal
// error; it says which limit was hit.
var crashHeaders = []string{"panic: ", "fatal error: ", "runtime: "}

// stackHeaders begin the stacks of a report, each in a write of its own.
var stackHeaders = []string{"goroutine ", "\nruntime stack:\n"}

// candidatePackage is the import path under which a submission is compiled.
const candidatePackage = "redeliver/handler"

// sourceLine matches the second line of a frame in a file of the candidate. The
// path is short when compiled with -trimpath; without it, it begins elsewhere.
var sourceLine = regexp.MustCompile(`(?m)^\t(?:\S*/)?` + candidatePackage + `/([^/\s:]+\.go):(\d+)`)

// unknownValue is a panic with a value that the runtime cannot print; it shows
// the address, which tells nobody anything.
var unknownValue = regexp.MustCompile(`^panic: \((.+)\) 0x[0-9a-f]+`)

// maxMessage bounds the first line of a panic in a sentence, in bytes.
const maxMessage = 300

// crash is a report of Go's runtime, taken apart.
type crash struct {
	message string // "panic: boom", "fatal error: all goroutines are asleep - deadlock!"
	file    string // first frame in the candidate's files
	line    int
	// growing says that it happened while the stack of a goroutine grew.
	growing bool
}

// parseCrash reads a report, and says false when b does not hold one.
func parseCrash(b []byte) (crash, bool) {
	text := strings.ToValidUTF8(string(b), "\uFFFD")
	head, _, _ := strings.Cut(text, "\n"+stackHeaders[0])
	head, _, _ = strings.Cut(head, stackHeaders[1])
	c := crash{message: lastPanic(head), growing: strings.Contains(text, "\nruntime.copystack(")}
	if c.message == "" {
		return crash{}, false
	}
	if m := sourceLine.FindStringSubmatch(text); m != nil {
		c.file = m[1]
		c.line, _ = strconv.Atoi(m[2]) // digits by the expression; too many of them: no line
	}
	return c, true
}

// lastPanic returns the first line of the message that ended the process. When
// a deferred function panicked again, that is the last "panic: " of the report,
// which is indented like the continuation lines of a message: only the header
// tells them apart.
func lastPanic(head string) string {
	message := ""
	for line := range strings.Lines(head) {
		line = strings.TrimRight(strings.TrimLeft(line, "\t"), "\n")
		if strings.HasPrefix(line, crashHeaders[0]) || strings.HasPrefix(line, crashHeaders[1]) {
			message = line
		}
	}
	return shorten(unknownValue.ReplaceAllString(message, "panic: a value of type $1"), maxMessage)
}

// shorten cuts s between two characters.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// reason classifies what the runtime said.
func (c crash) reason() Reason {
	fatal, ok := strings.CutPrefix(c.message, crashHeaders[1])
	switch {
	case !ok:
		return Panic
	case fatal == "stack overflow", c.growing && strings.Contains(fatal, "out of memory"):
		return Recursion
	case strings.Contains(fatal, "out of memory"):
		return Memory
	case strings.Contains(fatal, "deadlock!"):
		return Deadlock
	default:
		return Panic
	}
}

// at appends the candidate's place to a text, before its full stop.
func (c crash) at(text string) string {
	if c.file == "" {
		return text
	}
	place := fmt.Sprintf(" (%s:%d)", c.file, c.line)
	if body, ok := strings.CutSuffix(text, "."); ok && c.reason() != Panic {
		return body + place + "."
	}
	return text + place
}

// In the names of WebAssembly functions Go replaces what is neither a letter, a
// digit nor a point by an underscore.
var (
	wasmFrame  = regexp.MustCompile(`(?m)^\t\.redeliver_handler\.([\w.]+)\(`)
	wasmMethod = regexp.MustCompile(`^__(\w+)_\.`)
)

// candidateFunction returns the topmost function of the candidate in a stack of
// WebAssembly functions: "settle", "(*Ledger).settle", "Handle.func1".
func candidateFunction(stack string) string {
	m := wasmFrame.FindStringSubmatch(stack)
	if m == nil {
		return ""
	}
	return wasmMethod.ReplaceAllString(m[1], "(*$1).")
}
