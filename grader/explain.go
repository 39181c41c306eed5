package grader

import (
	"fmt"
	"slices"
	"strings"

	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// story is how a failure came about, told from the trace.
type story struct {
	name string // of the template; "" for the general sentences
	// short follows the message in the verdict's one sentence; without capital
	// and full stop.
	short string
	text  string // two to four sentences
	acts  []*act // the decisive ones
	steps []int  // other decisive steps of the timeline
	// key tells apart stories of one template: the calls that they are about.
	key string
}

// template tells a story, or nil when the trace does not show all of it.
type template func(e *evidence) *story

// explain picks the first template that fits. Templates that claim more come
// first; when none fits, the general sentences say only what the schedule did.
func explain(r *result, f failure) story {
	e := newEvidence(r, f)
	for _, t := range templatesFor(r, f) {
		if s := t(e); s != nil {
			return *s
		}
	}
	return general(r, f)
}

func templatesFor(r *result, f failure) []template {
	switch {
	case r.problem != nil && f.kind == verdict.Stuck:
		return []template{stuck}
	case r.problem != nil && f.kind == verdict.Crash:
		return []template{panicked}
	case r.problem != nil && f.kind == verdict.Leaked:
		return []template{leaked}
	case r.problem != nil:
		return nil
	case f.kind == verdict.Lost:
		return []template{
			lostUpdate, positionAhead, positionTooFar, markedBeforeSent, sendRefused, queueGone,
			neverCommitted, errorSwallowed, undone, doneTwice, removed, batchTakenForDone, restOfBatch, takenForDone, committedAhead, rememberedAsDone, nothingWritten,
		}
	case f.kind == verdict.Duplicate:
		return []template{
			lostUpdate, chargedWithTwoKeys, eventIDsDiffer, twiceInBatch, keyDeleted, leaseExpired, keyExpired, positionBehind, lateInstance,
			ambiguousAnswer, checkThenAct, expiredKey, markDeleted, answerIgnored, keysDiffer, markerMissing, markReplaced, unguarded,
		}
	case f.kind == verdict.Misordered:
		return []template{staleWrite, olderOver}
	default:
		return nil
	}
}

// general says what the schedule did and what followed, for what no template
// fits.
func general(r *result, f failure) story {
	if r.problem != nil {
		return problemStory(r)
	}
	cause := causeOf(r)
	if cause == "" {
		text := "it happens without any fault"
		s := story{short: text, text: capital(text) + ".", acts: outermost(r, f)}
		if r.entry != consumerEntry || !r.askedAgain() {
			s.text = capital(text) + ": " + askedOnce(r, f) + "."
		}
		return s
	}
	all := cause + consequence(r, f.kind)
	return story{short: all, text: capital(all) + ".", acts: outermost(r, f)}
}

// askedOnce says what happened where nothing went wrong.
func askedOnce(r *result, f failure) string {
	switch r.entry {
	case "offsets":
		return "each record was delivered once"
	case producerEntry:
		if f.kind == verdict.Lost && len(newEvidence(r, f).sends()) == 0 {
			return "Publish returned nil, and no record of this event was on its way by then or later"
		}
		return "Publish was called once for each event and returned nil"
	default:
		return "each record was delivered once and its offset committed"
	}
}

// problemStory is that of a limit: the message says it, and the cause when there
// is one.
func problemStory(r *result) story {
	key := r.problem.file + ":" + r.problem.text
	if cause := causeOf(r); cause != "" {
		return story{text: "Before that, " + cause + ".", key: key}
	}
	return story{key: key}
}

// outermost are the first and the last call that changed a row of the object.
func outermost(r *result, f failure) []*act {
	about := slices.DeleteFunc(actsOf(r), func(a *act) bool { return !a.mentions(f.object) })
	if f.object == "" || len(about) == 0 {
		return nil
	}
	return slices.Compact([]*act{about[0], about[len(about)-1]})
}

// marked is the trace with the decisive steps of a story beside the faults.
func marked(r *result, s story) []verdict.Step {
	steps := slices.Clone(r.steps)
	mark := slices.Clone(s.steps)
	for _, a := range s.acts {
		mark = append(mark, a.step)
	}
	for i := range steps {
		steps[i].Decisive = steps[i].Decisive || slices.Contains(mark, steps[i].Step)
	}
	return steps
}

// again says, as a sentence, why the record of a second delivery came once more.
func (e *evidence) again(first, second *delivery) string {
	switch {
	case first.Offset != second.Offset:
		return "The producer lost an acknowledgement and sent the record again, so the same event stands in the log at two offsets."
	case e.together() && steadyLane(first.Instance) != steadyLane(second.Instance):
		return "The partition moved while the record was in hand, so both A and B handled it."
	}
	var how string
	switch {
	case strings.HasPrefix(first.Ended, "crashed"):
		how = e.death(first)
	case first.Ended == "returned an error":
		how = e.function() + " returned an error"
	case e.schedule.Has(schedule.Rewind) && first.Ended == "committed":
		how = "The group was put back to offset 0"
	case strings.HasPrefix(first.Ended, "handled; the offset commit"):
		how = "The offset commit was not stored"
	case strings.HasPrefix(first.Ended, "finished after its partition had moved"):
		how = "The offset commit was refused, because the partition had moved"
	default:
		return ""
	}
	return how + ", so " + e.cameAgain(first, second) + e.passed() + "."
}

// cameAgain says what came again: a record, or the batch that it was in.
func (e *evidence) cameAgain(first, second *delivery) string {
	a, b := e.turnOf(first), e.turnOf(second)
	if len(a.deliveries) == 1 && len(b.deliveries) == 1 {
		return "the record came again"
	}
	text := "the batch came again"
	if len(a.deliveries) != len(b.deliveries) {
		text = fmt.Sprintf("the records of the batch came again, now in a batch of %d and not of %d", len(b.deliveries), len(a.deliveries))
	}
	if done := e.doneIn(a); done > 0 && done < len(a.deliveries) && len(b.deliveries) > 1 {
		text += fmt.Sprintf(", although %d of its %d records had been done", done, len(a.deliveries))
	}
	return text
}

// passed says how much time went by before a record came again.
func (e *evidence) passed() string {
	switch {
	case e.schedule.Has(schedule.JumpWeek):
		return ", 8 days later"
	case e.schedule.Has(schedule.JumpDay):
		return ", 25 hours later"
	}
	if by := expired(e.steps); by != "" {
		return ", " + by + " later"
	}
	return ""
}

// death says where the process of a delivery died, as the beginning of a sentence.
func (e *evidence) death(d *delivery) string {
	for _, s := range e.steps {
		if s.Event == trace.Crash && s.Lane == d.Instance && s.Step > d.step {
			text, _, _ := strings.Cut(s.Text, ". ")
			if place, ok := strings.CutPrefix(strings.TrimSuffix(text, "."), s.Lane+" dies"); ok {
				return "The process died" + place
			}
		}
	}
	return "The process died"
}

// sentences joins those that are not empty.
func sentences(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// keyOf names the calls of a story, for comparing.
func keyOf(acts ...*act) string {
	var labels []string
	for _, a := range acts {
		labels = append(labels, a.label)
	}
	return strings.Join(labels, " ")
}
