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
	"redeliver/grader/ledger"
	"redeliver/grader/sandbox"
	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// lane is one instance of the consumer over all its lives.
type lane struct {
	id    string // "A"
	life  int    // 1 is "A", 2 is "A2"
	proc  *process
	state laneState
	parts []partition

	member  *cluster.Member // nil: a simple consumer
	fenced  bool            // the partitions belong to another instance now
	current *delivery
	busy    int  // SQLITE_BUSY answers in a row
	backoff bool // it returned an error last
}

// laneState is what an instance does next.
type laneState int

const (
	idle       laneState = iota // polls
	atEffect                    // its guest is parked at a call
	committing                  // its handler has returned nil
	finished                    // there is nothing left for it
)

// inHand says that the instance holds a record.
func (l *lane) inHand() bool { return l.state == atEffect || l.state == committing }

const offsetCommit = "the offset commit"

// nextLabel names the effect that comes next.
func (l *lane) nextLabel() string {
	if l.state == committing {
		return offsetCommit
	}
	e, err := readEffect(*l.proc.pending)
	if err != nil {
		return "a malformed call"
	}
	return e.label()
}

// startProcess gives an instance its next life: fresh memory, no connections.
func (r *run) startProcess(ctx context.Context, l *lane) error {
	l.life++
	name := l.id
	if l.life > 1 {
		name = fmt.Sprintf("%s%d", l.id, l.life)
	}
	snap, stop, err := r.sub.snapshot(ctx, name)
	if err != nil {
		return err
	}
	l.proc, l.state, l.backoff, l.busy = &process{name: name, w: r.world}, idle, false, 0
	if stop != nil {
		r.limit(l, *stop)
		return nil
	}
	if l.proc.inst, err = r.instance(ctx, l.id); err != nil {
		return err
	}
	if err := l.proc.inst.Restore(snap); err != nil {
		return fmt.Errorf("restore %s: %w", name, err)
	}
	if l.life > 1 {
		r.rec.Add(verdict.Step{Lane: name, Event: trace.Restart, Text: fmt.Sprintf("A new process starts as %s: empty memory.", name)})
	}
	return nil
}

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
		NoPositions: !r.positions,
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
	if l.proc.result.Failed {
		text = "Handle returns an error: " + ledger.Shorten(l.proc.result.Text, 200)
	}
	if r.ledger.OpenTransactions(l.proc.name) > 0 {
		text += " A transaction is still open."
	}
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Return, Text: text})
	if l.proc.result.Failed {
		l.current.Ended = "returned an error"
		l.state, l.backoff = idle, true
		return nil
	}
	l.state = committing
	return nil
}

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
	eff := done{label: e.label(), instance: l.proc.name, attempt: l.current.Attempt, Step: r.stepOf(l)}
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.SQL, Text: e.text(), File: e.at.File, Line: e.at.Line})
	eff.step = r.rec.Last().Step
	out, err := r.performWithFaults(ctx, l, e, &eff)
	r.out.effects = append(r.out.effects, eff)
	var limit *ledger.LimitError
	if errors.As(err, &limit) {
		l.proc.kill()
		l.current.Ended = "was stopped"
		r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Limit, Text: limit.Text, File: e.at.File, Line: e.at.Line})
		r.out.problem = &problem{kind: verdict.Timeout, text: limit.Text, file: e.at.File, line: e.at.Line, wall: true}
		return nil
	}
	if err != nil {
		return err
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
		r.fired[d] = true
		eff.fault = schedule.Fail
		if e.op == abi.OpCommit || e.op == abi.OpRollback { // the transaction is over, and nothing of it stays
			if err := r.giveUp(l, e); err != nil {
				return outcome{}, err
			}
		}
		return fault(e.op, "nothing was done"), nil
	}
	out, err := r.perform(ctx, l.proc.name, e)
	if err != nil {
		return outcome{}, err
	}
	eff.Reads, eff.Writes, eff.durable = out.access.Reads, out.access.Writes, out.access.Durable
	if d, ok := r.due(schedule.Lose); ok && out.access.Durable {
		r.fired[d] = true
		eff.fault = schedule.Lose
		lost := fault(e.op, "it was done, the answer is lost")
		lost.changes = out.changes
		return lost, nil
	}
	return out, nil
}

func (r *run) giveUp(l *lane, e effect) error {
	conn, err := r.ledger.Conn(l.proc.name, e.conn)
	if err != nil {
		return err
	}
	_, err = conn.Rollback()
	return err
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
	d, p := l.current, partition{l.current.record.Topic, l.current.record.Partition}
	next := d.Offset + 1
	name := "offsets:" + p.String()
	eff := done{label: offsetCommit, instance: l.proc.name, attempt: d.Attempt, offset: true, durable: true, Step: r.stepOf(l)}
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
		d.Ended = "finished after its partition had moved; its offset commit was refused"
		l.state = finished
		commit = func(ctx context.Context, topic string, part int32, offset int64) error {
			if err := consumer.Commit(ctx, topic, part, offset); !errors.Is(err, kerr.UnknownMemberID) {
				return fmt.Errorf("the late commit of an evicted member got %v", err) //nolint:errorlint // nil is possible and wrong here
			}
			return nil
		}
	case failing:
		r.fired[fail], eff.fault, eff.durable = true, schedule.Fail, false
		step.Event, step.Decisive = trace.Fault, true
		step.Text = "The offset commit fails: the group is rebalancing, nothing is stored."
		d.Ended = "handled; the offset commit was not stored"
		commit = consumer.RefuseCommit
	case losing:
		r.fired[lose], eff.fault = true, schedule.Lose
		step.Event, step.Decisive = trace.Fault, true
		step.Text = fmt.Sprintf("Commits offset %d of %s; the broker stores it, the answer is lost.", next, p)
		d.Ended = "committed; the answer was lost"
		commit = consumer.LoseCommitReply
	default:
		d.Ended = "committed"
	}
	r.rec.Add(step)
	eff.step = r.rec.Last().Step
	r.out.effects = append(r.out.effects, eff)
	if err := commit(ctx, p.topic, p.id, next); err != nil {
		return fmt.Errorf("commit offset %d: %w", next, err)
	}
	return nil
}

// crash ends a process: its transactions roll back, its memory is gone, and what
// it had not committed to Kafka comes again to the next one. before names the
// effect that it does not perform any more, "" between two records.
func (r *run) crash(ctx context.Context, l *lane, before string) error {
	site := &crashSite{instance: l.proc.name, after: r.lastLabel(l), before: before}
	open := r.ledger.OpenTransactions(l.proc.name)
	l.proc.kill()
	if err := r.ledger.Kill(l.proc.name); err != nil {
		return err
	}
	if before != "" {
		l.current.Ended = "crashed before " + strings.TrimPrefix(before, "the ")
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
	if site.state, err = r.ledger.State(ctx); err != nil {
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

// leaked ends the schedule: a goroutine used the database after Handle had
// returned, so the offset of unfinished work may be committed.
func (r *run) leaked(l *lane, q request) {
	l.current.Ended = "returned before its work was done"
	text, file, line := "a call", "", 0
	if e, err := readEffect(q); err == nil {
		text, file, line = e.label(), e.at.File, e.at.Line
	}
	text = fmt.Sprintf("After Handle had returned, a goroutine that it had started went on with %s.", text)
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Leak, Text: text, File: file, Line: line, Decisive: true})
	r.out.problem = &problem{kind: verdict.Leaked, text: text, file: file, line: line}
}

// limit ends the schedule with what stopped a process.
func (r *run) limit(l *lane, stop sandbox.Stop) {
	kind, ok := stop.Reason.Kind()
	if !ok {
		r.broken = errors.Join(r.broken, fmt.Errorf("the sandbox stopped the process: %s %s", stop.Reason, stop.Text))
		return
	}
	event := trace.Limit
	if kind == verdict.Crash {
		event = trace.Crash
	}
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: event, Text: stop.Text, File: stop.File, Line: stop.Line, Decisive: true})
	r.out.problem = &problem{kind: kind, text: stop.Text, file: stop.File, line: stop.Line, wall: stop.Reason == sandbox.Deadline}
}

// stuck ends the schedule: the record came again and again and its offset was
// never committed.
func (r *run) stuck(l *lane, d *delivery) {
	what := fmt.Sprintf("offset %d", d.Offset)
	object := ""
	if e, ok := r.set.events[d.eventID]; ok {
		what, object = nameOf(e), nameOf(e)
	}
	text := fmt.Sprintf("%s was delivered %d times and its offset was never committed. The last error of Handle: %s", what, maxAttempts,
		sentence(ledger.Shorten(l.proc.result.Text, 200)))
	if r.refused != "" {
		text += " " + r.refused
	}
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Limit, Text: text, Decisive: true})
	r.out.problem = &problem{kind: verdict.Stuck, text: text, object: object}
}

// sentence ends a text with a full stop.
func sentence(s string) string {
	if s == "" {
		return "it has no text."
	}
	return strings.TrimRight(s, ".") + "."
}
