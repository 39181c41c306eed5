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

// unanswered completes the step of an effect that got no answer, and adds what
// follows from that: nothing for one that waits, which is performed again when the
// lock is free, and else the end of the schedule. An error is ours.
func (r *run) unanswered(l *lane, step verdict.Step, err error) ([]verdict.Step, error) {
	var (
		limit   *ledger.LimitError
		waiting *readcommitted.Waiting
		outside *readcommitted.Outside
	)
	end := verdict.Step{Lane: l.proc.name, Event: trace.Limit, File: step.File, Line: step.Line}
	switch {
	case errors.As(err, &waiting):
		step.Event, step.Decisive = trace.Wait, true
		step.Text += fmt.Sprintf(" → waits: a transaction of %s has locked %s", waiting.For.Name(), waiting.Key)
		return []verdict.Step{step}, nil
	case errors.As(err, &outside):
		r.out.outside = outside.Reason
		end.Text = capital(outside.Error()) + ". Nothing can be concluded from this schedule."
		return []verdict.Step{step, end}, nil
	case errors.As(err, &limit):
		l.proc.kill()
		l.current.end("was stopped")
		r.out.problem = &problem{kind: verdict.Timeout, text: limit.Text, file: step.File, line: step.Line, wall: true}
		end.Text = limit.Text
		return []verdict.Step{step, end}, nil
	default:
		return nil, err
	}
}

// lockedUp ends the schedule when a statement waits and nobody is left who could
// end the transaction that it waits for: one was forgotten, or the processes wait
// for each other through several connections, which no database can see.
func (r *run) lockedUp() bool {
	for _, l := range r.lanes {
		if holder := r.waitsFor(l); holder != "" {
			r.rec.Add(r.waitsForEver(l, holder))
			return true
		}
	}
	return false
}

// waitsForEver is the problem of an instance whose statement waits in vain.
func (r *run) waitsForEver(l *lane, holder string) verdict.Step {
	l.current.end("waits for ever")
	var at abi.Position
	if e, err := readEffect(*l.proc.pending); err == nil {
		at = e.position()
	}
	_, object := l.current.what(r.set)
	text := fmt.Sprintf("%s waits for ever at %s: a transaction of %s holds the lock, and nobody is left who would end it.", l.proc.name, l.nextLabel(), holder)
	r.out.problem = &problem{kind: verdict.Stuck, text: text, file: at.File, line: at.Line, object: object}
	return verdict.Step{Lane: l.proc.name, Event: trace.Limit, Text: text, Decisive: true}
}
