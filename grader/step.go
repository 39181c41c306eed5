package grader

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// step performs the next effect of an instance, with the faults that the
// schedule has for it.
func (r *run) step(ctx context.Context, l *lane) error {
	if l.state == committing {
		return r.commitOffset(ctx, l)
	}
	e, err := readEffect(*l.proc.pending)
	if err != nil {
		l.proc.kill()
		r.out.problem = &problem{kind: verdict.Crash, text: "The submission made a malformed call to the host."}
		return nil //nolint:nilerr // it is the submission's, and the schedule ends with it
	}
	at := e.position()
	eff := done{label: label(e), event: e.event(), instance: l.proc.name, attempt: l.current.attempt, Step: r.stepOf(l)}
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: e.event(), Text: e.text(), File: at.File, Line: at.Line})
	eff.step = r.rec.Last().Step
	out, err := r.performWithFaults(ctx, l, e, &eff)
	eff.waits = isWaiting(err)
	r.out.effects = append(r.out.effects, eff)
	if err != nil {
		steps, err := r.unanswered(l, *r.rec.Last(), err)
		if err != nil {
			return err
		}
		*r.rec.Last() = steps[0]
		for _, s := range steps[1:] {
			r.rec.Add(s)
		}
		return nil
	}
	r.show(out)
	l.busy++
	if !out.busy {
		l.busy = 0
	}
	stop, err := l.proc.answer(ctx, out.reply)
	return r.after(ctx, l, stop, err)
}

// stepOf begins the search's view of the next effect.
func (r *run) stepOf(l *lane) schedule.Step {
	return schedule.Step{Lane: slices.Index(r.lanes, l), Enabled: r.enabled()}
}

// performWithFaults performs an effect, or only answers with an error, or both.
func (r *run) performWithFaults(ctx context.Context, l *lane, e effect, eff *done) (outcome, error) {
	if d, ok := r.due(schedule.Fail); ok {
		r.fire(d)
		eff.fault = schedule.Fail
		if err := e.abandon(r.world, l.proc.name); err != nil {
			return outcome{}, err
		}
		return e.fault("nothing was done"), nil
	}
	out, err := e.perform(ctx, r.world, l.proc.name)
	eff.Reads, eff.Writes, eff.durable = out.access.Reads, out.access.Writes, out.access.Durable
	if err != nil {
		return outcome{}, err
	}
	l.current.changed = l.current.changed || len(out.changes) > 0
	l.current.sent = l.current.sent || e.event() == trace.Send
	r.out.expires = r.out.expires || e.event() == trace.Redis && r.expiry() > 0
	if d, ok := r.due(schedule.Lose); ok && out.access.Durable {
		r.fire(d)
		eff.fault = schedule.Lose
		lost := e.fault("it was done, the answer is lost")
		lost.changes = out.changes
		return lost, nil
	}
	return out, nil
}

// show completes the last step with what the effect gave.
func (r *run) show(out outcome) {
	last := r.rec.Last()
	if out.result != "" {
		last.Text += " → " + out.result
	}
	if out.refused != "" {
		r.refused = out.refused
		last.Text += " (" + out.refused + ")"
	}
	if out.changes != nil {
		last.Rows = out.changes
	}
	if out.fault {
		last.Event, last.Decisive = trace.Fault, true
	}
}

// commitOffset is the consumer's own effect: the last of a delivery.
func (r *run) commitOffset(ctx context.Context, l *lane) error {
	w, p := l.current, l.current.partition()
	next := w.next()
	name := "offsets:" + p.String()
	eff := done{label: offsetCommit, instance: l.proc.name, attempt: w.attempt, offset: true, durable: true, Step: r.stepOf(l)}
	eff.Writes = []string{name}
	step := verdict.Step{Lane: l.proc.name, Event: trace.CommitOffset, Text: fmt.Sprintf("Commits offset %d of %s to Kafka.", next, p)}
	var consumer interface {
		Commit(context.Context, string, int32, int64) error
		RefuseCommit(context.Context, string, int32, int64) error
		LoseCommitReply(context.Context, string, int32, int64) error
	} = r.group
	if l.member != nil {
		consumer = l.member
	}
	commit := consumer.Commit
	fail, failing := r.due(schedule.Fail)
	lose, losing := r.due(schedule.Lose)
	l.state = idle
	switch {
	case l.fenced:
		eff.durable = false
		step.Event, step.Decisive = trace.Fault, true
		step.Text = fmt.Sprintf("%s commits offset %d; the broker refuses: UNKNOWN_MEMBER_ID, the partition belongs to another instance.", l.proc.name, next)
		w.end("finished after its partition had moved; its offset commit was refused")
		l.state = finished
		commit = func(ctx context.Context, topic string, part int32, offset int64) error {
			if err := consumer.Commit(ctx, topic, part, offset); !errors.Is(err, kerr.UnknownMemberID) {
				return fmt.Errorf("the late commit of an evicted member got %v", err) //nolint:errorlint // nil is possible and wrong here
			}
			return nil
		}
	case failing:
		r.fire(fail)
		eff.fault, eff.durable = schedule.Fail, false
		step.Event, step.Decisive = trace.Fault, true
		step.Text = "The offset commit fails: the group is rebalancing, nothing is stored."
		w.end("handled; the offset commit was not stored")
		commit = consumer.RefuseCommit
	case losing:
		r.fire(lose)
		eff.fault = schedule.Lose
		step.Event, step.Decisive = trace.Fault, true
		step.Text = fmt.Sprintf("Commits offset %d of %s; the broker stores it, the answer is lost.", next, p)
		w.end("committed; the answer was lost")
		commit = consumer.LoseCommitReply
	default:
		w.end("committed")
	}
	r.rec.Add(step)
	eff.step = r.rec.Last().Step
	r.out.effects = append(r.out.effects, eff)
	if err := commit(ctx, p.topic, p.id, next); err != nil {
		return fmt.Errorf("commit offset %d: %w", next, err)
	}
	return nil
}
