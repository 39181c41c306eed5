package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"redeliver/grader/cluster/gate"
	"redeliver/grader/guest/abi"
)

// Process is the Kafka side of one process of a submission that makes its clients
// itself: a real client for each, all behind one gate. It belongs into a bubble of
// virtual time. Its methods are for one goroutine, and none of them waits: a Call
// runs in goroutines of its own.
type Process struct {
	c       *Cluster
	gate    *gate.Gate
	serial  int
	ctx     context.Context //nolint:containedctx // ends with the process
	cancel  context.CancelFunc
	clients map[uint64]*processClient
	calls   map[uint64]*Call
	tickets uint64
	limits  *Limits

	mu     sync.Mutex
	events []GroupEvent
}

// Limits bound what all processes of a schedule do together.
type Limits struct {
	Clients int // that may still be made
	Records int // that may still be produced
	Bytes   int // of those
}

// Open is how many clients a process may have at once.
const Open = 8

// LimitError says which limit a submission has reached: one sentence.
type LimitError struct{ Text string }

func (e *LimitError) Error() string { return e.Text }

// processClient is one client of a process.
type processClient struct {
	number  uint64
	process *Process
	real    *kgo.Client
	session *kgo.GroupTransactSession // nil for a plain client
	group   string
	stop    context.CancelFunc
	closed  bool

	mu       sync.Mutex
	callback *Callback // that has to be run
}

// Callback is one that a rebalance has to wait for.
type Callback struct {
	Kind       abi.KafkaCallbackKind
	Partitions []abi.KafkaOffset
	handed     bool
	done       chan struct{}
}

// GroupEvent is what a client has told of its group: one of the three.
type GroupEvent struct {
	Kind       abi.KafkaCallbackKind
	Partitions map[string][]int32 // that Kind is about
	// Committed are the next offsets to read that the client has committed by itself,
	// in the background or when it gave up its partitions.
	Committed []abi.KafkaOffset
	// Ended is why the client is no member any more.
	Ended abi.Error
}

// autoCommitted is the callback of commits that nobody called for.
func (cl *processClient) autoCommitted(_ *kgo.Client, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
	if err != nil {
		return
	}
	stored := map[string]map[int32]bool{}
	for _, t := range resp.Topics {
		stored[t.Topic] = map[int32]bool{}
		for _, p := range t.Partitions {
			stored[t.Topic][p.Partition] = p.ErrorCode == 0
		}
	}
	var e GroupEvent
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			if stored[t.Topic][p.Partition] {
				e.Committed = append(e.Committed, abi.KafkaOffset{Topic: t.Topic, Partition: p.Partition, Offset: p.Offset})
			}
		}
	}
	if len(e.Committed) > 0 {
		cl.process.tell(e)
	}
}

// OnGroupManageError hears that the broker has put the client out of its group.
func (cl *processClient) OnGroupManageError(err error) {
	if cl.process.ctx.Err() == nil { // else the process has ended
		cl.process.tell(GroupEvent{Ended: errorOf(err)})
	}
}

// Process returns the Kafka side of a process that has just started. serial is
// different for each process of a cluster, from 0: client ids, with which member
// ids begin, sort the youngest process first, and no two send heartbeats at the same
// instants.
func (c *Cluster) Process(serial int, limits *Limits) *Process {
	p := &Process{
		c: c, gate: gate.New(c.net.DialContext), serial: serial, limits: limits,
		clients: map[uint64]*processClient{}, calls: map[uint64]*Call{},
	}
	p.gate.Delay(p.latency)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// latency is how long a message is on its way: a tenth of a millisecond and a bit,
// which is another one for each process and each kind of request. Without it the
// requests of two processes could reach the broker at the same instant, and chance
// would decide which is served first.
func (p *Process) latency(key kmsg.Key) time.Duration {
	h := fnv.New32a()
	fmt.Fprintf(h, "%d %d", p.serial, key)
	return 100*time.Microsecond + time.Duration(h.Sum32()%100_000)
}

// Moving says whether messages of the process are on their way.
func (p *Process) Moving() bool { return p.gate.Moving() }

// Freeze stops the network: the process stands still, and its heartbeats with it.
func (p *Process) Freeze() { p.gate.Freeze() }

// Thaw ends Freeze.
func (p *Process) Thaw() { p.gate.Thaw() }

// Kill ends the process without a farewell, and returns when its clients are gone.
// Only a member that has just asked to join is put out of its group: it has no
// partitions, and kfake draws the next leader among all that have asked, the dead
// included. How long the others wait would be chance.
func (p *Process) Kill() error {
	joining := p.gate.Awaits(kmsg.JoinGroup)
	p.gate.Cut()
	p.end()
	defer clear(p.clients)
	if !joining {
		return nil
	}
	var errs []error
	for _, group := range p.Groups() {
		errs = append(errs, p.c.putOut(group, p.clientID()))
	}
	return errors.Join(errs...)
}

// end returns when the clients are gone.
func (p *Process) end() {
	p.cancel()
	for _, cl := range p.clients {
		cl.stop() // or Close would try to tell the group
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for _, n := range slices.Sorted(maps.Keys(p.clients)) {
			if !p.clients[n].closed {
				p.clients[n].real.Close()
			}
		}
		for _, call := range p.calls {
			<-call.done
		}
	}()
	// A poll that was under way may stop rebalances once more, and leaving the group
	// is one: so they are allowed until all is over.
	for allow := time.NewTicker(time.Millisecond); ; {
		for _, cl := range p.clients {
			cl.answered()
			cl.real.AllowRebalance()
		}
		select {
		case <-gone:
			allow.Stop()
			clear(p.calls)
			return
		case <-allow.C:
		}
	}
}

// Groups lists the groups that the process's clients are members of.
func (p *Process) Groups() (names []string) {
	for _, cl := range p.clients {
		if cl.group != "" {
			names = append(names, cl.group)
		}
	}
	return names
}

// Events returns what the clients have told of their groups since the last call.
func (p *Process) Events() []GroupEvent {
	p.mu.Lock()
	defer p.mu.Unlock()
	events := p.events
	p.events = nil
	return events
}

func (p *Process) tell(e GroupEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, e)
}

// Callback returns one that has to be run, with its client, and nil when there is
// none. It is returned once.
func (p *Process) Callback() (client uint64, cb *Callback) {
	for _, n := range slices.Sorted(maps.Keys(p.clients)) {
		cl := p.clients[n]
		cl.mu.Lock()
		waiting := cl.callback != nil && !cl.callback.handed
		if waiting {
			cl.callback.handed = true
			cb = cl.callback
		}
		cl.mu.Unlock()
		if waiting {
			return n, cb
		}
	}
	return 0, nil
}

// Waiting says whether Callback would return one.
func (p *Process) Waiting() bool {
	for _, cl := range p.clients {
		cl.mu.Lock()
		waiting := cl.callback != nil && !cl.callback.handed
		cl.mu.Unlock()
		if waiting {
			return true
		}
	}
	return false
}

// answered lets the rebalance go on that waits for a callback.
func (cl *processClient) answered() {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.callback != nil {
		close(cl.callback.done)
		cl.callback = nil
	}
}

// called is the client's callback: it waits until the submission has run its own.
func (cl *processClient) called(kind abi.KafkaCallbackKind, waits bool) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
		if len(partitions) > 0 {
			cl.process.tell(GroupEvent{Kind: kind, Partitions: partitions})
		}
		if !waits {
			return
		}
		cb := &Callback{Kind: kind, Partitions: placesOf(partitions), done: make(chan struct{})}
		cl.mu.Lock()
		cl.callback = cb
		cl.mu.Unlock()
		select {
		case <-cb.done:
		case <-cl.process.ctx.Done():
		}
	}
}

// connect makes a client with the settings of the submission.
func (p *Process) connect(m abi.KafkaRequest) error {
	open := 0
	for _, cl := range p.clients {
		if !cl.closed {
			open++
		}
	}
	switch {
	case open >= Open:
		return &LimitError{fmt.Sprintf("The submission has %d Kafka clients open at once; %d are allowed. A client is made once and closed.", open+1, Open)}
	case p.limits.Clients <= 0:
		return &LimitError{"The submission makes one Kafka client after the other. A client is made once and used for all records."}
	case p.clients[m.Client] != nil:
		return fmt.Errorf("client %d exists", m.Client)
	}
	p.limits.Clients--
	cl := &processClient{number: m.Client, process: p}
	ctx, stop := context.WithCancel(p.ctx)
	err := cl.validate(m.Settings, m.Call == abi.NewSession)
	var opts []kgo.Opt
	if err == nil {
		opts, err = cl.options(m.Settings)
	}
	if err == nil {
		opts = append(opts, kgo.WithContext(ctx))
		if m.Call == abi.NewSession {
			if cl.session, err = kgo.NewGroupTransactSession(opts...); err == nil {
				cl.real = cl.session.Client()
			}
		} else {
			cl.real, err = kgo.NewClient(opts...)
		}
	}
	if err != nil {
		stop()
		return &refusal{err}
	}
	cl.stop = stop
	p.clients[m.Client] = cl
	return nil
}

// refusal is an error of the real client, which the submission gets.
type refusal struct{ error }

// clientID is that of all clients of a process. Member ids begin with it.
func (p *Process) clientID() string { return fmt.Sprintf("%03d", 999-p.serial) }

// putOut takes the members of a process out of a group.
func (c *Cluster) putOut(group, clientID string) error {
	info := c.broker.GroupInfo(group)
	if info == nil {
		return nil
	}
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Group = group
	for _, m := range info.Members {
		if m.ClientID == clientID {
			lm := kmsg.NewLeaveGroupRequestMember()
			lm.MemberID = m.MemberID
			r.Members = append(r.Members, lm)
		}
	}
	if len(r.Members) == 0 {
		return nil
	}
	_, err := c.request(context.Background(), r)
	return err
}

// apart keeps heartbeats of different processes at different instants.
func (p *Process) apart() time.Duration { return time.Duration(7+10*p.serial) * time.Millisecond }
