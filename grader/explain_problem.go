package grader

import (
	"fmt"
	"slices"
	"strings"

	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// stuck: each delivery of a record ends with an error.
func stuck(e *evidence) *story {
	var last *delivery
	for _, d := range slices.Backward(e.deliveries) {
		if ret := e.returnOf(d); ret != nil && strings.HasPrefix(ret.Text, e.function()+" returns an error") {
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
	all := e.inTurn(e.turnOf(last))
	failed := lastOf(all, func(a *act) bool { return a.failed && a.verb != "ROLLBACK" })
	if failed == nil {
		failed = lastOf(all, func(a *act) bool { return a.asks() || a.refused() })
	}
	if failed != nil {
		s.acts, s.key = []*act{failed}, keyOf(failed)
		s.text = sentences(begin, fmt.Sprintf("Every later delivery ends at %s, which %s: %s returns an error, the offset is not committed, and the records behind it wait.",
			failed.label, failed.found(), e.function()))
	}
	return s
}

// panicked: what the process that panicked had done last.
func panicked(e *evidence) *story {
	s := &story{name: "panic", key: fmt.Sprintf("%s:%d", e.problem.file, e.problem.line)}
	begin := ""
	if cause := causeOf(e.result); cause != "" {
		begin = capital(cause) + "."
	}
	s.text = begin
	panics := slices.IndexFunc(e.steps, func(s verdict.Step) bool { return s.Event == trace.Crash && s.Text == e.problem.text })
	if panics < 0 {
		return s
	}
	died := e.steps[panics]
	turn := 0 // at which its last call of the handler began
	for _, step := range e.steps[:panics] {
		if step.Lane == died.Lane && (step.Event == trace.Deliver || calledIn(step) != "") {
			turn = step.Step
		}
	}
	end := "A panic ends the process, and the record comes again to the next one."
	last := lastOf(e.acts, func(a *act) bool {
		return a.lane == died.Lane && a.step > turn && a.step < died.Step && a.verb != "ROLLBACK"
	})
	if last == nil {
		s.text = sentences(begin, fmt.Sprintf("%s panicked before it made any call for this record.", died.Lane), end)
		return s
	}
	s.acts = []*act{last}
	s.text = sentences(begin, fmt.Sprintf("The last call before the panic was %s%s.", last.label, last.which()), end)
	return s
}

// leaked: Handle had returned, so the consumer may commit the offset.
func leaked(e *evidence) *story {
	s := &story{name: "leak", key: fmt.Sprintf("%s:%d", e.problem.file, e.problem.line)}
	s.text = "Once " + e.function() + " has returned nil, the consumer commits the offset. When the process dies then, the work that was left to the goroutine is lost."
	if strings.HasPrefix(e.problem.text, "After Relay ") {
		s.text = "Once Relay has returned nil, what it had to send counts as sent. When the process dies then, the work that was left to the goroutine is lost."
	}
	for _, step := range e.steps {
		if step.Event == trace.Return {
			s.steps = []int{step.Step}
		}
	}
	return s
}
