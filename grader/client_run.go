package grader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"redeliver/grader/cluster"
	"redeliver/grader/cluster/bubble"
	"redeliver/grader/guest/abi"
	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// clientRun is a schedule of a submission that makes its Kafka clients itself: the
// entries consumer and producer. It is split by what it is about:
//
//	client_run.go     the loop: who goes on
//	client_step.go    a call of a client, with its faults
//	client_time.go    when nobody can go on: time passes, processes stop
//	client_effect.go  how calls read in the timeline
//	client_entry.go   what it shows to the rest of the harness
//	client_markers.go what transactions leave in the outputs
//	client_publish.go the caller of the entry producer
//
// Broker, clients and guests live in a bubble of virtual time. Between two steps
// everything in the background has come to rest, so one thing happens
// after the other: a guest runs to its next call, or a client's request is answered,
// or time passes, and that only while every process waits.
type clientRun struct {
	*run
	kafka  map[*lane]*cluster.Process
	calls  map[*lane]*waiting   // that the lane's guest is parked at
	asleep map[*lane][]*waiting // that it will come back to
	paused map[*lane]*pause
	locked map[*lane]int                   // calls that another process's lock has refused
	ahead  map[*lane]map[partition]passing // what its clients have committed by themselves
	putOut map[*lane]abi.Error             // why its client is no member any more
	limits cluster.Limits
	serial int
	groups map[string]bool // that clients are members of

	began    time.Time     // of the bubble's clock
	idle     time.Duration // since anything last happened
	stopping bool          // the contexts of all functions end
	restarts int           // of processes that had nothing to do any more, in a row
	returns  map[*lane]int // of functions that nobody had asked to end
	outputs  []output

	transactions bool // a client has begun or ended one
	ends         map[partition]extent

	publishing *publishing // nil: a consumer
}

// waiting is a call of a lane that is not answered yet.
type waiting struct {
	call  *cluster.Call
	eff   int // its place among the effects; -1: it has none, or not yet
	began int // how many effects there were when it began
	fault *cluster.Fault
}

// passing is the step of the timeline at which an offset was committed.
type passing struct {
	offset int64
	step   int
}

// pause is a process that stands still: for a time, or until the others have nothing
// left to do.
type pause struct {
	until  time.Time // of the bubble's clock; zero: the others decide
	frozen bool      // its network too
}

// runClients runs a schedule. An error is ours.
func (w *world) runClients(ctx context.Context, s schedule.Schedule, o options) (*result, error) {
	if err := w.use(s.Database); err != nil {
		return nil, err
	}
	if err := w.reset(ctx, nil); err != nil {
		return nil, err
	}
	r := &run{
		world: w, schedule: s, options: o, attempts: map[string]int{}, fired: map[schedule.Deviation]bool{},
		out: &result{schedule: s, positions: o.positions, entry: w.sub.exercise.Entry},
	}
	c := &clientRun{
		run: r, kafka: map[*lane]*cluster.Process{}, calls: map[*lane]*waiting{}, asleep: map[*lane][]*waiting{}, paused: map[*lane]*pause{}, locked: map[*lane]int{}, ahead: map[*lane]map[partition]passing{}, putOut: map[*lane]abi.Error{},
		groups: map[string]bool{}, returns: map[*lane]int{}, ends: map[partition]extent{},
		limits: cluster.Limits{Clients: maxClients, Records: maxProduced, Bytes: maxProducedBytes},
	}
	c.entry = clientEntry{}
	if w.sub.exercise.IsCalled() {
		c.publishing = newPublishing()
		c.entry = c.publishing
	}
	// Guests are made out here: they outlive the bubble.
	for _, id := range []string{"A", "B"} {
		if _, stop, err := w.sub.snapshot(ctx, id); err != nil {
			return nil, err
		} else if stop != nil {
			continue // startProcess tells of it
		}
		if _, err := w.guest(ctx, id); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, longestRun)
	defer cancel()
	err := bubble.Run(ctx, c.play)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", s, err)
	}
	w.produced.rows = c.outputs
	if err := c.judge(ctx); err != nil {
		return nil, fmt.Errorf("schedule %q: %w", s, err)
	}
	return c.out, nil
}

const (
	// longestRun is in real time: a schedule takes a tenth of a second.
	longestRun = time.Minute
	// What a schedule's processes may do together; an exercise has a handful of
	// records.
	maxClients       = 64
	maxProduced      = 400
	maxProducedBytes = 8 << 20
)

// play runs the schedule inside the bubble.
func (c *clientRun) play(ctx context.Context) (err error) {
	c.began = time.Now()
	if c.set, err = c.makeRecords(ctx, c.schedule.Set); err != nil {
		return err
	}
	c.out.set = c.set
	defer func() { c.set.close(); c.set.Cluster = nil }()
	for _, step := range c.set.produced {
		c.rec.Add(step)
	}
	err = c.consume(ctx)
	if err == nil && c.out.problem == nil {
		err = c.settleTransactions(ctx)
	}
	for l := range c.kafka {
		c.endClients(l)
	}
	return errors.Join(err, c.stop(), c.broken)
}

// consume lets the processes go on, one step at a time, until there is nothing left
// for them or a problem ends the schedule.
func (c *clientRun) consume(ctx context.Context) error {
	if err := c.open(ctx); err != nil {
		return err
	}
	for c.out.problem == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.rest()
		c.tellGroups()
		if err := c.tellMarkers(ctx); err != nil {
			return err
		}
		if happened, err := c.goOn(ctx); err != nil || happened {
			if err != nil {
				return err
			}
			continue
		}
		l := c.pick()
		if l == nil {
			if more, err := c.wait(ctx); err != nil || !more {
				return errors.Join(err, c.unfired())
			}
			continue
		}
		if !c.onlyWaits(l) {
			c.idle = 0
		}
		if err := c.act(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// open starts the processes: one, or two for records in two partitions.
func (c *clientRun) open(ctx context.Context) error {
	c.lanes = []*lane{{id: "A"}}
	if c.schedule.Set == schedule.Two {
		c.lanes = append(c.lanes, &lane{id: "B"})
	}
	c.active = c.lanes[0]
	for _, l := range c.lanes {
		if err := c.start(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// start gives an instance its next process. A consumer's calls the submission's
// function; a producer's waits for the caller.
func (c *clientRun) start(ctx context.Context, l *lane) error {
	if err := c.startProcess(ctx, l); err != nil || c.out.problem != nil {
		return err
	}
	c.kafka[l] = c.set.Process(c.serial, &c.limits)
	c.serial++
	if c.publishing != nil {
		c.keepTime()
		return nil
	}
	w := &work{task: abi.Task{Kind: abi.Run, Deadline: c.clock.Now().Add(longestLife), NoPositions: !c.positions}, attempt: 1}
	c.keepTime()
	return c.begin(ctx, l, w)
}

// longestLife is when the context of Run ends by itself, in virtual time: a function
// that waits for that and for nothing else would wait for ever.
const longestLife = 24 * time.Hour

// pick is the process that goes on: the one that did last, unless it waits.
func (c *clientRun) pick() *lane {
	if c.able(c.active) {
		return c.active
	}
	for _, l := range c.lanes {
		if c.able(l) {
			return l
		}
	}
	return nil
}

// able says whether a process is at a call that nobody has begun yet. One that was
// refused a lock again and again waits for the one that has it.
func (c *clientRun) able(l *lane) bool {
	if !c.ready(l) {
		return false
	}
	o := c.other(l)
	return l.busy < patience || o == nil || o.busy >= patience || !c.ready(o)
}

func (c *clientRun) ready(l *lane) bool {
	return c.paused[l] == nil && (l.state == idle || l.state == committing || l.state == atEffect && c.calls[l] == nil)
}

// act lets a process go on: its next call, unless the schedule has something else.
func (c *clientRun) act(ctx context.Context, l *lane) error {
	c.keepTime()
	switch {
	case l.state == idle && c.publishing != nil:
		return c.nextCall(ctx, l)
	case l.state == idle:
		return c.returnedFrom(ctx, l)
	case l.state == committing:
		happened, err := c.deviate(ctx, l)
		if err == nil && !happened {
			c.active = l
			c.answerCaller(l)
		}
		return err
	}
	e, err := readEffect(*l.proc.pending)
	if err == nil && (counts(e) || c.hasCalledBack(l, e)) {
		if happened, err := c.deviate(ctx, l); err != nil || happened {
			return err
		}
	}
	c.active = l
	if k, ok := e.(kafkaEffect); ok && err == nil {
		c.call(l, k)
		return nil
	}
	err = c.step(ctx, l)
	if l.busy > 0 {
		c.countRefusal(l)
	}
	return err
}

// hasCalledBack says whether a process goes back to a poll in which a callback of a
// rebalance has made calls that count. Whatever the poll will return then has another
// number than when it began, and the schedule's faults before it are due now.
func (c *clientRun) hasCalledBack(l *lane, e effect) bool {
	k, ok := e.(kafkaEffect)
	if !ok || k.req.Call != abi.Resume {
		return false
	}
	i := slices.IndexFunc(c.asleep[l], func(w *waiting) bool { return w.call.Ticket == k.req.Ticket })
	return i >= 0 && c.asleep[l][i].call.Request.Call == abi.PollRecords && c.calledMeanwhile(l, c.asleep[l][i])
}

// calledMeanwhile says whether the process has made calls that count since it began
// another one: in a callback, as it had nothing else to do.
func (c *clientRun) calledMeanwhile(l *lane, w *waiting) bool {
	return slices.ContainsFunc(c.out.effects[w.began:], func(eff done) bool { return eff.instance == l.proc.name })
}

// nextCall lets the caller of the entry producer call again. Another process that
// stands still with a lock goes on first: in production it would have finished.
func (c *clientRun) nextCall(ctx context.Context, l *lane) error {
	if c.locked[l] > 0 {
		delete(c.locked, l)
		if c.resume() {
			return nil
		}
	}
	c.active = l
	return c.poll(ctx, l)
}

// countRefusal counts the calls that another process's lock has refused. One that tries
// again and again waits for the one that stands still with the lock.
func (c *clientRun) countRefusal(l *lane) {
	if c.locked[l]++; c.locked[l]%mostRefusals == 0 {
		c.resume()
	}
}

// mostRefusals is how many a process gets before who stands still goes on: more than
// one that returns the error would see.
const mostRefusals = 2 * maxAttempts

// onlyWaits says whether a guest has nothing to do but to wait: it was woken, or polls.
// One that polls with a time-out again and again waits as one does that polls once.
func (c *clientRun) onlyWaits(l *lane) bool {
	if l.state != atEffect {
		return false
	}
	e, err := readEffect(*l.proc.pending)
	k, ok := e.(kafkaEffect)
	return err == nil && ok && (k.req.Call == abi.Resume || k.req.Call == abi.PollRecords)
}

// deviate does what the schedule has before the next effect, of instance l.
func (c *clientRun) deviate(ctx context.Context, l *lane) (happened bool, err error) {
	if c.jump() {
		return true, nil
	}
	switch {
	case c.take(schedule.Rebalance):
		if c.publishing != nil {
			c.publishing.left[l] = true
			c.fault("%s stands still, and its connections with it. The caller gives it up and calls B.", l.proc.name)
		} else {
			c.fault("%s stands still, and its heartbeats with it. B starts.", l.proc.name)
		}
		c.kafka[l].Freeze()
		c.paused[l] = &pause{frozen: true}
		return true, c.second(ctx)
	case c.take(schedule.Evicted):
		c.fault("%s is slow: nothing happens in it for a long time, but for its heartbeats. B starts.", l.proc.name)
		c.paused[l] = &pause{}
		return true, c.second(ctx)
	case c.take(schedule.Join):
		c.fault("B starts, while %s takes %v.", l.proc.name, stall)
		c.paused[l] = &pause{until: time.Now().Add(stall)}
		return true, c.second(ctx)
	case c.take(schedule.Stall):
		c.fault("%s takes %v. Its client goes on in the background.", l.proc.name, stall)
		c.paused[l] = &pause{until: time.Now().Add(stall)}
		return true, nil
	case c.take(schedule.Crash):
		return true, c.crash(ctx, l, l.nextLabel())
	}
	return false, nil
}

// stall is how long a process takes that is slow for a moment: longer than the
// client's default interval of commits, shorter than any time-out of the group.
const stall = 10 * time.Second

// take says whether the schedule has an action before the next effect, once.
func (c *clientRun) take(do schedule.Action) bool {
	d, ok := c.due(do)
	if ok {
		c.fired[d] = true
	}
	return ok
}

func (c *clientRun) fault(format string, args ...any) {
	c.rec.Add(verdict.Step{Event: trace.Fault, Decisive: true, Text: fmt.Sprintf(format, args...)})
}

// second starts instance B, unless it is there.
func (c *clientRun) second(ctx context.Context) error {
	if len(c.lanes) > 1 {
		return nil
	}
	b := &lane{id: "B"}
	c.lanes = append(c.lanes, b)
	c.active = b
	return c.start(ctx, b)
}

// crash ends a process at the call it is at, and starts the next one.
func (c *clientRun) crash(ctx context.Context, l *lane, before string) error {
	site := &crashSite{instance: l.proc.name, after: c.lastLabel(l), before: before}
	open := c.ledger.OpenTransactions(l.proc.name)
	l.proc.kill()
	if err := c.kill(l.proc.name); err != nil {
		return err
	}
	c.endClients(l)
	l.current.end("crashed before " + before)
	text := fmt.Sprintf("%s dies%s.", l.proc.name, site.place())
	if open > 0 {
		text += " Its open transaction is rolled back."
	}
	c.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Crash, Text: text, Decisive: true})
	if c.out.crash == nil {
		c.out.crash = site
	}
	if err := c.tellOpen(); err != nil {
		return err
	}
	return c.start(ctx, l)
}

// endClients ends the clients of a process that is gone.
func (c *clientRun) endClients(l *lane) {
	if p := c.kafka[l]; p != nil {
		c.note(p)
		if err := p.Kill(); err != nil {
			c.broken = errors.Join(c.broken, fmt.Errorf("end the clients of %s: %w", l.proc.name, err))
		}
		delete(c.kafka, l)
	}
	delete(c.calls, l)
	delete(c.asleep, l)
	delete(c.locked, l)
	delete(c.ahead, l)
	delete(c.putOut, l)
}

// note keeps the groups of a process.
func (c *clientRun) note(p *cluster.Process) {
	for _, g := range p.Groups() {
		c.groups[g] = true
	}
}
