package grader

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// tell makes a finding that a reader understands alone.
func (x *explorer) tell(phase string, r *result, f failure, s story) verdict.Finding {
	return verdict.Finding{
		Kind: f.kind, Invariant: f.invariant, Object: f.object, Phase: phase, Database: r.schedule.Database,
		Message: f.message, Explanation: s.text, Deliveries: deliveriesOf(r, f),
		Schedule: x.sub.token(r.schedule), Trace: marked(r, s), File: f.file, Line: f.line,
	}
}

// deliveriesOf lists the deliveries of an object's records; all of them when
// nothing ties the object to a record.
func deliveriesOf(r *result, f failure) []verdict.Delivery {
	var about, all []verdict.Delivery
	for _, d := range r.deliveries {
		all = append(all, d.Delivery)
		if r.set.isAbout(d.eventID, f.field, f.object) {
			about = append(about, d.Delivery)
		}
	}
	if about == nil {
		return all
	}
	return about
}

// causeOf is what the schedule did to the handler, as the beginning of a
// sentence; empty when it did nothing.
func causeOf(r *result) string {
	s := r.schedule
	var parts []string
	if s.Phase == schedule.Cluster {
		return groupCause(r)
	}
	if s.Set == schedule.Copy || s.Set == schedule.Copies {
		parts = append(parts, "the producer lost an acknowledgement and sent the record again, so the same event stands in the log at two offsets")
	}
	switch {
	case s.Has(schedule.Rebalance) && r.entry == consumerEntry:
		parts = append(parts, "A stood still, and its heartbeats with it, so its partition moved to B; then A went on where it had stopped")
	case s.Has(schedule.Rebalance) && r.entry == producerEntry:
		parts = append(parts, "A stood still, the caller gave it up and called B, and A went on later")
	case s.Has(schedule.Join):
		parts = append(parts, "B started while A took "+stall.String())
	case s.Has(schedule.Rebalance):
		parts = append(parts, "the partition moved to B while A was handling the record, and both went on")
	}
	if s.Set == schedule.Two && s.Has(schedule.Switch) {
		parts = append(parts, "A and B handled two records at the same time")
	}
	for _, e := range r.effects {
		switch {
		case e.fault == schedule.Fail && e.label == callerHears:
			parts = append(parts, "the answer did not reach the caller, who called again")
		case e.fault == schedule.Fail && e.offset:
			parts = append(parts, "the offset commit was not stored, so the record came again")
		case e.fault == schedule.Fail:
			parts = append(parts, e.label+" answered an error and nothing was done")
		case e.fault == schedule.Lose && e.offset:
			parts = append(parts, "the answer to the offset commit was lost")
		case e.fault == schedule.Lose:
			parts = append(parts, e.label+" took place, but its answer was lost and the handler saw an error")
		}
	}
	for _, step := range r.steps {
		if step.Event == trace.Crash && r.problem == nil || step.Event == trace.Crash && !strings.HasPrefix(step.Text, "panic") {
			text, _, _ := strings.Cut(step.Text, ". ")
			parts = append(parts, strings.Replace(strings.TrimSuffix(text, "."), step.Lane+" dies", step.Lane+" died", 1))
		}
	}
	if s.Has(schedule.JumpDay) {
		parts = append(parts, "25 hours passed")
	}
	if s.Has(schedule.JumpWeek) {
		parts = append(parts, "8 days passed")
	}
	if by := expired(r.steps); by != "" {
		parts = append(parts, by+" passed, so the keys in Redis expired")
	}
	if s.Has(schedule.Rewind) {
		parts = append(parts, "the group was put back to offset 0")
	}
	return strings.Join(parts, "; ")
}

// expired is the time that passed so that keys in Redis expired; see run.jump.
func expired(steps []verdict.Step) string {
	for _, s := range steps {
		if by, ok := strings.CutSuffix(s.Text, " pass, so the keys in Redis expire."); ok && s.Event == trace.Fault {
			return by
		}
	}
	return ""
}

// groupCause is what happened to the members of a group, from the trace.
func groupCause(r *result) string {
	var parts []string
	for _, step := range r.steps {
		if step.Event == trace.Fault || step.Event == trace.Crash && !strings.HasPrefix(step.Text, "panic") {
			text, _, _ := strings.Cut(step.Text, ". ")
			if text = lower(strings.TrimSuffix(text, ".")); !slices.Contains(parts, text) {
				parts = append(parts, text)
			}
		}
	}
	return strings.Join(parts[:min(len(parts), 3)], "; ")
}

// consequence is what the handler then did, by the kind of violation.
func consequence(r *result, kind verdict.Kind) string {
	again := again(r)
	switch {
	case r.entry == producerEntry && r.askedAgain():
	case r.schedule.Has(schedule.Rebalance) || r.schedule.Set == schedule.Two:
		return map[verdict.Kind]string{
			verdict.Duplicate: "; both did the work",
			verdict.Lost:      "; at the end a part of the work is missing",
		}[kind]
	case r.schedule.Set == schedule.Copy || r.schedule.Set == schedule.Copies:
		again = "the second delivery"
	case !r.askedAgain():
		return map[verdict.Kind]string{verdict.Lost: "; " + passedAllTheSame(r)}[kind]
	}
	switch kind {
	case verdict.Duplicate:
		return "; " + again + " did the work again"
	case verdict.Lost:
		return "; " + again + " did not make up for what is missing"
	case verdict.Misordered:
		return "; " + again + " put an older state over a newer one"
	default:
		return ""
	}
}

// again names the second time that the submission was asked for the same.
func again(r *result) string {
	if r.entry == producerEntry {
		return "the second call"
	}
	return "the redelivery"
}

// onceMore begins a sentence about it.
func onceMore(r *result) string {
	if r.entry == producerEntry {
		return "In the second call"
	}
	return "On redelivery"
}

// passedAllTheSame is why nothing brings a record again whose work is not done.
func passedAllTheSame(r *result) string {
	switch r.entry {
	case consumerEntry:
		return "its offset was committed all the same, so the record never came again"
	case producerEntry:
		return "Publish returned nil all the same, so the caller did not call again"
	default:
		return "the handler returned nil all the same, so the record never came again"
	}
}

// summaryOf is the verdict in one sentence: what is wrong, and how it came about.
func summaryOf(message, short string) string {
	message = strings.TrimSuffix(message, ".")
	switch {
	case short == "":
		return message + "."
	case strings.Contains(message, ": "):
		return message + "; " + lower(short) + "."
	default:
		return message + ": " + lower(short) + "."
	}
}

// passedSummary is the sentence of a verdict without a finding. outside counts the
// schedules that met what the model of a database cannot tell.
func passedSummary(v verdict.Verdict, outside int) string {
	if v.Replay != nil {
		return "This schedule shows no violation. It was the only one that ran."
	}
	if outside > 0 {
		return fmt.Sprintf("No violation in %d schedules; %d more met something that the model of READ COMMITTED cannot tell. The coverage says what was looked at and what was not.",
			v.Schedules-outside, outside)
	}
	return fmt.Sprintf("No violation in %d schedules. The coverage says what was looked at and what was not.", v.Schedules)
}

func rejectedSummary(findings []verdict.Finding) string {
	f := findings[0]
	at := ""
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d: ", f.File, f.Line, f.Column)
	} else if f.File != "" {
		at = f.File + ": "
	}
	switch n := len(findings); {
	case n == 1:
		return at + f.Message
	case f.Kind == verdict.Compile:
		return fmt.Sprintf("The source does not compile: %d messages, the first %s%s", n, at, f.Message)
	default:
		return fmt.Sprintf("The source was not accepted: %d messages, the first %s%s", n, at, f.Message)
	}
}

func capital(s string) string { return mapFirst(s, unicode.ToUpper) }

// lower makes a sentence follow a colon. A name such as "A", "B2" or COMMIT stays
// as it is.
func lower(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	if second, _ := utf8.DecodeRuneInString(s[n:]); !unicode.IsLower(second) {
		return s
	}
	word, _, _ := strings.Cut(s, " ")
	if slices.Contains([]string{"Handle", "HandleBatch", "StartOffset", "Relay", "Run", "Publish"}, word) {
		return s
	}
	return mapFirst(s, unicode.ToLower)
}

func mapFirst(s string, f func(rune) rune) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(f(r)) + s[n:]
}
