package grader

import (
	"fmt"
	"slices"
	"strings"

	"redeliver/grader/trace"
)

// stuck: each delivery of a record ends with an error.
func stuck(e *evidence) *story {
	var last *delivery
	for _, d := range slices.Backward(e.deliveries) {
		if ret := e.returnOf(d); ret != nil && strings.HasPrefix(ret.Text, "Handle returns an error") {
			last = d
			break
		}
	}
	if last == nil {
		return nil
	}
	s := &story{name: "stuck", key: e.problem.text}
	begin := ""
	if cause := causeOf(e.result); cause != "" {
		begin = capital(cause) + "."
	}
	s.text = sentences(begin, "Every later delivery ends with the same error, so the offset is never committed and the records behind it wait.")
	failed := lastOf(e.of(last), func(a *act) bool { return a.failed && a.verb != "ROLLBACK" })
	if failed == nil {
		failed = lastOf(e.of(last), func(a *act) bool { return a.asks() || a.refused() })
	}
	if failed != nil {
		s.acts, s.key = []*act{failed}, keyOf(failed)
		s.text = sentences(begin, fmt.Sprintf("Every later delivery ends at %s, which %s: Handle returns an error, the offset is not committed, and the records behind it wait.",
			failed.label, failed.found()))
	}
	return s
}

// panicked: what the handler had done last.
func panicked(e *evidence) *story {
	s := &story{name: "panic", key: fmt.Sprintf("%s:%d", e.problem.file, e.problem.line)}
	begin := ""
	if cause := causeOf(e.result); cause != "" {
		begin = capital(cause) + "."
	}
	if len(e.acts) == 0 {
		s.text = begin
		return s
	}
	last := lastOf(e.acts, func(a *act) bool { return a.verb != "ROLLBACK" })
	if last == nil {
		s.text = begin
		return s
	}
	s.acts = []*act{last}
	s.text = sentences(begin, fmt.Sprintf("The last call before the panic was %s%s.", last.label, last.which()),
		"A panic ends the process, and the record comes again to the next one.")
	return s
}

// leaked: Handle had returned, so the consumer may commit the offset.
func leaked(e *evidence) *story {
	s := &story{name: "leak", key: fmt.Sprintf("%s:%d", e.problem.file, e.problem.line)}
	s.text = "Once Handle has returned nil, the consumer commits the offset. When the process dies then, the work that was left to the goroutine is lost."
	for _, step := range e.steps {
		if step.Event == trace.Return {
			s.steps = []int{step.Step}
		}
	}
	return s
}
