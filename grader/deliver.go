package grader

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/guest/abi"
	"redeliver/grader/ledger"
	"redeliver/grader/sandbox"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// poll asks the broker where the group stands, fetches the record there and
// hands it to the handler, which runs to its first effect.
func (r *run) poll(ctx context.Context, l *lane) error {
	l.state, l.backoff = finished, false
	if l.fenced {
		return nil
	}
	for _, p := range l.parts {
		at, err := r.group.Committed(ctx, p.topic, p.id)
		if err != nil {
			return err
		}
		rec, err := r.group.Fetch(ctx, p.topic, p.id, max(at, 0))
		if err != nil {
			return err
		}
		if rec == nil {
			if max(at, 0) != r.set.ends[p] {
				return fmt.Errorf("%s/%d ends at %d, %d were sent", p.topic, p.id, max(at, 0), r.set.ends[p])
			}
			continue
		}
		event, err := r.set.eventAt(rec.Topic, rec.Partition, rec.Offset)
		if err != nil {
			return err
		}
		key := fmt.Sprintf("%s/%d/%d", rec.Topic, rec.Partition, rec.Offset)
		r.attempts[key]++
		d := r.deliveryOf(rec, event.ID, r.attempts[key], l)
		r.clock.Advance(backoff(d.Attempt))
		return r.deliver(ctx, l, d)
	}
	return nil
}

// deliveryOf is a record of the broker as the guest of an instance receives it.
func (r *run) deliveryOf(rec *kgo.Record, eventID string, attempt int, l *lane) *delivery {
	d := &delivery{eventID: eventID, record: abi.Record{
		Topic: rec.Topic, Partition: rec.Partition, Offset: rec.Offset, Key: rec.Key, Value: rec.Value, Timestamp: rec.Timestamp,
	}, noPositions: !r.positions}
	for _, h := range rec.Headers {
		d.record.Headers = append(d.record.Headers, abi.Header{Key: h.Key, Value: h.Value})
	}
	d.Offset, d.Attempt, d.Instance = rec.Offset, attempt, l.proc.name
	return d
}

// backoff is how long a consumer waits before it takes a record again: nothing at
// first, then a second, ten, a hundred, a thousand. A handler that takes leases
// needs time to pass, or five redeliveries would all come before one expires.
func backoff(attempt int) time.Duration {
	wait := time.Duration(0)
	for n := 2; n < attempt; n++ {
		wait = max(time.Second, wait*10)
	}
	return wait
}

// deliver hands a record to the handler.
func (r *run) deliver(ctx context.Context, l *lane, d *delivery) error {
	r.out.deliveries = append(r.out.deliveries, d)
	l.current, l.busy = d, 0
	if d.Attempt > maxAttempts {
		d.Ended = "not handled"
		r.stuck(l, d)
		return nil
	}
	r.rec.Add(verdict.Step{Lane: d.Instance, Event: trace.Deliver, Text: deliverText(d, r.set)})
	d.step = r.rec.Last().Step
	stop, err := l.proc.start(ctx, d)
	return r.after(ctx, l, stop, err)
}

func deliverText(d *delivery, set *recordSet) string {
	what := fmt.Sprintf("%s/%d offset %d", d.record.Topic, d.record.Partition, d.Offset)
	if e, ok := set.events[d.eventID]; ok {
		what += ", " + nameOf(e)
	}
	if d.Attempt == 1 {
		return d.Instance + " receives " + what + "."
	}
	return fmt.Sprintf("%s receives %s again (delivery %d).", d.Instance, what, d.Attempt)
}

// after sees what the guest did last: it is parked at its next effect, or the
// handler has ended.
func (r *run) after(ctx context.Context, l *lane, stop *sandbox.Stop, err error) error {
	switch {
	case err != nil:
		return err
	case stop == nil:
		l.state = atEffect
		return nil
	case stop.Reason != sandbox.Returned:
		l.current.Ended = endedBy(stop.Reason)
		r.limit(l, *stop)
		return nil
	default:
		return r.returned(ctx, l)
	}
}

func endedBy(reason sandbox.Reason) string {
	switch reason {
	case sandbox.Panic:
		return "panicked"
	case sandbox.Exit:
		return "exited"
	default:
		return "was stopped"
	}
}

// returned goes on after Handle: goroutines that it left, then the offset
// commit, or none after an error.
func (r *run) returned(ctx context.Context, l *lane) error {
	leak, stop, err := l.proc.drain(ctx)
	switch {
	case err != nil:
		return err
	case leak != nil:
		r.leaked(l, *leak)
		return nil
	case stop.Reason != sandbox.Returned:
		l.current.Ended = endedBy(stop.Reason)
		r.limit(l, *stop)
		return nil
	}
	text := "Handle returns nil."
	if l.proc.last.result.Failed {
		text = "Handle returns an error: " + ledger.Shorten(l.proc.last.result.Text, 200)
	}
	if r.ledger.OpenTransactions(l.proc.name) > 0 {
		text += " A transaction is still open."
	}
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Return, Text: text})
	if l.proc.last.result.Failed {
		l.current.Ended = "returned an error"
		l.state, l.backoff = idle, true
		return nil
	}
	l.state = committing
	return nil
}
