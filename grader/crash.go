package grader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// crash ends a process: its transactions roll back, its memory is gone, and what
// it had not committed to Kafka comes again to the next one. before names the
// effect that it does not perform any more, "" between two records.
func (r *run) crash(ctx context.Context, l *lane, before string) error {
	site := &crashSite{instance: l.proc.name, after: r.lastLabel(l), before: before}
	open := r.ledger.OpenTransactions(l.proc.name)
	l.proc.kill()
	if err := r.kill(l.proc.name); err != nil {
		return err
	}
	if before != "" {
		l.current.end("crashed before " + strings.TrimPrefix(before, "the "))
	}
	text := fmt.Sprintf("%s dies%s.", l.proc.name, site.place())
	if open > 0 {
		text += " Its open transaction is rolled back."
	}
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Crash, Text: text, Decisive: true})
	if r.out.crash == nil {
		r.out.crash = site
		if err := r.mark(ctx, site); err != nil {
			return err
		}
	}
	if l.fenced { // it owned nothing any more: there is nothing for a next process
		l.state = finished
		return nil
	}
	if l.member != nil {
		if err := errors.Join(l.member.Evict(ctx), r.join(ctx, l)); err != nil {
			return err
		}
	}
	return r.startProcess(ctx, l)
}

// mark notes what is durable at a crash, for the phase that crashes twice.
func (r *run) mark(ctx context.Context, site *crashSite) (err error) {
	if r.schedule.Phase != schedule.CrashPoints {
		return nil
	}
	if site.state, err = r.state(ctx); err != nil {
		return err
	}
	for i, p := range r.partitions() {
		at, err := r.group.Committed(ctx, p.topic, p.id)
		if err != nil {
			return err
		}
		site.state[i%32] ^= byte(at + 1)
	}
	return nil
}

// place says where a process died, as the middle of a sentence.
func (c *crashSite) place() string {
	switch {
	case c.after == "" && c.before == "":
		return ""
	case c.after == "":
		return " before its first call, " + c.before
	case c.before == "":
		return " after " + c.after
	default:
		return " after " + c.after + " and before " + c.before
	}
}

// lastLabel names the last effect of an instance's current life; "" when there
// was none in the delivery at hand.
func (r *run) lastLabel(l *lane) string {
	for _, e := range slices.Backward(r.out.effects) {
		if e.instance == l.proc.name && (l.state == idle || l.current == nil || e.step > l.current.step) {
			return e.label
		}
	}
	return ""
}
