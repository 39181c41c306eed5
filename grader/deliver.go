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

// poll gives an instance with nothing in hand its next call, which runs to its
// first effect.
func (r *run) poll(ctx context.Context, l *lane) error {
	l.state, l.backoff = finished, false
	w, err := r.entry.next(ctx, r, l)
	if err != nil || w == nil {
		return err
	}
	r.clock.Advance(backoff(w.attempt))
	return r.begin(ctx, l, w)
}

// fetch asks the broker where the group stands in the instance's partitions and
// reads up to most records there, of the first partition that has any.
func (r *run) fetch(ctx context.Context, l *lane, most int) ([]*kgo.Record, error) {
	if l.fenced {
		return nil, nil
	}
	for _, p := range l.parts {
		at, err := r.group.Committed(ctx, p.topic, p.id)
		if err != nil {
			return nil, err
		}
		if recs, err := r.read(ctx, p, max(at, 0), most); len(recs) > 0 || err != nil {
			return recs, err
		}
	}
	return nil, nil
}

// read reads up to most records of a partition, from an offset.
func (r *run) read(ctx context.Context, p partition, at int64, most int) ([]*kgo.Record, error) {
	var recs []*kgo.Record
	for len(recs) < most {
		rec, err := r.group.Fetch(ctx, p.topic, p.id, at)
		if err != nil {
			return nil, err
		}
		if rec == nil {
			if at != r.set.ends[p] {
				return nil, fmt.Errorf("%s/%d ends at %d, %d were sent", p.topic, p.id, at, r.set.ends[p])
			}
			break
		}
		recs, at = append(recs, rec), rec.Offset+1
	}
	return recs, nil
}

// handle is the call that gives records to a function; nil when there are none.
func (r *run) handle(kind abi.TaskKind, l *lane, recs []*kgo.Record) *work {
	if len(recs) == 0 {
		return nil
	}
	w := &work{task: abi.Task{Kind: kind, NoPositions: !r.positions}}
	for _, rec := range recs {
		key := fmt.Sprintf("%s/%d/%d", rec.Topic, rec.Partition, rec.Offset)
		r.attempts[key]++
		d := deliveryOf(rec, r.set, r.attempts[key], l)
		w.attempt, w.allowed = max(w.attempt, d.Attempt), max(w.allowed, r.before[key]+maxAttempts-1)
		w.deliveries, w.task.Records = append(w.deliveries, d), append(w.task.Records, d.record)
	}
	return w
}

// deliveryOf is a record of the broker as the guest of an instance receives it.
func deliveryOf(rec *kgo.Record, set *recordSet, attempt int, l *lane) *delivery {
	d := &delivery{eventID: set.eventIDAt(rec.Topic, rec.Partition, rec.Offset), record: abi.Record{
		Topic: rec.Topic, Partition: rec.Partition, Offset: rec.Offset, Key: rec.Key, Value: rec.Value, Timestamp: rec.Timestamp,
	}}
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

// begin calls a function of the submission.
func (r *run) begin(ctx context.Context, l *lane, w *work) error {
	r.out.deliveries = append(r.out.deliveries, w.deliveries...)
	l.current, l.busy = w, 0
	if w.attempt > max(maxAttempts, w.allowed) {
		w.end("not handled")
		r.stuck(l, w)
		return nil
	}
	event := trace.Deliver
	if len(w.deliveries) == 0 {
		event = trace.Group
	}
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: event, Text: w.begins(l.proc.name, r.set)})
	w.step = r.rec.Last().Step
	for _, d := range w.deliveries {
		d.step = w.step
	}
	stop, err := l.proc.start(ctx, w.task)
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
		l.current.end(endedBy(stop.Reason))
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

// returned goes on after a function of the submission: goroutines that it left,
// then what the entry does, such as the offset commit.
func (r *run) returned(ctx context.Context, l *lane) error {
	var leak *request
	stop, err := &sandbox.Stop{Reason: sandbox.Returned}, error(nil)
	if l.current.task.Kind != abi.Run { // its process ends with it, and whatever it left running
		leak, stop, err = l.proc.drain(ctx)
	}
	switch {
	case err != nil:
		return err
	case leak != nil:
		r.leaked(l, *leak)
		return nil
	case stop.Reason != sandbox.Returned:
		l.current.end(endedBy(stop.Reason))
		r.limit(l, *stop)
		return nil
	}
	w, failed := l.current, l.proc.last.result.Failed
	text := w.function() + " returns nil."
	switch {
	case failed:
		text = w.function() + " returns an error: " + ledger.Shorten(l.proc.last.result.Text, 200)
	case w.task.Kind == abi.StartOffset:
		text = fmt.Sprintf("StartOffset returns %d.", l.proc.last.result.Offset)
	}
	if r.ledger.OpenTransactions(l.proc.name) > 0 {
		text += " A transaction is still open."
	}
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Return, Text: text})
	if failed {
		w.end("returned an error")
		r.lastError = l.proc.last.result.Text
	}
	l.backoff = failed
	l.state = r.entry.returned(r, l, w, failed)
	return nil
}
