package grader

import (
	"context"
	"fmt"
	"time"

	"redeliver/grader/guest/abi"
	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// publishing is the entry producer: a caller that wants each event of the set
// published and calls Publish for one after the other until it has heard nil. What it
// did not hear, because the process died, stands still or the answer got lost, it
// asks for again. It is no model of a caller with a time-out of its own: a process
// that stands still is given up at once.
type publishing struct {
	heard map[string]bool // by event: it is published
	left  map[*lane]bool  // nobody waits for an answer any more
}

func newPublishing() *publishing {
	return &publishing{heard: map[string]bool{}, left: map[*lane]bool{}}
}

// callTime is when the context of Publish ends.
const callTime = 30 * time.Second

// next is the call for the first event that the caller has not heard of, and for
// which nobody is at work.
func (p *publishing) next(_ context.Context, r *run, l *lane) (*work, error) {
	for _, e := range r.eventsFor(r.schedule.Set) {
		o := r.other(l)
		if p.heard[e.ID] || o != nil && !p.left[o] && o.inHand() && o.current.deliveries[0].eventID == e.ID {
			continue
		}
		r.attempts[e.ID]++
		d := &delivery{eventID: e.ID, record: abi.Record{Key: e.Key}}
		d.Offset, d.Attempt, d.Instance = verdict.NoOffset, r.attempts[e.ID], l.proc.name
		wait := backoff(d.Attempt)
		return &work{
			task:       abi.Task{Kind: abi.Publish, Key: string(e.Key), Deadline: r.clock.Now().Add(wait + callTime), NoPositions: !r.positions},
			deliveries: []*delivery{d}, attempt: d.Attempt, allowed: r.before[e.ID] + maxAttempts - 1,
		}, nil
	}
	return nil, nil //nolint:nilnil // everything is published
}

func (p *publishing) returned(_ *run, l *lane, w *work, failed bool) laneState {
	switch {
	case p.left[l]:
		w.end("returned after the caller had given up")
		return finished
	case failed:
		return idle
	default:
		return committing // to the caller: it hears of it
	}
}

func (p *publishing) started(l *lane) { delete(p.left, l) }

func (p *publishing) settle(*run) *lane { return nil }

// done says whether the caller has heard of everything.
func (p *publishing) done(r *run) bool {
	for _, e := range r.eventsFor(r.schedule.Set) {
		if !p.heard[e.ID] {
			return false
		}
	}
	return true
}

// callerHears is what follows a call that returned nil: the caller hears of it.
const callerHears = "the answer to the caller"

// answerCaller lets the caller hear that an event is published, unless the schedule
// loses that.
func (c *clientRun) answerCaller(l *lane) {
	w := l.current
	d := w.deliveries[0]
	eff := done{label: callerHears, event: trace.Return, instance: l.proc.name, attempt: w.attempt, sure: true, offset: true, Step: c.stepOf(l)}
	step := verdict.Step{Lane: l.proc.name, Event: trace.Return, Text: fmt.Sprintf("The caller hears that %s is published.", nameOf(c.set.events[d.eventID]))}
	if c.take(schedule.Fail) {
		eff.fault = schedule.Fail
		step.Event, step.Decisive = trace.Fault, true
		step.Text = "The answer does not reach the caller, who calls again."
		w.end("returned nil; the caller did not hear of it")
	} else {
		c.publishing.heard[d.eventID] = true
		w.end("returned nil")
	}
	c.rec.Add(step)
	eff.step = c.rec.Last().Step
	c.out.effects = append(c.out.effects, eff)
	l.state = idle
}
