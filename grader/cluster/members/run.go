package members

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/cluster/bubble"
)

// Run plays a scenario from the first record until all are committed, and tells
// the story. It may be called from any goroutine that is in no bubble. An error
// is ours: what was to be injected did not happen, a client failed, or the time
// was over; whatever handle did until then proves nothing.
//
// handle gets a context that carries ctx's values.
func Run(ctx context.Context, sc Scenario, records Records, opts Options, handle Handle) (Story, error) {
	if len(records) == 0 {
		return Story{}, fmt.Errorf("scenario %s: no records", sc.Name)
	}
	opts = opts.withDefaults()
	ctx, cancel := context.WithTimeoutCause(ctx, opts.Limit, fmt.Errorf("it took longer than %v", opts.Limit))
	defer cancel()
	var story Story
	err := bubble.Run(ctx, func(ctx context.Context) (err error) {
		story, err = play(ctx, sc, records, opts, handle)
		return err
	})
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	if err != nil { // story may still be written to by a function that did not stop
		return Story{}, fmt.Errorf("scenario %s: %w", sc.Name, err)
	}
	return story, nil
}

// run is a story in the making. Only the script's goroutine uses it, but for
// teller, paused and wake.
type run struct {
	teller
	ctx      context.Context
	scenario Scenario
	opts     Options
	handle   Handle
	kafka    *kafka
	records  Records

	all        []*member // all lives, in the order of their start
	a, b       *member
	paused     *Delivery // A's first
	deliveries []int     // per offset
	generation int32
	refusals   int // handlers that returned an error
	stuck      bool
}

func play(ctx context.Context, sc Scenario, records Records, opts Options, handle Handle) (_ Story, err error) {
	k, err := startKafka(ctx, records)
	if err != nil {
		return Story{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &run{
		teller: teller{start: time.Now()}, ctx: ctx, scenario: sc, opts: opts, handle: handle, kafka: k, records: records,
		deliveries: make([]int, len(records)),
	}
	defer func() {
		cancel()
		r.close()
	}()
	injected, err := r.stopFirstDelivery()
	if err != nil {
		return Story{}, err
	}
	if injected {
		for _, do := range sc.steps {
			if err := do(r); err != nil {
				return Story{}, err
			}
		}
	}
	if err := r.drain(); err != nil {
		return Story{}, err
	}
	if err := r.check(injected); err != nil {
		return Story{}, err
	}
	return Story{
		Scenario: sc.Name, Events: r.events, Deliveries: r.deliveries, Generation: r.generation,
		Injected: injected, Stuck: r.stuck,
	}, nil
}

// close ends what still lives. The contexts of handlers are over by then, and
// they are awaited: a guest must not use a host that is gone.
func (r *run) close() {
	if r.paused != nil {
		<-r.paused.ended
	}
	for _, m := range r.all {
		if !m.closed {
			m.die()
		}
	}
	r.kafka.close()
}

// stopFirstDelivery lets A get the first record and stops it. False means that
// the handler refused the record before it came so far.
func (r *run) stopFirstDelivery() (injected bool, err error) {
	if r.a, err = r.join("A"); err != nil {
		return false, err
	}
	if err := r.assigned(r.a); err != nil {
		return false, err
	}
	at := r.opts.At
	if r.scenario.beforeCommit {
		at = 0
	}
	d, err := r.next(r.a, newPause(at))
	if err != nil {
		return false, err
	}
	r.paused = d
	d.start(r.handle)
	select {
	case <-d.pause.reached:
		e := d.event(Paused)
		e.Effect = d.effect
		if d.effect != at {
			e.Effect = 0
		}
		r.tell(e)
		return true, nil
	case <-d.ended:
		if err := r.ended(d); err != nil {
			return false, err
		}
		if d.err == nil {
			return false, errors.New("the handler went past its pause")
		}
		return false, r.refuse(d)
	}
}

// drain delivers what is left. A member whose client has read further than the
// group has committed gets nothing again while it lives: it leaves, as in a
// deployment, and the next one starts where the commits are.
func (r *run) drain() error {
	for !r.stuck && r.kafka.committed() < r.kafka.end {
		m, err := r.owner()
		switch {
		case err != nil:
			return err
		case m.position >= r.kafka.end:
			err = r.leave(m)
		default:
			err = r.deliver(m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// owner is the member that has the partition; with nobody in the group, the last
// one that stopped starts anew.
func (r *run) owner() (*member, error) {
	for _, m := range r.all {
		if m.owns {
			return m, nil
		}
	}
	if n := r.inGroup(); n > 0 {
		return nil, fmt.Errorf("none of %d members has the partition", n)
	}
	m, err := r.join(r.all[len(r.all)-1].name)
	if err != nil {
		return nil, err
	}
	return m, r.assigned(m)
}

// check proves that the faults happened as planned.
func (r *run) check(injected bool) error {
	if !injected || r.refusals > 0 {
		return nil // the handler took the story elsewhere
	}
	if got := r.deliveries[0]; got != r.scenario.deliveries {
		return fmt.Errorf("offset 0 was delivered %d times instead of %d", got, r.scenario.deliveries)
	}
	if r.generation < r.scenario.generations {
		return fmt.Errorf("the group's generation is %d, it should have reached %d", r.generation, r.scenario.generations)
	}
	return nil
}

// join starts an instance.
func (r *run) join(name string) (*member, error) {
	m, err := connect(r.kafka, name, len(r.all), r.scenario)
	if err != nil {
		return nil, err
	}
	r.all = append(r.all, m)
	r.tell(Event{Kind: Joined, Instance: name})
	return m, nil
}

// assigned waits until m has the partition. Members that are gone without a
// farewell have to be out of the group by then.
func (r *run) assigned(m *member) error {
	got, err := m.await(r.ctx, Assigned)
	if err != nil {
		return err
	}
	for _, g := range r.all {
		if !g.ghost {
			continue
		}
		if r.kafka.has(g.id) {
			return fmt.Errorf("%s was assigned the partition while %s has a session", m.name, g.name)
		}
		g.ghost = false
		r.tell(Event{Kind: SessionEnded, Instance: g.name})
	}
	m.id, _ = m.client.GroupMetadata()
	r.generation = got.generation
	e := Event{Kind: Assigned, Instance: m.name, Generation: got.generation, Offset: r.kafka.committed()}
	if e.Offset < r.kafka.end {
		if err := m.fetched(r.ctx); err != nil {
			return err
		}
	}
	r.tell(e)
	return nil
}

// revoked waits until a rebalance has taken the partition from m.
func (r *run) revoked(m *member) error {
	if _, err := m.await(r.ctx, Revoked); err != nil {
		return err
	}
	r.tell(Event{Kind: Revoked, Instance: m.name})
	return nil
}

func (r *run) inGroup() (n int) {
	for _, m := range r.all {
		if m.inGroup {
			n++
		}
	}
	return n
}

// rebalanced waits for the end of the rebalance after a member has come or gone.
func (r *run) rebalanced() error {
	var last *member
	for _, m := range r.all {
		if m.inGroup {
			last = m
		}
	}
	if last == nil {
		return nil
	}
	if r.inGroup() > 1 || last.owns && !r.scenario.eager {
		return r.kafka.settled(r.ctx, r.inGroup())
	}
	if last.owns {
		if err := r.revoked(last); err != nil {
			return err
		}
	}
	return r.assigned(last)
}

// next polls a record and makes the delivery of it.
func (r *run) next(m *member, p *pause) (*Delivery, error) {
	rec, err := m.poll(r.ctx)
	if err != nil {
		return nil, err
	}
	if rec.Offset < 0 || rec.Offset >= r.kafka.end {
		return nil, fmt.Errorf("%s was given offset %d", m.name, rec.Offset)
	}
	r.deliveries[rec.Offset]++
	d := &Delivery{
		Instance: m.name, Attempt: r.deliveries[rec.Offset], Record: rec,
		ctx: r.ctx, run: r, member: m, pause: p, ended: make(chan struct{}),
	}
	rec.Topic = r.records[rec.Offset].Topic // what the handler sees is the caller's
	rec.Partition = r.records[rec.Offset].Partition
	r.tell(d.event(Delivered))
	return d, nil
}

// deliver gives the next record to m, and commits it or stops m.
func (r *run) deliver(m *member) error {
	d, err := r.next(m, nil)
	if err != nil {
		return err
	}
	d.start(r.handle)
	if err := r.ended(d); err != nil {
		return err
	}
	if d.err != nil {
		return r.refuse(d)
	}
	refused, err := r.commit(d)
	if err != nil {
		return err
	}
	if refused != nil {
		return fmt.Errorf("%s: commit offset %d: %w", m.name, d.Record.Offset+1, refused)
	}
	return nil
}

// wake lets a paused delivery go on.
func (r *run) wake(d *Delivery) {
	d.pause.release(nil, func() { r.tell(d.event(Resumed)) })
}

// ended waits for the handler. Its panic and the end of the context are errors
// of ours; a refusal is not.
func (r *run) ended(d *Delivery) error {
	<-d.ended
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if errors.Is(d.err, errPanic) {
		return d.err
	}
	return nil
}

// refuse stops the instance whose handler returned an error.
func (r *run) refuse(d *Delivery) error {
	r.refusals++
	r.stuck = r.deliveries[d.Record.Offset] >= r.opts.MaxDeliveries
	if errors.Is(d.err, ErrCrashed) {
		return r.crash(d.member)
	}
	return r.leave(d.member)
}

// leave stops a process in good order.
func (r *run) leave(m *member) error {
	if !m.inGroup { // it was put out: it has nothing to leave, and must not join again meanwhile
		m.die()
		r.tell(Event{Kind: Stopped, Instance: m.name})
		return nil
	}
	m.leave()
	r.tell(Event{Kind: Left, Instance: m.name})
	return r.rebalanced()
}

// crash ends a process without a farewell: the broker waits for its session's end.
func (r *run) crash(m *member) error {
	m.ghost = m.ghost || m.inGroup
	m.die()
	r.tell(Event{Kind: Crashed, Instance: m.name})
	return r.rebalanced()
}

// commit commits what d processed and lets rebalances happen that wait for it.
func (r *run) commit(d *Delivery) (refused *kerr.Error, err error) {
	e := d.event(CommitAccepted)
	e.Offset, e.Before = d.Record.Offset+1, r.kafka.committed()
	if refused, err = d.member.commit(r.ctx, r.own(d)); err != nil {
		return nil, err
	}
	if refused != nil {
		e.Kind, e.Err = CommitRefused, refused.Message
	}
	want := e.Offset
	if refused != nil {
		want = e.Before
	}
	if got := r.kafka.committed(); got != want {
		return nil, fmt.Errorf("%s: after commit of %d (%v) the group stands at %d", d.Instance, e.Offset, e.Kind, got)
	}
	r.tell(e)
	if refused == nil { // otherwise it would join again, while the script stops it
		d.member.allowRebalance()
	}
	return refused, nil
}

// commitUnheard commits through a gate that loses the answer, and ends the
// process, which would ask again.
func (r *run) commitUnheard(d *Delivery, dropped <-chan struct{}) error {
	ctx, cancel := context.WithCancel(r.ctx)
	answered := make(chan error, 1)
	go func() { answered <- d.member.client.CommitRecords(ctx, r.own(d)) }()
	select {
	case <-dropped:
		cancel()
		err := <-answered // the context's: nobody reads the answer any more
		if err == nil {
			return fmt.Errorf("%s: lose the answer to the commit: it came", d.Instance)
		}
	case err := <-answered:
		cancel()
		return fmt.Errorf("%s: lose the answer to the commit: it came: %v", d.Instance, err) //nolint:errorlint // nil is possible and wrong here
	}
	e := d.event(CommitUnknown)
	e.Offset = d.Record.Offset + 1
	if got := r.kafka.committed(); got != e.Offset {
		return fmt.Errorf("%s: lose the answer to the commit: the group stands at %d instead of %d", d.Instance, got, e.Offset)
	}
	r.tell(e)
	return r.crash(d.member)
}

// own is the record under the cluster's topic, as the client knows it.
func (r *run) own(d *Delivery) *kgo.Record {
	return &kgo.Record{Topic: topic, Offset: d.Record.Offset, LeaderEpoch: d.Record.LeaderEpoch}
}
