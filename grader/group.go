package grader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/exercises"
	"redeliver/grader/cluster/bubble"
	"redeliver/grader/cluster/members"
	"redeliver/grader/guest/abi"
	"redeliver/grader/invariant"
	"redeliver/grader/ledger"
	"redeliver/grader/sandbox"
	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// groupRun is a schedule of the phase cluster: two real members of a real group
// in virtual time, of package members, whose handler is the guest. At most one of
// the two runs at any moment; the other one is paused before an effect.
type groupRun struct {
	*run
	began  time.Time // of the bubble's clock
	parts  []*part
	events []members.Event
}

// part is what one delivery did, in pieces: a pause begins a new one. The story's
// events say in which order pieces of different deliveries came.
type part struct {
	d      *delivery
	lane   *lane
	pieces [][]verdict.Step
	shown  int
}

// errOver is what a handler answers once a problem has ended the schedule.
var errOver = errors.New("the schedule is over")

// scenarioOf finds the scenario of a schedule of the phase cluster.
func scenarioOf(s schedule.Schedule) (sc members.Scenario, at int, ok bool) {
	for _, sc := range members.Scenarios() {
		for _, d := range s.Deviations {
			if string(d.Do) == sc.Name {
				return sc, d.At, true
			}
		}
	}
	return members.Scenario{}, 0, false
}

// runGroup plays a scenario. An error is ours.
func (w *world) runGroup(ctx context.Context, s schedule.Schedule, o options) (*result, error) {
	sc, at, ok := scenarioOf(s)
	if !ok {
		return nil, fmt.Errorf("schedule %q has no scenario", s)
	}
	set := w.groupSet()
	if err := w.use(s.Database); err != nil {
		return nil, err
	}
	if err := w.reset(ctx, set); err != nil {
		return nil, err
	}
	g := &groupRun{run: &run{
		world: w, schedule: s, options: o, set: set, attempts: map[string]int{}, fired: map[schedule.Deviation]bool{},
		out: &result{schedule: s, set: set, positions: o.positions, entry: w.sub.exercise.Entry}, entry: records{}, // the members poll and commit
	}}
	// Snapshots and guests are made out here: they outlive the bubble.
	for _, name := range []string{"A", "B"} {
		l := &lane{id: name}
		g.lanes = append(g.lanes, l)
		if err := g.startProcess(ctx, l); err != nil {
			return nil, err
		}
	}
	err := g.makeGuests(ctx)
	if err == nil && g.out.problem == nil {
		err = g.play(ctx, sc, at)
	}
	if err = errors.Join(err, g.stop(), g.broken); err != nil {
		return nil, fmt.Errorf("schedule %q: %w", s, err)
	}
	g.tell()
	if err := g.judge(ctx); err != nil {
		return nil, fmt.Errorf("schedule %q: %w", s, err)
	}
	return g.out, nil
}

// makeGuests makes the guests that do not exist yet, unless there is nothing to
// run.
func (g *groupRun) makeGuests(ctx context.Context) error {
	for _, l := range g.lanes {
		if g.out.problem != nil {
			return nil
		}
		if _, err := g.guest(ctx, l.id); err != nil {
			return err
		}
	}
	return nil
}

// groupSet are the records of a scenario: every logical event in one partition,
// on the scenario's own broker.
func (w *world) groupSet() *recordSet {
	s := &recordSet{events: map[string]exercises.Event{}, ends: map[partition]int64{}}
	for i, e := range w.eventsFor(schedule.All) {
		e.Topic, e.Partition = w.sub.events[0].Topic, 0
		s.events[e.ID] = e
		s.sent = append(s.sent, invariant.Sent{EventID: e.ID, Topic: e.Topic, Offset: int64(i), Key: e.Key, Value: e.Value, Copies: 1})
		s.ends[partition{e.Topic, 0}] = int64(i) + 1
	}
	return s
}

func (g *groupRun) play(ctx context.Context, sc members.Scenario, at int) error {
	var records members.Records
	for _, s := range g.set.sent {
		records = append(records, recordOf(g.set.events[s.EventID]))
	}
	story, err := members.Run(ctx, sc, records, members.Options{At: at, MaxDeliveries: maxAttempts}, g.handle)
	if err != nil {
		return err
	}
	g.events = story.Events
	if story.Stuck && !g.over() && len(g.parts) > 0 {
		last := g.parts[len(g.parts)-1]
		g.stuck(last.lane, last.lane.current)
	}
	return nil
}

// handle is one delivery: the guest runs from effect to effect, and before each
// the scenario may pause it or end its process.
func (g *groupRun) handle(ctx context.Context, md *members.Delivery) error {
	if g.over() || g.broken != nil {
		return errOver
	}
	refused, err := g.deliverTo(ctx, md)
	if err != nil && ctx.Err() == nil && !errors.Is(err, members.ErrCrashed) { // ours, and no answer of the handler
		g.broken = errors.Join(g.broken, err)
		return errOver
	}
	return errors.Join(refused, err)
}

// deliverTo gives a record to the guest. refused is what the handler answers, err
// why it could not.
func (g *groupRun) deliverTo(ctx context.Context, md *members.Delivery) (refused, err error) {
	p := g.beginPart(md.Instance, md.Attempt, md.Record)
	stop, err := p.lane.proc.start(ctx, p.lane.current.task)
	for err == nil && stop == nil {
		g.keepTime()
		if err := g.await(md, p); err != nil {
			return nil, err
		}
		if stop, err = g.perform(ctx, md, p); g.over() {
			return errOver, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return g.ended(ctx, p, stop)
}

func (g *groupRun) beginPart(instance string, attempt int, rec *kgo.Record) *part {
	l := g.lanes[0]
	if instance == "B" {
		l = g.lanes[1]
	}
	w := &work{task: abi.Task{Kind: abi.Handle, NoPositions: !g.positions}, attempt: attempt}
	if g.sub.exercise.Entry == "batch" { // the members of a scenario take records one by one
		w.task.Kind = abi.HandleBatch
	}
	d := deliveryOf(rec, g.set, attempt, l)
	w.deliveries, w.task.Records = []*delivery{d}, []abi.Record{d.record}
	l.current, l.busy = w, 0
	p := &part{d: d, lane: l, pieces: make([][]verdict.Step, 1)}
	g.parts = append(g.parts, p)
	g.out.deliveries = append(g.out.deliveries, d)
	return p
}

// longestSleep is how much of a guest's sleep the group sees: more than Kafka's
// max.poll.interval.ms, after which a consumer is taken for dead.
const longestSleep = 6 * time.Minute

// keepTime lets the group's clock and the guest's agree: what the guest has slept
// passes for the group, and what has passed for the group passes for the guest.
func (g *groupRun) keepTime() {
	if bubble.Real {
		return
	}
	if g.began.IsZero() {
		g.began = time.Now()
	}
	ahead := g.clock.Now().Sub(g.sub.start) - time.Since(g.began)
	if over := ahead - longestSleep; over > 0 { // it need not last: every heartbeat of a day is real work
		g.began, ahead = g.began.Add(-over), longestSleep
	}
	if ahead > 0 {
		time.Sleep(ahead) //nolint:forbidigo // virtual time of the bubble, which is what the guest's sleep is made of
		return
	}
	g.clock.Advance(-ahead)
}

// await is the point before an effect at which the scenario may pause the guest
// for minutes of virtual time, or end its process.
func (g *groupRun) await(md *members.Delivery, p *part) error {
	deliveries, effects := len(g.out.deliveries), len(g.out.effects)
	err := md.Effect()
	if len(g.out.deliveries) != deliveries || len(g.out.effects) != effects {
		p.pieces = append(p.pieces, nil) // others went on meanwhile
	}
	g.keepTime()
	if err == nil {
		return nil
	}
	site := &crashSite{instance: p.lane.proc.name, after: g.lastLabel(p.lane), before: p.lane.nextLabel()}
	p.lane.proc.kill()
	if errors.Is(err, members.ErrCrashed) && g.out.crash == nil {
		g.out.crash = site
		p.d.Ended = "crashed before " + strings.TrimPrefix(site.before, "the ")
	}
	return errors.Join(err, g.kill(p.lane.proc.name))
}

// perform performs the effect that the guest is parked at. Where it meets the
// other one's lock it waits, as with a busy time-out, until that one is done.
func (g *groupRun) perform(ctx context.Context, md *members.Delivery, p *part) (*sandbox.Stop, error) {
	l := p.lane
	e, err := readEffect(*l.proc.pending)
	if err != nil {
		l.proc.kill()
		g.out.problem = &problem{kind: verdict.Crash, text: "The submission made a malformed call to the host."}
		return nil, nil //nolint:nilnil,nilerr // it is the submission's, and the schedule ends with it
	}
	at := e.position()
	step := verdict.Step{Lane: l.proc.name, Event: e.event(), Text: e.text(), File: at.File, Line: at.Line}
	out, err := e.perform(ctx, g.world, l.proc.name)
	if err == nil && out.busy || isWaiting(err) {
		switch waited := md.Blocked(); {
		case waited == nil:
			if err != nil {
				if err := g.unansweredIn(p, step, err); err != nil {
					return nil, err
				}
			}
			p.pieces = append(p.pieces, nil)
			out, err = e.perform(ctx, g.world, l.proc.name)
		case !errors.Is(waited, members.ErrNobody):
			return nil, waited
		}
	}
	if err != nil {
		err := g.unansweredIn(p, step, err)
		if holder := g.ledger.Holder(l.proc.name); err == nil && holder != "" {
			p.add(g.waitsForEver(l, holder))
		}
		l.proc.kill() // inside of the bubble, where its goroutine is
		return nil, err
	}
	step.Rows = out.changes
	if out.result != "" {
		step.Text += " → " + out.result
	}
	g.out.effects = append(g.out.effects, done{
		label: label(e), event: e.event(), instance: l.proc.name, attempt: p.d.Attempt, durable: out.access.Durable,
		Step: schedule.Step{Lane: slices.Index(g.lanes, l), Reads: out.access.Reads, Writes: out.access.Writes},
	})
	p.add(step)
	return l.proc.answer(ctx, out.reply)
}

// unansweredIn tells in a delivery of an effect that got no answer.
func (g *groupRun) unansweredIn(p *part, step verdict.Step, err error) error {
	steps, err := g.unanswered(p.lane, step, err)
	p.add(steps...)
	return err
}

func (p *part) add(steps ...verdict.Step) {
	last := len(p.pieces) - 1
	p.pieces[last] = append(p.pieces[last], steps...)
}

// ended sees what the handler did, and returns its error as refused.
func (g *groupRun) ended(ctx context.Context, p *part, stop *sandbox.Stop) (refused, err error) {
	l := p.lane
	if stop.Reason == sandbox.Returned {
		leak, drained, err := l.proc.drain(ctx)
		if err != nil {
			return nil, err
		}
		if leak != nil {
			g.leaked(l, *leak)
			return errOver, nil
		}
		stop = drained
	}
	if stop.Reason != sandbox.Returned {
		p.d.Ended = endedBy(stop.Reason)
		g.limit(l, *stop)
		return errOver, nil
	}
	if l.proc.last.result.Failed {
		p.d.Ended = "returned an error"
		return errors.New(ledger.Shorten(l.proc.last.result.Text, 200)), nil
	}
	return nil, nil
}

// tell puts the story and what the deliveries did into one timeline.
func (g *groupRun) tell() {
	problems := g.rec.Steps() // of limits, written while the story went on
	g.rec = trace.Recorder{}
	for _, e := range g.events {
		p := g.partOf(e)
		if p == nil && e.Kind == members.Delivered {
			continue // a problem had ended the schedule, and handle took no more
		}
		if e.Kind == members.Returned && p != nil {
			g.show(p, len(p.pieces))
		}
		g.rec.Add(g.stepFor(e, p))
		if p != nil && (e.Kind == members.Delivered || e.Kind == members.Resumed) {
			p.d.step = max(p.d.step, g.rec.Last().Step)
			g.show(p, p.shown+1)
		}
	}
	for _, p := range g.parts {
		g.show(p, len(p.pieces))
	}
	for _, s := range problems {
		g.rec.Add(s)
	}
}

// show adds a delivery's pieces up to number until.
func (g *groupRun) show(p *part, until int) {
	for ; p.shown < min(until, len(p.pieces)); p.shown++ {
		for _, s := range p.pieces[p.shown] {
			g.rec.Add(s)
		}
	}
}

// partOf is the delivery that an event is about.
func (g *groupRun) partOf(e members.Event) *part {
	for _, p := range slices.Backward(g.parts) {
		sameInstance := strings.HasPrefix(p.d.Instance, e.Instance)
		switch e.Kind {
		case members.Delivered, members.Resumed, members.Returned, members.Paused, members.Waits:
			if sameInstance && p.d.Offset == e.Offset && p.d.Attempt == e.Attempt {
				return p
			}
		case members.CommitAccepted, members.CommitRefused, members.CommitUnknown:
			if sameInstance && p.d.Offset == e.Offset-1 {
				return p
			}
		default:
			return nil
		}
	}
	return nil
}

// stepFor writes an event of the story as a step of the timeline.
func (g *groupRun) stepFor(e members.Event, p *part) verdict.Step {
	s := verdict.Step{Lane: e.Instance, Event: trace.Group}
	fault := func(text string) verdict.Step {
		s.Event, s.Decisive, s.Text = trace.Fault, true, text
		return s
	}
	where, function := g.partitions()[0].String(), "Handle"
	if p != nil && p.lane.current != nil {
		function = p.lane.current.function()
	}
	switch e.Kind {
	case members.Joined:
		s.Text = e.Instance + " joins the group."
	case members.Assigned:
		s.Text = fmt.Sprintf("%s is assigned %s and reads from offset %d.", e.Instance, where, e.Offset)
	case members.Revoked:
		return fault(fmt.Sprintf("%s is revoked from %s in a rebalance.", where, e.Instance))
	case members.Delivered:
		s.Event, s.Text = trace.Deliver, deliverText(p.d, g.set)
	case members.Paused:
		return fault(e.Instance + " stands still.")
	case members.Frozen:
		return fault(e.Instance + " sends no heartbeats any more.")
	case members.Evicted:
		return fault(e.Instance + " is put out of the group: it was too slow. It does not know.")
	case members.SessionEnded:
		return fault(e.Instance + "'s session has ended; the coordinator gives its partition away.")
	case members.Resumed:
		s.Text = e.Instance + " goes on."
	case members.Waits:
		s.Text = e.Instance + " waits for the lock of the other instance."
	case members.Returned:
		s.Event, s.Text = trace.Return, function+" returns nil."
		if e.Err != "" {
			s.Text = function + " returns an error: " + e.Err
		}
	case members.CommitAccepted:
		s.Event, s.Text = trace.CommitOffset, fmt.Sprintf("Commits offset %d of %s to Kafka.", e.Offset, where)
		ends(p, "committed")
		if e.Before > e.Offset {
			return fault(fmt.Sprintf("%s commits offset %d late: the group stood at %d and is put back.", e.Instance, e.Offset, e.Before))
		}
	case members.CommitRefused:
		ends(p, "finished after its partition had moved; its offset commit was refused")
		return fault(fmt.Sprintf("%s commits offset %d; the broker refuses: %s.", e.Instance, e.Offset, e.Err))
	case members.CommitUnknown:
		ends(p, "committed; the answer was lost")
		return fault(fmt.Sprintf("%s commits offset %d; the broker stores it, the answer is lost.", e.Instance, e.Offset))
	case members.Crashed:
		s.Event, s.Decisive, s.Text = trace.Crash, true, e.Instance+" dies."
		if g.out.crash != nil {
			s.Text = fmt.Sprintf("%s dies%s.", e.Instance, g.out.crash.place())
		}
	case members.Left:
		s.Text = e.Instance + " leaves the group."
	case members.Stopped:
		s.Text = e.Instance + " learns that it is no member any more and stops."
	default:
		s.Text = fmt.Sprintf("%s: %s.", e.Instance, e.Kind)
	}
	return s
}

func ends(p *part, how string) {
	if p != nil && p.d.Ended == "" {
		p.d.Ended = how
	}
}
