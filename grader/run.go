package grader

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"redeliver/grader/cluster"
	"redeliver/grader/guest/abi"
	"redeliver/grader/invariant"
	"redeliver/grader/ledger"
	"redeliver/grader/sandbox"
	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// maxAttempts is how often a record is delivered before it counts as stuck: the
// first time and four redeliveries.
const maxAttempts = 5

// delivery is one time that a record is handed to the handler.
type delivery struct {
	verdict.Delivery
	record  abi.Record
	eventID string
	step    int // of the timeline, from 1
}

// done is an effect that took place, or was cut off, for plans and sentences.
type done struct {
	label    string // "UPDATE accounts (handler.go:31)"
	instance string
	attempt  int
	step     int // of the timeline
	offset   bool
}

// result is everything that one schedule showed.
type result struct {
	schedule   schedule.Schedule
	steps      []verdict.Step
	effects    []done
	deliveries []*delivery
	violations []invariant.Violation
	// problem is what ended the schedule before its time: a limit, a panic, work
	// after return, a record that is never committed.
	problem *problem
	stdout  []byte
	stderr  []byte
	set     *recordSet
}

// problem is a finding that no invariant makes.
type problem struct {
	kind   verdict.Kind
	text   string
	file   string
	line   int
	wall   bool // rests on a clock of ours: believed only when it happens twice
	object string
}

// run is one schedule under way.
type run struct {
	*world
	schedule schedule.Schedule
	set      *recordSet
	group    *cluster.Consumer
	rec      trace.Recorder
	out      *result

	proc     *process
	life     int // of instance A: 1 is "A", 2 is "A2"
	attempts map[string]int
	fired    map[int]bool // by effect: deviations that happened
	refused  string       // what the database's rules refused last
}

// due returns the deviation at the next effect, when it is of that kind and has
// not happened. After a crash the next process stands at the same effect again.
func (r *run) due(do schedule.Action) bool {
	at := len(r.out.effects)
	d, ok := r.schedule.At(at)
	return ok && d.Do == do && !r.fired[at]
}

// run executes one schedule from a clean start and looks into the database. An
// error is ours.
func (w *world) run(ctx context.Context, s schedule.Schedule) (*result, error) {
	set, err := w.records(ctx, s.Set)
	if err != nil {
		return nil, err
	}
	w.clock.Set(w.sub.start)
	if err := w.ledger.Reset(uint64(w.sub.seed)); err != nil { //nolint:gosec // any 64 bits are a seed
		return nil, err
	}
	r := &run{
		world: w, schedule: s, set: set, group: w.consumer(set), attempts: map[string]int{}, fired: map[int]bool{},
		out: &result{schedule: s, set: set},
	}
	for _, step := range set.produced {
		r.rec.Add(step)
	}
	err = r.consume(ctx)
	r.stop()
	if err = errors.Join(err, w.broken); err != nil {
		return nil, fmt.Errorf("schedule %q: %w", s, err)
	}
	if err := r.judge(ctx); err != nil {
		return nil, fmt.Errorf("schedule %q: %w", s, err)
	}
	return r.out, nil
}

// consume delivers records until the group has committed all of them or a
// problem ends the schedule.
func (r *run) consume(ctx context.Context) error {
	if err := r.startProcess(ctx, false); err != nil {
		return err
	}
	for r.out.problem == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(r.out.effects) > 0 && r.due(schedule.Crash) { // after the last effect, between two polls
			if err := r.crash(ctx, "after "+r.lastLabel()); err != nil {
				return err
			}
			continue
		}
		d, err := r.poll(ctx)
		if err != nil {
			return err
		}
		if d == nil {
			break
		}
		if err := r.deliver(ctx, d); err != nil {
			return err
		}
	}
	if r.out.problem == nil && len(r.fired) != len(r.schedule.Deviations) {
		return fmt.Errorf("%d of %d faults happened", len(r.fired), len(r.schedule.Deviations))
	}
	return nil
}

// startProcess gives instance A its next life: fresh memory, no connections.
func (r *run) startProcess(ctx context.Context, after bool) error {
	r.life++
	name := "A"
	if r.life > 1 {
		name = fmt.Sprintf("A%d", r.life)
	}
	snap, stop, err := r.sub.snapshot(ctx, name)
	if err != nil {
		return err
	}
	r.proc = &process{name: name, w: r.world}
	if stop != nil {
		r.limit(*stop)
		return nil
	}
	if r.proc.inst, err = r.instance(ctx); err != nil {
		return err
	}
	if err := r.proc.inst.Restore(snap); err != nil {
		return fmt.Errorf("restore %s: %w", name, err)
	}
	if after {
		r.rec.Add(verdict.Step{Lane: name, Event: trace.Restart, Text: fmt.Sprintf("A new process starts as %s: empty memory, nothing committed by it.", name)})
	}
	return nil
}

// poll asks the broker where the group stands and fetches the record there. nil
// is the end of the log.
func (r *run) poll(ctx context.Context) (*delivery, error) {
	for _, p := range r.partitions() {
		at, err := r.group.Committed(ctx, p.topic, p.id)
		if err != nil {
			return nil, err
		}
		rec, err := r.group.Fetch(ctx, p.topic, p.id, max(at, 0))
		if err != nil {
			return nil, err
		}
		if rec == nil {
			if max(at, 0) != r.set.ends[p] {
				return nil, fmt.Errorf("%s/%d ends at %d, %d were sent", p.topic, p.id, max(at, 0), r.set.ends[p])
			}
			continue
		}
		event, err := r.set.eventAt(rec.Topic, rec.Partition, rec.Offset)
		if err != nil {
			return nil, err
		}
		key := fmt.Sprintf("%s/%d/%d", rec.Topic, rec.Partition, rec.Offset)
		r.attempts[key]++
		d := &delivery{eventID: event.ID, record: abi.Record{
			Topic: rec.Topic, Partition: rec.Partition, Offset: rec.Offset, Key: rec.Key, Value: rec.Value, Timestamp: rec.Timestamp,
		}}
		d.Offset, d.Attempt, d.Instance = rec.Offset, r.attempts[key], r.proc.name
		for _, h := range rec.Headers {
			d.record.Headers = append(d.record.Headers, abi.Header{Key: h.Key, Value: h.Value})
		}
		return d, nil
	}
	return nil, nil //nolint:nilnil // the end of the log
}

func (r *run) partitions() []partition {
	var all []partition
	for p := range r.set.ends {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b partition) int {
		if a.topic != b.topic {
			if a.topic < b.topic {
				return -1
			}
			return 1
		}
		return int(a.id - b.id)
	})
	return all
}

// deliver hands a record to the handler and sees it through to the offset
// commit, an error, or the death of the process.
func (r *run) deliver(ctx context.Context, d *delivery) error {
	r.out.deliveries = append(r.out.deliveries, d)
	if d.Attempt > maxAttempts {
		d.Ended = "not handled"
		r.stuck(d)
		return nil
	}
	r.rec.Add(verdict.Step{Lane: d.Instance, Event: trace.Deliver, Text: deliverText(d, r.set)})
	d.step = r.rec.Last().Step
	stop, err := r.proc.start(ctx, d)
	for err == nil && stop == nil {
		stop, err = r.effect(ctx, d)
		if r.proc.pending == nil && stop == nil { // crashed, or a limit of the database
			return err
		}
	}
	if err != nil {
		return err
	}
	if stop.Reason != sandbox.Returned {
		d.Ended = endedBy(stop.Reason)
		r.limit(*stop)
		return nil
	}
	return r.handled(ctx, d)
}

func deliverText(d *delivery, set *recordSet) string {
	what := fmt.Sprintf("%s/%d offset %d", d.record.Topic, d.record.Partition, d.Offset)
	if e, ok := set.events[d.eventID]; ok {
		what += ", " + nameOf(e)
	}
	if d.Attempt == 1 {
		return d.Instance + " receives " + what + "."
	}
	return fmt.Sprintf("%s receives %s again (delivery %d): its offset was never committed.", d.Instance, what, d.Attempt)
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

// effect performs, or cuts off, the effect that the guest is parked at.
func (r *run) effect(ctx context.Context, d *delivery) (*sandbox.Stop, error) {
	e, err := readEffect(*r.proc.pending)
	if err != nil {
		r.proc.kill()
		r.out.problem = &problem{kind: verdict.Crash, text: "The submission made a malformed call to the host."}
		return nil, nil //nolint:nilnil // the schedule ends with the problem
	}
	if r.due(schedule.Crash) {
		r.proc.kill()
		d.Ended = "crashed before " + e.label()
		return nil, r.crash(ctx, "before "+e.label())
	}
	r.rec.Add(verdict.Step{Lane: r.proc.name, Event: trace.SQL, Text: e.text(), File: e.at.File, Line: e.at.Line})
	r.out.effects = append(r.out.effects, done{label: e.label(), instance: r.proc.name, attempt: d.Attempt, step: r.rec.Last().Step})
	out, err := r.perform(ctx, r.proc.name, e)
	var limit *ledger.LimitError
	if errors.As(err, &limit) {
		r.proc.kill()
		d.Ended = "was stopped"
		r.rec.Add(verdict.Step{Lane: r.proc.name, Event: trace.Limit, Text: limit.Text, File: e.at.File, Line: e.at.Line})
		r.out.problem = &problem{kind: verdict.Timeout, text: limit.Text, file: e.at.File, line: e.at.Line, wall: true}
		return nil, nil //nolint:nilnil // the schedule ends with the problem
	}
	if err != nil {
		r.proc.kill()
		return nil, err
	}
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
	return r.proc.answer(ctx, out.reply)
}

// crash ends the process: its transactions roll back, its memory is gone, and
// what it had not committed to Kafka comes again to the next one.
func (r *run) crash(ctx context.Context, where string) error {
	r.fired[len(r.out.effects)] = true
	open := r.ledger.OpenTransactions(r.proc.name)
	if err := r.ledger.Kill(r.proc.name); err != nil {
		return err
	}
	text := fmt.Sprintf("%s dies %s.", r.proc.name, where)
	if open > 0 {
		text += " Its open transaction is rolled back."
	}
	r.rec.Add(verdict.Step{Lane: r.proc.name, Event: trace.Crash, Text: text, Decisive: true})
	return r.startProcess(ctx, true)
}

// handled goes on after the handler has returned: goroutines that it left, then
// the offset commit, or none after an error.
func (r *run) handled(ctx context.Context, d *delivery) error {
	leak, stop, err := r.proc.drain(ctx)
	switch {
	case err != nil:
		return err
	case leak != nil:
		return r.leaked(d, *leak)
	case stop.Reason != sandbox.Returned:
		d.Ended = endedBy(stop.Reason)
		r.limit(*stop)
		return nil
	}
	text := "Handle returns nil."
	if r.proc.result.Failed {
		text = fmt.Sprintf("Handle returns an error: %s", ledger.Shorten(r.proc.result.Text, 200))
	}
	if r.ledger.OpenTransactions(r.proc.name) > 0 {
		text += " A transaction is still open."
	}
	r.rec.Add(verdict.Step{Lane: r.proc.name, Event: trace.Return, Text: text})
	if r.proc.result.Failed {
		d.Ended = "returned an error"
		return nil
	}
	return r.commitOffset(ctx, d)
}

// commitOffset is the harness's own effect: the last of a delivery.
func (r *run) commitOffset(ctx context.Context, d *delivery) error {
	const label = "the offset commit"
	next := d.Offset + 1
	if r.due(schedule.Crash) {
		d.Ended = "crashed before offset commit"
		return r.crash(ctx, "after "+r.lastLabelOf(d)+" and before the offset commit")
	}
	step := verdict.Step{Lane: r.proc.name, Event: trace.CommitOffset, Text: fmt.Sprintf("Commits offset %d of %s/%d to Kafka.", next, d.record.Topic, d.record.Partition)}
	lose := r.due(schedule.LoseCommit)
	if lose {
		r.fired[len(r.out.effects)] = true
		step.Event, step.Decisive = trace.Fault, true
		step.Text = "The offset commit fails: the group is rebalancing, nothing is stored."
	}
	r.rec.Add(step)
	r.out.effects = append(r.out.effects, done{label: label, instance: r.proc.name, attempt: d.Attempt, step: r.rec.Last().Step, offset: true})
	if lose {
		d.Ended = "handled; the offset commit was not stored"
		return r.group.LoseCommit(ctx, d.record.Topic, d.record.Partition, next)
	}
	d.Ended = "committed"
	if err := r.group.Commit(ctx, d.record.Topic, d.record.Partition, next); err != nil {
		return fmt.Errorf("commit offset %d: %w", next, err)
	}
	return nil
}

// sentence ends a text with a full stop.
func sentence(s string) string {
	if s == "" {
		return "it has no text."
	}
	return strings.TrimRight(s, ".") + "."
}

func (r *run) lastLabel() string {
	return r.out.effects[len(r.out.effects)-1].label
}

// lastLabelOf names the last effect of a delivery: what had happened when the
// process died.
func (r *run) lastLabelOf(d *delivery) string {
	for _, e := range slices.Backward(r.out.effects) {
		if e.step > d.step {
			return e.label
		}
	}
	return "Handle returned"
}

// leaked ends the schedule: a goroutine used the database after Handle had
// returned, so the harness may have committed the offset of unfinished work.
func (r *run) leaked(d *delivery, q request) error {
	d.Ended = "returned before its work was done"
	text, file, line := "a call", "", 0
	if e, err := readEffect(q); err == nil {
		text, file, line = e.label(), e.at.File, e.at.Line
	}
	text = fmt.Sprintf("After Handle had returned, a goroutine that it had started went on with %s.", text)
	r.rec.Add(verdict.Step{Lane: r.proc.name, Event: trace.Leak, Text: text, File: file, Line: line, Decisive: true})
	r.out.problem = &problem{kind: verdict.Leaked, text: text, file: file, line: line}
	return nil
}

// limit ends the schedule with what stopped the process.
func (r *run) limit(stop sandbox.Stop) {
	kind, ok := stop.Reason.Kind()
	if !ok {
		r.broken = errors.Join(r.broken, fmt.Errorf("the sandbox stopped the process: %s %s", stop.Reason, stop.Text))
		return
	}
	event := trace.Limit
	if kind == verdict.Crash {
		event = trace.Crash
	}
	r.rec.Add(verdict.Step{Lane: r.proc.name, Event: event, Text: stop.Text, File: stop.File, Line: stop.Line, Decisive: true})
	r.out.problem = &problem{kind: kind, text: stop.Text, file: stop.File, line: stop.Line, wall: stop.Reason == sandbox.Deadline}
}

// stuck ends the schedule: the record came again and again and its offset was
// never committed.
func (r *run) stuck(d *delivery) {
	what := fmt.Sprintf("offset %d", d.Offset)
	object := ""
	if e, ok := r.set.events[d.eventID]; ok {
		what, object = nameOf(e), nameOf(e)
	}
	text := fmt.Sprintf("%s was delivered %d times and its offset was never committed. The last error of Handle: %s", what, maxAttempts,
		sentence(ledger.Shorten(r.proc.result.Text, 200)))
	if r.refused != "" {
		text += " " + r.refused
	}
	r.rec.Add(verdict.Step{Lane: r.proc.name, Event: trace.Limit, Text: text, Decisive: true})
	r.out.problem = &problem{kind: verdict.Stuck, text: text, object: object}
}

// stop ends the process at the end of a schedule, as a service is stopped: what
// it has open is rolled back.
func (r *run) stop() {
	if r.proc == nil {
		return
	}
	r.proc.kill()
	r.broken = errors.Join(r.broken, r.ledger.Kill(r.proc.name))
	if r.proc.inst != nil {
		r.out.stdout, r.out.stderr = slices.Clone(r.proc.inst.Stdout()), slices.Clone(r.proc.inst.Stderr())
	}
}

// judge runs the exercise's invariants, unless the schedule ended before its
// time: a database of half a run proves nothing.
func (r *run) judge(ctx context.Context) error {
	defer func() { r.out.steps = r.rec.Steps() }()
	if r.out.problem != nil {
		return nil
	}
	facts := invariant.Facts{Sent: r.set.sent}
	for _, d := range r.out.deliveries {
		facts.Delivered = append(facts.Delivered, invariant.Delivered{
			EventID: d.eventID, Topic: d.record.Topic, Partition: d.record.Partition, Offset: d.Offset,
			Attempt: d.Attempt, Instance: d.Instance, Outcome: d.Ended,
		})
	}
	expected := r.sub.exercise.Events.Expected(r.sub.eventsOf(r.set))
	for _, c := range expected.Columns {
		facts.Expected.Columns = append(facts.Expected.Columns, c.Name)
	}
	for _, row := range expected.Rows {
		values := make([]driver.Value, len(row))
		for i, v := range row {
			values[i] = v
		}
		facts.Expected.Rows = append(facts.Expected.Rows, values)
	}
	var err error
	if r.out.violations, err = invariant.Check(ctx, r.ledger, facts, r.sub.exercise.Invariants); err != nil {
		return err
	}
	for _, v := range r.out.violations {
		r.rec.Add(verdict.Step{Event: trace.Check, Text: v.Message["en"], Decisive: true})
	}
	return nil
}
