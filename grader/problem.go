package grader

import (
	"errors"
	"fmt"
	"strings"

	"redeliver/grader/ledger"
	"redeliver/grader/sandbox"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// leaked ends the schedule: a goroutine used the database after Handle had
// returned, so the offset of unfinished work may be committed.
func (r *run) leaked(l *lane, q request) {
	l.current.Ended = "returned before its work was done"
	text, file, line := "a call", "", 0
	if e, err := readEffect(q); err == nil {
		text, file, line = label(e), e.position().File, e.position().Line
	}
	text = fmt.Sprintf("After Handle had returned, a goroutine that it had started went on with %s.", text)
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Leak, Text: text, File: file, Line: line, Decisive: true})
	r.out.problem = &problem{kind: verdict.Leaked, text: text, file: file, line: line}
}

// limit ends the schedule with what stopped a process.
func (r *run) limit(l *lane, stop sandbox.Stop) {
	kind, ok := stop.Reason.Kind()
	if !ok {
		r.broken = errors.Join(r.broken, fmt.Errorf("the sandbox stopped the process: %s %s", stop.Reason, stop.Text))
		return
	}
	event := trace.Limit
	if kind == verdict.Crash {
		event = trace.Crash
	}
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: event, Text: stop.Text, File: stop.File, Line: stop.Line, Decisive: true})
	r.out.problem = &problem{kind: kind, text: stop.Text, file: stop.File, line: stop.Line, wall: stop.Reason == sandbox.Deadline}
}

// stuck ends the schedule: the record came again and again and its offset was
// never committed.
func (r *run) stuck(l *lane, d *delivery) {
	what := fmt.Sprintf("offset %d", d.Offset)
	object := ""
	if e, ok := r.set.events[d.eventID]; ok {
		what, object = nameOf(e), nameOf(e)
	}
	text := fmt.Sprintf("%s was delivered %d times and its offset was never committed. The last error of Handle: %s", what, maxAttempts,
		sentence(ledger.Shorten(l.proc.last.result.Text, 200)))
	if r.refused != "" {
		text += " " + r.refused
	}
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Limit, Text: text, Decisive: true})
	r.out.problem = &problem{kind: verdict.Stuck, text: text, object: object}
}

// sentence ends a text with a full stop.
func sentence(s string) string {
	if s == "" {
		return "it has no text."
	}
	return strings.TrimRight(s, ".") + "."
}
