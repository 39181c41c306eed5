package grader

import (
	"errors"
	"fmt"

	"redeliver/grader/guest/abi"
	"redeliver/grader/ledger"
	"redeliver/grader/ledger/readcommitted"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// waitsFor names the process whose transaction an instance's statement waits
// for; "" when it does not wait, or not any longer.
func (r *run) waitsFor(l *lane) string {
	if l.state != atEffect {
		return ""
	}
	return r.ledger.Holder(l.proc.name)
}

func isWaiting(err error) bool {
	var waiting *readcommitted.Waiting
	return errors.As(err, &waiting)
}

// unanswered goes on after a statement that got no answer. One that waits is
// performed again when the scheduler next picks its instance, which is not before
// the lock is free.
func (r *run) unanswered(l *lane, at abi.Position, err error) error {
	var (
		limit   *ledger.LimitError
		waiting *readcommitted.Waiting
		outside *readcommitted.Outside
	)
	switch {
	case errors.As(err, &waiting):
		step := r.rec.Last()
		step.Event, step.Decisive = trace.Wait, true
		step.Text += fmt.Sprintf(" → waits: a transaction of %s has locked %s", waiting.For.Name(), waiting.Key)
		return nil
	case errors.As(err, &outside):
		r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Limit, Text: capital(outside.Error()) + ". Nothing can be concluded from this schedule."})
		r.out.outside = outside.Reason
		return nil
	case errors.As(err, &limit):
		l.proc.kill()
		l.current.Ended = "was stopped"
		r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Limit, Text: limit.Text, File: at.File, Line: at.Line})
		r.out.problem = &problem{kind: verdict.Timeout, text: limit.Text, file: at.File, line: at.Line, wall: true}
		return nil
	default:
		return err
	}
}

// lockedUp ends the schedule when a statement waits and nobody is left who could
// end the transaction that it waits for: one was forgotten, or the processes wait
// for each other through several connections, which no database can see.
func (r *run) lockedUp() bool {
	for _, l := range r.lanes {
		holder := r.waitsFor(l)
		if holder == "" {
			continue
		}
		l.current.Ended = "waits for ever"
		object := ""
		if e, ok := r.set.events[l.current.eventID]; ok {
			object = nameOf(e)
		}
		text := fmt.Sprintf("%s waits for ever at %s: a transaction of %s holds the lock, and nobody is left who would end it.", l.proc.name, l.nextLabel(), holder)
		r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Limit, Text: text, Decisive: true})
		r.out.problem = &problem{kind: verdict.Stuck, text: text, object: object}
		return true
	}
	return false
}

// noAnswer says that a statement has not got an answer: it went over a limit of
// the sandbox, waits for a lock, met what the model of a database cannot tell, or
// the model failed.
func noAnswer(err error) bool {
	var (
		limit   *ledger.LimitError
		waiting *readcommitted.Waiting
		outside *readcommitted.Outside
		broken  *readcommitted.BrokenError
	)
	return errors.As(err, &limit) || errors.As(err, &waiting) || errors.As(err, &outside) || errors.As(err, &broken)
}
