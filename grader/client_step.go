package grader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/cluster"
	"redeliver/grader/guest/abi"
	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// call begins what the guest asks its client for.
func (c *clientRun) call(l *lane, e kafkaEffect) {
	p := c.kafka[l]
	if e.req.Call == abi.PollRecords && c.take(schedule.Fail) {
		c.calls[l] = &waiting{eff: -1, call: cluster.Answered(e.req, c.failedPoll())}
		return
	}
	c.transactions = c.transactions || usesTransactions(e.req.Call)
	w := &waiting{eff: -1, began: len(c.out.effects)}
	if counts(e) && e.req.Call != abi.PollRecords {
		fail := e.fails() && c.take(schedule.Fail)
		lose := e.durable() && !fail && c.take(schedule.Lose)
		w.eff = len(c.out.effects)
		eff := done{label: label(e), event: e.event(), instance: l.proc.name, attempt: l.current.attempt, durable: e.durable(), sure: !e.fails(), offset: e.commits(), Step: c.stepOf(l)}
		at := e.position()
		c.rec.Add(verdict.Step{Lane: l.proc.name, Event: e.event(), Text: e.text(), File: at.File, Line: at.Line})
		eff.step = c.rec.Last().Step
		switch {
		case fail:
			eff.fault, w.fault = schedule.Fail, c.set.Fail(e.req.Call)
		case lose:
			eff.fault, w.fault = schedule.Lose, c.set.Lose(p, e.req.Call)
		}
		c.out.effects = append(c.out.effects, eff)
	}
	remaining := time.Duration(0)
	if !e.req.Deadline.IsZero() {
		remaining = max(e.req.Deadline.Sub(c.clock.Now()), time.Nanosecond)
	}
	call, err := p.Call(e.req, remaining)
	var limit *cluster.LimitError
	switch {
	case errors.As(err, &limit):
		c.limited(l, limit.Text, e.position())
		return
	case err != nil:
		l.proc.kill()
		c.out.problem = &problem{kind: verdict.Crash, text: "The submission made a malformed call to the host."}
		return
	}
	if w.call = call; e.req.Call == abi.Resume {
		if old := c.resumed(l, call); old != nil {
			w.eff, w.began, w.fault = old.eff, old.began, old.fault
		}
	}
	c.note(p)
	c.calls[l] = w
}

func (c *clientRun) limited(l *lane, text string, at abi.Position) {
	l.proc.kill()
	l.current.end("was stopped")
	c.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Limit, Text: text, File: at.File, Line: at.Line, Decisive: true})
	c.out.problem = &problem{kind: verdict.Timeout, text: text, file: at.File, line: at.Line}
}

// goOn answers the first process that has an answer coming, or a callback to run.
func (c *clientRun) goOn(ctx context.Context) (happened bool, err error) {
	for _, l := range c.lanes {
		w := c.calls[l]
		if w == nil || c.paused[l] != nil {
			continue
		}
		if w.call.Done() {
			c.keepTime()
			return true, c.finish(ctx, l, w)
		}
		if client, cb := c.kafka[l].Callback(); cb != nil {
			c.idle = 0
			c.keepTime()
			return true, c.reply(ctx, l, w, abi.KafkaReply{
				State: abi.KafkaCallback, Ticket: w.call.Ticket, Client: client, Kind: cb.Kind, Offsets: cb.Partitions,
			})
		}
	}
	return false, nil
}

// reply lets the guest go on; its call stays begun unless it is done.
func (c *clientRun) reply(ctx context.Context, l *lane, w *waiting, m abi.KafkaReply) error {
	delete(c.calls, l)
	if m.State != abi.KafkaDone {
		c.asleep[l] = append(c.asleep[l], w)
	}
	m.Stop = c.stopping
	stop, err := l.proc.answer(ctx, abi.AppendKafkaReply(nil, m))
	return c.after(ctx, l, stop, err)
}

// resumed finds what is known of a call that the guest waits for again.
func (c *clientRun) resumed(l *lane, call *cluster.Call) *waiting {
	i := slices.IndexFunc(c.asleep[l], func(w *waiting) bool { return w.call == call })
	if i < 0 {
		return nil
	}
	w := c.asleep[l][i]
	c.asleep[l] = slices.Delete(c.asleep[l], i, i+1)
	return w
}

// finish answers a call that is done.
func (c *clientRun) finish(ctx context.Context, l *lane, w *waiting) error {
	m := w.call.Reply()
	c.kafka[l].Forget(w.call)
	hit := w.fault != nil && w.fault.Hit()
	if w.call.Request.Call == abi.PollRecords {
		c.polled(l, w, m)
	} else if w.eff >= 0 {
		c.answered(l, w, m, hit)
	}
	if !isEmptyPoll(w.call.Request, m) {
		c.idle = 0
	}
	return c.reply(ctx, l, w, m)
}

// isEmptyPoll says whether nothing was there to be polled until the time was up.
func isEmptyPoll(req abi.KafkaRequest, m abi.KafkaReply) bool {
	return req.Call == abi.PollRecords && !slices.ContainsFunc(m.Fetched, func(f abi.KafkaFetch) bool {
		return len(f.Records) > 0 || f.Err.Kind != abi.NoError && f.Err.Kind != abi.DeadlineExceeded
	})
}

// answered completes the step of a call.
func (c *clientRun) answered(l *lane, w *waiting, m abi.KafkaReply, hit bool) {
	eff := c.out.effects[w.eff]
	result := resultOf(w.call.Request, m)
	switch {
	case hit && eff.fault == schedule.Fail:
		result += " " + nothingDone
	case hit:
		result += " " + answerLost
	}
	last := c.rec.Last()
	if last.Step != eff.step && (result != "" || eff.event != trace.Group) { // something else happened meanwhile
		c.rec.Add(verdict.Step{Lane: l.proc.name, Event: eff.event, Text: "The answer to " + eff.label + " comes", Decisive: hit})
		last = c.rec.Last()
	}
	if result != "" {
		last.Text += " → " + result
	}
	if hit {
		last.Event, last.Decisive = trace.Fault, true
	}
	if eff.offset && (m.Err.Kind == abi.NoError || hit && eff.fault == schedule.Lose) {
		c.passed(l)
	}
}

// passed marks the deliveries of a process whose records its group will not read
// again: the broker says so, whoever asked for the commit.
func (c *clientRun) passed(l *lane) {
	if l.current == nil || c.kafka[l] == nil {
		return
	}
	for _, d := range l.current.deliveries {
		if c.isPassed(d) { // by this process or another one
			continue
		}
		for _, g := range c.kafka[l].Groups() {
			if at := c.set.GroupOffset(g, d.record.Topic, d.record.Partition); at > d.Offset {
				d.Ended, d.passed, d.offset = "committed", c.rec.Last().Step, at
			}
		}
	}
}

// isPassed says whether a delivery of the same record is marked.
func (c *clientRun) isPassed(d *delivery) bool {
	return slices.ContainsFunc(c.out.deliveries, func(o *delivery) bool {
		return o.passed > 0 && o.Offset == d.Offset && o.record.Topic == d.record.Topic && o.record.Partition == d.record.Partition
	})
}

// polled tells of the records that a poll returned. A poll without any is no effect.
func (c *clientRun) polled(l *lane, w *waiting, m abi.KafkaReply) {
	at := w.call.Request.At
	begun := c.calledMeanwhile(l, w) // so it was at the broker when its fault was due
	var told []string                // a client keeps the errors until a poll returns them
	for _, f := range m.Fetched {
		text := "The poll returns an error: " + sentence(errorText(f.Err))
		if f.Err.Kind != abi.NoError && !slices.Contains(told, text) {
			told = append(told, text)
			c.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Group, Text: text, File: at.File, Line: at.Line})
		}
	}
	var names []string
	attempt := 1
	for _, f := range m.Fetched {
		for _, rec := range f.Records {
			names = append(names, c.takeRecord(l, f, rec, &attempt))
		}
	}
	if len(names) == 0 {
		return
	}
	l.current.attempt = attempt
	text := fmt.Sprintf("%s polls: %s.", l.proc.name, strings.Join(names, "; "))
	eff := done{label: pollNoun + place(at), event: trace.Deliver, instance: l.proc.name, attempt: attempt, sure: begun, Step: c.stepOf(l)}
	c.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Deliver, Text: text, File: at.File, Line: at.Line})
	eff.step = c.rec.Last().Step
	l.current.step = eff.step
	for _, d := range l.current.deliveries[len(l.current.deliveries)-len(names):] {
		d.step = eff.step
	}
	c.out.effects = append(c.out.effects, eff)
}

// takeRecord makes a record of a poll a delivery, and names it.
func (c *clientRun) takeRecord(l *lane, f abi.KafkaFetch, rec abi.KafkaRecord, attempt *int) string {
	key := fmt.Sprintf("%s/%d/%d", f.Topic, f.Partition, rec.Record.Offset)
	c.attempts[key]++
	*attempt = max(*attempt, c.attempts[key])
	d := deliveryOf(&kgo.Record{
		Topic: f.Topic, Partition: f.Partition, Offset: rec.Record.Offset, Key: rec.Record.Key, Value: rec.Record.Value, Timestamp: rec.Record.Timestamp,
	}, c.set, c.attempts[key], l)
	if before := c.ahead[l][partition{f.Topic, f.Partition}]; before.offset > d.Offset {
		d.Ended, d.passed, d.offset = "committed", before.step, before.offset
	}
	l.current.deliveries = append(l.current.deliveries, d)
	c.out.deliveries = append(c.out.deliveries, d)
	text := strings.TrimSuffix(strings.TrimPrefix(deliverText(d, c.set), l.proc.name+" receives "), ".")
	return text
}

// failedPoll is a fetch that the broker answers with an error which the client hands
// on.
func (c *clientRun) failedPoll() abi.KafkaReply {
	p := c.partitions()[0]
	return abi.KafkaReply{Fetched: []abi.KafkaFetch{{Topic: p.topic, Partition: p.id, Err: kafkaError(kerr.UnknownServerError)}}}
}
