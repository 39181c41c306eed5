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

// leaked ends the schedule: a goroutine made a call after the function had
// returned, so the offset of unfinished work may be committed.
func (r *run) leaked(l *lane, q request) {
	l.current.end("returned before its work was done")
	text, file, line := "a call", "", 0
	if e, err := readEffect(q); err == nil {
		text, file, line = label(e), e.position().File, e.position().Line
	}
	text = fmt.Sprintf("After %s had returned, a goroutine that it had started went on with %s.", l.current.function(), text)
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
// never committed, or another function answered an error each time.
func (r *run) stuck(l *lane, w *work) {
	what, object := w.what(r.set)
	text := fmt.Sprintf("%s was called %d times and returned an error each time. The last one: ", what, w.attempt-1)
	if len(w.deliveries) > 0 {
		text = fmt.Sprintf("%s was delivered %d times and its offset was never committed. The last error of %s: ", what, w.attempt-1, w.function())
		if r.sub.exercise.Entry == "offsets" {
			text = fmt.Sprintf("%s was delivered %d times and never got through. The last error of %s: ", what, w.attempt-1, w.function())
		}
	}
	text += sentence(ledger.Shorten(r.lastError, 200))
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

// restless ends the schedule: Relay has sent something in every call.
func (r *run) restless(l *lane) {
	text := fmt.Sprintf("Relay was called %d times and sent something each time: it does not come to rest.", maxRelays(r.set)+1)
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Limit, Text: text, Decisive: true})
	r.out.problem = &problem{kind: verdict.Stuck, text: text}
}
