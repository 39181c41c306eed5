package grader

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"redeliver/grader/cluster"
	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// maxAttempts is how often a record is delivered before it counts as stuck: the
// first time and four redeliveries, or four after the last deviation.
const maxAttempts = 5

// patience is how many SQLITE_BUSY answers in a row an instance gets before the
// other one, which holds the lock, goes on: in production it would have long
// finished by then.
const patience = 5

// run is one schedule under way.
type run struct {
	*world
	schedule schedule.Schedule
	options
	set   *recordSet
	group *cluster.Consumer
	entry entry
	rec   trace.Recorder
	out   *result

	lanes    []*lane // A, and B when there is one
	active   *lane
	attempts map[string]int // deliveries of each record
	before   map[string]int // those before the last deviation
	fired    map[schedule.Deviation]bool
	// lastError is what a function of the submission returned last.
	lastError string
	refused   string // what the database's rules refused last
	broken    error  // a failure of ours that was met where no error can be returned
}

// options are what a run is for.
type options struct {
	// choose decides between instances; nil: the schedule does.
	choose schedule.Choose
	// positions asks the guest for the candidate's line of each effect. That is
	// half of what a delivery costs, so only runs that are told have them.
	positions bool
	// live lets every process run, also where the memo knows what it will do.
	live bool
}

// run executes one schedule from a clean start and looks into the database. An
// error is ours.
func (w *world) run(ctx context.Context, s schedule.Schedule, o options) (*result, error) {
	if w.sub.exercise.MakesClients() {
		return w.runClients(ctx, s, o)
	}
	if s.Phase == schedule.Cluster {
		return w.runGroup(ctx, s, o)
	}
	set, err := w.records(ctx, s.Set)
	if err != nil {
		return nil, err
	}
	if err := w.use(s.Database); err != nil {
		return nil, err
	}
	if err := w.reset(ctx, set); err != nil {
		return nil, err
	}
	r := &run{
		world: w, schedule: s, options: o, set: set, group: w.consumer(set), attempts: map[string]int{},
		fired: map[schedule.Deviation]bool{}, out: &result{schedule: s, set: set, positions: o.positions, entry: w.sub.exercise.Entry},
	}
	if r.entry, err = newEntry(w.sub.exercise.Entry); err != nil {
		return nil, err
	}
	for _, step := range set.produced {
		r.rec.Add(step)
	}
	err = r.consume(ctx)
	if err = errors.Join(err, r.stop(), r.broken); err != nil {
		return nil, fmt.Errorf("schedule %q: %w", s, err)
	}
	if err := r.judge(ctx); err != nil {
		return nil, fmt.Errorf("schedule %q: %w", s, err)
	}
	return r.out, nil
}

// consume lets the instances go on, one effect at a time, until every record is
// committed or a problem ends the schedule.
func (r *run) consume(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	for !r.over() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l := r.polling(); l != nil {
			if happened, err := r.betweenRecords(ctx, l); err != nil || happened {
				if err != nil {
					return err
				}
				continue
			}
			if err := r.poll(ctx, l); err != nil {
				return err
			}
			continue
		}
		l := r.pick()
		if l == nil && r.lockedUp() {
			continue
		}
		if l == nil {
			if again, err := r.goOn(ctx); err != nil || !again {
				return errors.Join(err, r.unfired())
			}
			continue
		}
		happened, err := r.deviate(ctx, l)
		if err == nil && !happened {
			err = r.step(ctx, l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// open starts the instances: A with every partition, or A and B with one each.
// A schedule that moves the partition needs real members, which the broker
// fences; the others read as a simple consumer, which is faster.
func (r *run) open(ctx context.Context) error {
	a := &lane{id: "A", parts: r.partitions()}
	r.lanes = []*lane{a}
	if r.schedule.Set == schedule.Two {
		b := &lane{id: "B", parts: a.parts[1:]}
		a.parts = a.parts[:1]
		r.lanes = append(r.lanes, b)
	}
	if r.schedule.Has(schedule.Rebalance) {
		if err := r.join(ctx, a); err != nil {
			return err
		}
	}
	r.active = a
	for _, l := range r.lanes {
		if err := r.startProcess(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) join(ctx context.Context, l *lane) (err error) {
	var topics []string
	for _, p := range l.parts {
		if !slices.Contains(topics, p.topic) {
			topics = append(topics, p.topic)
		}
	}
	l.member, err = r.group.Join(ctx, topics)
	return err
}

// polling returns an instance that wants its next record. One that has just
// returned an error waits until the other one has nothing in hand: it would only
// meet the same lock again, and production code backs off.
func (r *run) polling() *lane {
	for _, l := range r.lanes {
		o := r.other(l)
		waits := l.backoff && o != nil && o.inHand() && r.waitsFor(o) == ""
		if l.state == idle && !waits {
			return l
		}
	}
	return nil
}

func (r *run) other(l *lane) *lane {
	for _, o := range r.lanes {
		if o != l {
			return o
		}
	}
	return nil
}

// pick chooses who performs the next effect: the one that performed the last,
// unless the search for interleavings decides. nil: nobody has a record in hand.
func (r *run) pick() *lane {
	enabled := r.enabled()
	_, joins := r.due(schedule.Rebalance) // the second instance comes before anybody chooses
	switch {
	case len(enabled) == 0:
		return nil
	case joins && len(r.lanes) == 1:
		return r.lanes[0]
	case r.choose != nil:
		return r.lanes[r.choose(r.out.lanes(), enabled)]
	case slices.Contains(enabled, slices.Index(r.lanes, r.active)):
		return r.active
	default:
		return r.lanes[enabled[0]]
	}
}

// enabled lists the instances that can perform an effect, by number.
func (r *run) enabled() []int {
	var all []int
	for i, l := range r.lanes {
		o := r.other(l)
		waits := l.busy >= patience && o != nil && o.inHand() && o.busy < patience
		if l.inHand() && !waits && r.waitsFor(l) == "" {
			all = append(all, i)
		}
	}
	return all
}

// due returns a deviation of the next effect that has not happened yet.
func (r *run) due(do schedule.Action) (schedule.Deviation, bool) {
	d := schedule.Deviation{At: len(r.out.effects), Do: do}
	return d, slices.Contains(r.schedule.At(d.At), d) && !r.fired[d]
}

// fire notes that a deviation has happened. What a record was delivered for in
// vain until then may be its doing, and does not count.
func (r *run) fire(d schedule.Deviation) {
	r.fired[d] = true
	r.before = maps.Clone(r.attempts)
}

// betweenRecords does what the schedule has for an instance with nothing in
// hand: time passes, or the process dies after its last effect.
func (r *run) betweenRecords(ctx context.Context, l *lane) (happened bool, err error) {
	if len(r.out.effects) == 0 {
		return false, nil
	}
	if r.jump() {
		return true, nil
	}
	if d, ok := r.due(schedule.Reassign); ok {
		r.fire(d)
		r.rec.Add(verdict.Step{
			Event: trace.Fault, Decisive: true,
			Text: fmt.Sprintf("A rebalance takes the partition from %s and gives it back.", l.proc.name),
		})
		r.entry.started(l)
		return true, nil
	}
	if d, ok := r.due(schedule.Crash); ok && l == r.active {
		r.fire(d)
		return true, r.crash(ctx, l, "")
	}
	return false, nil
}

// deviate does what the schedule has before the next effect, of instance l.
// Failing and losing the effect itself are step's.
func (r *run) deviate(ctx context.Context, l *lane) (happened bool, err error) {
	if r.jump() {
		return true, nil
	}
	if d, ok := r.due(schedule.Rebalance); ok && len(r.lanes) == 1 {
		r.fire(d)
		return true, r.rebalance(ctx, l)
	}
	if d, ok := r.due(schedule.Crash); ok {
		r.fire(d)
		return true, r.crash(ctx, l, l.nextLabel())
	}
	if d, ok := r.due(schedule.Switch); ok && r.choose == nil {
		r.fire(d)
		if o := r.other(l); o != nil && slices.Contains(r.enabled(), slices.Index(r.lanes, o)) {
			r.active = o
			return true, nil
		}
	}
	r.active = l
	return false, nil
}

// jump moves the clock when the schedule says so.
func (r *run) jump() bool {
	for _, do := range []schedule.Action{schedule.JumpDay, schedule.JumpWeek, schedule.JumpExpiry} {
		d, ok := r.due(do)
		if !ok {
			continue
		}
		r.fire(d)
		by := map[schedule.Action]time.Duration{schedule.JumpDay: 25 * time.Hour, schedule.JumpWeek: maxJump}[do]
		text := spoken(by) + " pass."
		if do == schedule.JumpExpiry {
			if by = r.expiry(); by == 0 {
				return true // there is no such key in this schedule
			}
			text = spoken(by) + " pass, so the keys in Redis expire."
		}
		r.clock.Advance(by)
		r.rec.Add(verdict.Step{Event: trace.Fault, Text: text, Decisive: true})
		return true
	}
	return false
}

// maxJump is how long a record can come again after it was sent: a topic that
// keeps its records for seven days still has it.
const maxJump = 8 * 24 * time.Hour

// expiry is the time until the last key in Redis has expired of those that expire
// at all, as long as a record can come again after it. 0: there is none.
func (r *run) expiry() time.Duration {
	if r.redis == nil {
		return 0
	}
	if left := r.redis.server.Expiry(r.clock.Now()); left > 0 && left <= maxJump {
		return (left + time.Second - 1).Truncate(time.Second)
	}
	return 0
}

// rebalance moves l's partitions to a second instance, which joins now. l does
// not know: it goes on when the other one is done.
func (r *run) rebalance(ctx context.Context, l *lane) error {
	b := &lane{id: "B", parts: l.parts}
	r.rec.Add(verdict.Step{
		Event: trace.Fault, Decisive: true,
		Text: fmt.Sprintf("%s is slow; its session ends and the partition moves to B. %s does not know.", l.proc.name, l.proc.name),
	})
	if err := l.member.Evict(ctx); err != nil {
		return err
	}
	l.fenced = true
	if err := r.join(ctx, b); err != nil {
		return err
	}
	r.lanes = append(r.lanes, b)
	r.active = b
	return r.startProcess(ctx, b)
}

// goOn is asked when no instance has anything left: is there more after all?
func (r *run) goOn(ctx context.Context) (again bool, err error) {
	if l := r.entry.settle(r); l != nil {
		l.state = idle
		return true, nil
	}
	return r.rewind(ctx)
}

// rewind puts the group back to the start when everything is done and the
// schedule says so.
func (r *run) rewind(ctx context.Context) (again bool, err error) {
	d, ok := r.due(schedule.Rewind)
	if !ok || r.lanes[0].member != nil {
		return false, nil
	}
	r.fire(d)
	for _, p := range r.partitions() {
		if err := r.group.Commit(ctx, p.topic, p.id, 0); err != nil {
			return false, fmt.Errorf("rewind: %w", err)
		}
	}
	r.rec.Add(verdict.Step{Event: trace.Fault, Text: "The group is put back to offset 0: every record comes again.", Decisive: true})
	for _, l := range r.lanes {
		l.state = idle
	}
	return true, nil
}

// unfired makes sure that what the schedule is about did happen. Schedules with
// several deviations may miss one: the first changes what comes after it.
func (r *run) unfired() error {
	if len(r.schedule.Deviations) == 1 && len(r.fired) == 0 && r.schedule.Phase != schedule.Random {
		return fmt.Errorf("the fault %v did not happen", r.schedule.Deviations[0])
	}
	return nil
}

func (r *run) partitions() []partition {
	var all []partition
	for p := range r.set.ends {
		all = append(all, p)
	}
	slices.SortFunc(all, partition.compare)
	return all
}
