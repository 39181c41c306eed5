package grader

import (
	"fmt"
	"strings"

	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// committedAhead: a submission that commits by itself let the group's offset go past
// a record of which nothing is durable. The sentences say what came first, the
// commit or what kept the work from being done.
func committedAhead(e *evidence) *story {
	for _, d := range e.deliveries {
		if !e.about(d) || d.passed == 0 || len(e.keptIn(d)) > 0 {
			continue
		}
		s := &story{name: "committed ahead", steps: []int{d.passed}}
		commit := e.commitOf(d)
		s.key = commit
		stored := fmt.Sprintf("%s stored offset %d", commit, d.offset)
		said := fmt.Sprintf(": for the group everything before that is done, also the record at offset %d", d.Offset)
		failed := lastOf(e.of(d), func(a *act) bool { return a.failed && a.verb != "ROLLBACK" })
		died := e.deathOf(d)
		switch {
		case failed != nil && failed.step < d.passed:
			s.acts = []*act{failed}
			s.short = fmt.Sprintf("%s answered an error, and its offset was committed all the same", failed.label)
			s.text = sentences(fmt.Sprintf("%s answered %q.", capital(failed.label), failed.errorText()), noRefusal(failed),
				"After that "+stored+" all the same"+said+", and it never came again.")
		case failed != nil:
			s.acts = []*act{failed}
			s.short = fmt.Sprintf("its offset was committed before the work was done; then %s answered an error, and the record never came again", failed.label)
			s.text = sentences(capital(stored)+" first"+said+", of which nothing was.",
				fmt.Sprintf("Then %s answered %q, and the record never came again.", failed.label, failed.errorText()))
		case died != nil && died.Step > d.passed:
			place, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(died.Text, "."), died.Lane+" dies"), ". ")
			s.steps = append(s.steps, died.Step)
			s.short = fmt.Sprintf("its offset was committed before the work was done; then %s died%s, and the record never came again", died.Lane, place)
			s.text = sentences(capital(stored)+" first"+said+", of which nothing was.",
				fmt.Sprintf("Then %s died%s. The next process begins at the committed offset, so the record never came again.", died.Lane, place))
		default:
			s.short = "its offset was committed, although nothing of its work had become durable, so the record never came again"
			s.text = capital(stored) + said + "; but nothing of its work had become durable, and it never came again."
		}
		return s
	}
	return nil
}

// commitOf names what moved the group's offset past a delivery: a call of the
// submission, or its client.
func (e *evidence) commitOf(d *delivery) string {
	for _, eff := range e.effects {
		if eff.step == d.passed && eff.offset {
			return eff.label
		}
	}
	return "the client of " + d.Instance + ""
}

// deathOf is where the process of a delivery died; nil when it did not.
func (e *evidence) deathOf(d *delivery) *verdict.Step {
	for i, s := range e.steps {
		if s.Event == trace.Crash && s.Lane == d.Instance && s.Step > d.step {
			return &e.steps[i]
		}
	}
	return nil
}
