package members

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/cluster/bubble"
	"redeliver/grader/cluster/gate"
)

// Session timeout and heartbeats. In virtual time they are the client's
// defaults, so that times in stories are the ones that readers know. In real
// time they are as short as a busy machine bears: a session that ends by itself
// makes a run void.
const (
	virtualSession   = 45 * time.Second
	virtualHeartbeat = 3 * time.Second
	realSession      = time.Second
	realHeartbeat    = 100 * time.Millisecond
)

// timing returns the session timeout and the heartbeat interval of a life. No
// two lives have the same interval, and none is a part of the session timeout:
// in virtual time two things that are due together happen in any order, and a
// session that ends with a heartbeat of the other member gave two stories.
func timing(serial int) (session, heartbeat time.Duration) {
	apart := time.Duration(7+10*serial) * time.Millisecond
	if bubble.Real {
		return realSession, realHeartbeat + apart
	}
	return virtualSession, virtualHeartbeat + apart
}

// change is what a client's callback told: Assigned or Revoked; lost for a member
// that finds itself put out.
type change struct {
	kind       Kind
	generation int32
}

// member is one life of an instance: a client in the group.
type member struct {
	name     string
	id       string // its member id at its last assignment
	client   *kgo.Client
	gate     *gate.Gate
	stop     context.CancelFunc // ends what the client is about
	changes  chan change
	blocks   bool // a rebalance waits for the handler of what was polled
	inGroup  bool // it takes part in rebalances
	ghost    bool // it does not, but the broker waits for it until its session ends
	closed   bool
	owns     bool  // as far as the script has seen
	position int64 // the offset after the last one delivered; -1 after an assignment
}

// connect makes a member. serial is different in each life: client ids, with
// which the member ids begin, sort the youngest life first, and so the range
// balancer gives the only partition to it.
func connect(k *kafka, name string, serial int, sc Scenario) (*member, error) {
	m := &member{
		name: name, gate: gate.New(k.net.DialContext), changes: make(chan change, 64),
		blocks: sc.blocks, inGroup: true, position: -1,
	}
	opts := []kgo.Opt{
		kgo.ClientID(fmt.Sprintf("%03d", 999-serial)), kgo.Dialer(m.gate.DialContext),
		kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.OnPartitionsAssigned(m.told(Assigned)), kgo.OnPartitionsRevoked(m.told(Revoked)), kgo.OnPartitionsLost(m.told(lost)),
	}
	if sc.eager {
		opts = append(opts, kgo.Balancers(kgo.RangeBalancer()))
	} else {
		opts = append(opts, kgo.Balancers(kgo.CooperativeStickyBalancer()))
	}
	if sc.blocks {
		opts = append(opts, kgo.BlockRebalanceOnPoll())
	}
	session, heartbeat := timing(serial)
	opts = append(opts, kgo.SessionTimeout(session), kgo.HeartbeatInterval(heartbeat))
	if bubble.Real {
		opts = append(opts, kgo.FetchMaxWait(50*time.Millisecond))
	}
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	client, err := k.connect(append(opts, kgo.WithContext(ctx))...)
	if err != nil {
		stop()
		return nil, err
	}
	m.client = client
	return m, nil
}

func (m *member) told(kind Kind) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, cl *kgo.Client, partitions map[string][]int32) {
		if len(partitions[topic]) == 0 {
			return // a rebalance that changed nothing for this member
		}
		_, generation := cl.GroupMetadata()
		select {
		case m.changes <- change{kind, generation}:
		default: // never: a script has a handful of rebalances, and await finds the queue full of them
		}
	}
}

// await takes the next change; it has to be of this kind.
func (m *member) await(ctx context.Context, want Kind) (change, error) {
	ctx, cancel := within(ctx)
	defer cancel()
	select {
	case got := <-m.changes:
		if got.kind != want {
			return got, fmt.Errorf("%s: partition %s where %s was planned", m.name, got.kind, want)
		}
		m.owns, m.position = want == Assigned, -1
		return got, nil
	case <-ctx.Done():
		return change{}, fmt.Errorf("%s: wait until partition %s: %w", m.name, want, context.Cause(ctx))
	}
}

// fetched waits until the client holds records. The client asks for the committed
// offset after it has told the assignment; a commit at that moment, of a handler
// that was under way, would come before the question or after it.
func (m *member) fetched(ctx context.Context) error {
	ctx, cancel := within(ctx)
	defer cancel()
	tick := time.NewTicker(time.Millisecond) // in virtual time one is enough: nothing else waits for the clock
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: wait for records after the assignment: %w", m.name, context.Cause(ctx))
		}
		if m.client.BufferedFetchRecords() > 0 {
			return nil
		}
	}
}

// poll returns the next record.
func (m *member) poll(ctx context.Context) (*kgo.Record, error) {
	ctx, cancel := within(ctx)
	defer cancel()
	for {
		fetches := m.client.PollRecords(ctx, 1)
		if err := fetches.Err0(); err != nil {
			return nil, fmt.Errorf("%s: poll: %w", m.name, err)
		}
		for _, e := range fetches.Errors() {
			return nil, fmt.Errorf("%s: fetch: %w", m.name, e.Err)
		}
		if records := fetches.Records(); len(records) > 0 {
			m.position = records[0].Offset + 1
			return records[0], nil
		}
		m.allowRebalance()
	}
}

// commit commits the offset after rec. refused is the broker's answer when it is
// not success, err is anything else.
func (m *member) commit(ctx context.Context, rec *kgo.Record) (refused *kerr.Error, err error) {
	ctx, cancel := within(ctx)
	defer cancel()
	err = m.client.CommitRecords(ctx, rec)
	if errors.As(err, &refused) {
		return refused, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: commit offset %d: %w", m.name, rec.Offset+1, err)
	}
	return nil, nil //nolint:nilnil // neither refused nor failed
}

func (m *member) allowRebalance() {
	if m.blocks {
		m.client.AllowRebalance()
	}
}

// die ends the process without a farewell. The client's goroutines end too.
func (m *member) die() {
	m.gate.Cut()
	m.stop() // else Close would try to tell the group
	m.client.CloseAllowingRebalance()
	m.inGroup, m.owns, m.closed = false, false, true
}

// leave stops the process in good order.
func (m *member) leave() {
	m.client.CloseAllowingRebalance()
	m.stop()
	m.inGroup, m.owns, m.closed = false, false, true
}

// within bounds a single wait. In virtual time that costs nothing.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	d := 10 * time.Minute
	if bubble.Real {
		d = 10 * time.Second
	}
	return context.WithTimeout(ctx, d)
}
