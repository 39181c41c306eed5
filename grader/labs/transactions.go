package labs

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"

	"redeliver/grader/cluster"
	"redeliver/grader/labs/scene"
)

// transactions reads payments and writes receipts in Kafka transactions; if it is
// told to, it debits an account on the way.
type transactions struct {
	stage
	lives []*copier // in the order in which they were started
	names int       // of processes in lane A
	seen  map[int64]bool
}

const (
	receipts        = "receipts"
	transactionalID = "receipt-writer"
	// toCopy is how many payments there are.
	toCopy = 4
)

// copier is one process of the service; all have the same transactional id.
type copier struct {
	name     string
	producer *cluster.Producer
	open     bool   // a transaction
	worked   bool   // it has begun a transaction since it started
	state    string // as in scene.Instance
}

func startTransactions(ctx context.Context) (Lab, error) {
	l := &transactions{}
	l.settings = []scene.Setting{{Name: "database", Options: []string{"off", "on"}, Chosen: "off"}}
	return l, orClose(l, l.restart(ctx))
}

// Close ends what the lab has started.
func (l *transactions) Close() {
	for _, c := range l.lives {
		c.producer.Close()
	}
	l.lives = nil
	l.close()
}

func (l *transactions) restart(ctx context.Context) error {
	l.Close()
	l.names, l.seen = 0, map[int64]bool{}
	topics := []cluster.Topic{{Name: topic, Partitions: 1}, {Name: receipts, Partitions: 1}}
	if err := l.open(ctx, topics, false); err != nil {
		return err
	}
	for n := range toCopy {
		if _, err := l.kafka.Produce(ctx, record(topic, eventName(n+1)), cluster.AckArrives); err != nil {
			return err
		}
	}
	return l.startCopier(ctx)
}

// startCopier starts a process. The broker then ends what others with the same
// transactional id have open.
func (l *transactions) startCopier(ctx context.Context) error {
	p, err := l.kafka.Producer(cluster.ProducerOptions{TransactionalID: transactionalID})
	if err != nil {
		return err
	}
	c := &copier{producer: p, state: "running", name: "B"}
	if l.paused() == nil {
		l.names++
		c.name = "A"
		if l.names > 1 {
			c.name += strconv.Itoa(l.names)
		}
	}
	fences := slices.ContainsFunc(l.lives, func(c *copier) bool { return c.open })
	l.lives = append(l.lives, c)
	id, epoch, err := p.ID(ctx)
	if err != nil {
		return err
	}
	l.tell(scene.Event{ID: "start-transactional", Places: []any{"PID", id, "Epoch", epoch}, Lane: c.name, Kind: scene.Start})
	if fences {
		l.tell(scene.Event{ID: "fences", Decisive: true})
	}
	for _, other := range l.lives {
		if other != c {
			other.open = false
		}
	}
	return nil
}

// running is the process that does the work, or nil.
func (l *transactions) running() *copier { return l.inState("running") }

// paused is the process that stands still and believes that it works, or nil.
func (l *transactions) paused() *copier { return l.inState("paused") }

func (l *transactions) inState(state string) *copier {
	i := slices.IndexFunc(l.lives, func(c *copier) bool { return c.state == state })
	if i < 0 {
		return nil
	}
	return l.lives[i]
}

// Do carries an action out.
func (l *transactions) Do(ctx context.Context, action string, choices map[string]string) error {
	if done, err := l.renew(ctx, action, choices, l.restart); done || err != nil {
		return err
	}
	buttons, err := l.buttons(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(buttons, func(b scene.Button) bool { return b.Action == action })
	switch {
	case i < 0:
		return ErrUnknown
	case buttons[i].Off:
		return ErrNotNow
	}
	switch action {
	case "copy":
		return l.copy(ctx)
	case "commit":
		return l.end(ctx, true)
	case "abort":
		return l.end(ctx, false)
	case "crash":
		return l.stop("crashed", "copier-crashes", scene.Crash)
	case "pause":
		return l.stop("paused", "copier-pauses", scene.Fault)
	case "start":
		return l.startCopier(ctx)
	default:
		return l.wake(ctx)
	}
}

func (l *transactions) buttons(ctx context.Context) ([]scene.Button, error) {
	at, err := l.position(ctx)
	if err != nil {
		return nil, err
	}
	const most = 9 // processes
	c, paused := l.running(), l.paused()
	inTx := c != nil && c.open
	return []scene.Button{
		{Action: "copy", Off: c == nil || c.open || at == toCopy},
		{Action: "commit", Off: !inTx},
		{Action: "abort", Off: !inTx},
		{Action: "crash", Off: c == nil},
		// A second zombie would tell nothing new.
		{Action: "pause", Off: !inTx || paused != nil || c.name == "B"},
		{Action: "start", Off: c != nil || len(l.lives) == most},
		// kfake fences only once the successor has begun; see cluster.TestTransactions.
		{Action: "wake", Off: paused == nil || c == nil || !c.worked},
	}, nil
}

// position is the next offset of the group.
func (l *transactions) position(ctx context.Context) (int64, error) {
	at, err := l.kafka.Consumer(group).Committed(ctx, topic, 0)
	return max(at, 0), err
}

// copy begins a transaction, writes the receipt of the next payment, and makes the
// offset part of the transaction.
func (l *transactions) copy(ctx context.Context) error {
	c := l.running()
	at, err := l.position(ctx)
	if err != nil {
		return err
	}
	rec, err := l.kafka.Consumer(group).Fetch(ctx, topic, 0, at)
	if err != nil {
		return err
	}
	if rec == nil {
		return ErrNotNow
	}
	event := string(rec.Key)
	l.tell(scene.Event{
		ID: "deliver", Places: []any{"Offset", rec.Offset, "Event", event}, Lane: c.name, Kind: scene.From, Again: l.seen[rec.Offset],
	})
	l.seen[rec.Offset] = true
	if err := c.producer.Begin(); err != nil {
		return err
	}
	c.open, c.worked = true, true
	if l.chosen("database") == "on" {
		if err := l.debit(ctx, c, event); err != nil {
			return err
		}
	}
	receipt := record(receipts, event)
	if err := c.producer.Send(ctx, receipt); err != nil {
		return err
	}
	l.tell(scene.Event{ID: "receipt", Places: []any{"Event", event, "Offset", receipt.Offset}, Lane: c.name, Kind: scene.To})
	if err := c.producer.AddOffset(ctx, transactionalID, group, topic, 0, rec.Offset+1); err != nil {
		return err
	}
	l.tell(scene.Event{ID: "offset-in-transaction", Places: []any{"Offset", rec.Offset + 1}, Lane: c.name, Kind: scene.To})
	return nil
}

// debit is what a Kafka transaction does not cover.
func (l *transactions) debit(ctx context.Context, c *copier, event string) error {
	var before int
	if err := l.bank.own.QueryRowContext(ctx, sqlLook, event).Scan(&before); err != nil {
		return err
	}
	if err := pay(ctx, l.bank.own, event); err != nil {
		return err
	}
	balance, err := l.bank.balance(ctx)
	if err != nil {
		return err
	}
	l.tell(scene.Event{
		ID: "debit", Places: []any{"Price", price, "Balance", balance}, Lane: c.name, Kind: scene.To, Decisive: before > 0,
	})
	return nil
}

func (l *transactions) end(ctx context.Context, commit bool) error {
	c := l.running()
	if err := c.producer.End(ctx, commit); err != nil {
		return err
	}
	c.open = false
	id := "transaction-aborted"
	if commit {
		id = "transaction-committed"
	}
	l.tell(scene.Event{ID: id, Lane: c.name, Kind: scene.To})
	return nil
}

// stop takes the running process away.
func (l *transactions) stop(state, id string, kind scene.Kind) error {
	c := l.running()
	c.state = state
	if state == "crashed" {
		c.producer.Close()
	}
	l.tell(scene.Event{ID: id, Lane: c.name, Kind: kind})
	return nil
}

// wake lets the paused process go on: it wants to commit.
func (l *transactions) wake(ctx context.Context) error {
	c := l.paused()
	err := c.producer.End(ctx, true)
	var refused *kerr.Error
	if !errors.As(err, &refused) {
		return errors.Join(errors.New("the paused process was not fenced"), err)
	}
	c.state = "fenced"
	c.producer.Close()
	l.tell(scene.Event{ID: "fenced", Places: []any{"Error", refused.Message}, Lane: c.name, Kind: scene.Crash, Decisive: true})
	return nil
}

// Scene shows the lab.
func (l *transactions) Scene(ctx context.Context) (s scene.Scene, err error) {
	s = scene.Scene{Settings: l.settings, Apply: "restart", Story: l.story}
	if s.Buttons, err = l.buttons(ctx); err != nil {
		return s, err
	}
	for _, name := range []string{topic, receipts} {
		log, err := l.log(ctx, name)
		if err != nil {
			return s, err
		}
		s.Logs = append(s.Logs, log)
	}
	if s.Readers, err = l.readers(ctx, s.Logs[1]); err != nil {
		return s, err
	}
	at, err := l.position(ctx)
	if err != nil {
		return s, err
	}
	s.Facts = []scene.Fact{{Name: "committed", Value: at}}
	for _, c := range l.lives {
		if c.state != "crashed" {
			s.Instances = append(s.Instances, scene.Instance{Name: c.name, State: c.state})
		}
	}
	if l.chosen("database") == "on" {
		if s.Account, err = l.account(ctx); err != nil {
			return s, err
		}
		s.Tables, err = l.bank.tables(ctx, "account", "payments")
	}
	return s, err
}

// readers shows the receipts as the two isolation levels do.
func (l *transactions) readers(ctx context.Context, partition scene.Log) ([]scene.Reader, error) {
	end, err := l.kafka.HighWatermark(receipts, 0)
	if err != nil {
		return nil, err
	}
	committed, stable, err := l.kafka.ReadCommitted(ctx, receipts, 0)
	if err != nil {
		return nil, err
	}
	uncommitted := scene.Reader{Isolation: "read_uncommitted", End: end}
	for _, r := range partition.Records {
		if r.State != "commit-marker" && r.State != "abort-marker" {
			uncommitted.Keys = append(uncommitted.Keys, r.Key)
		}
	}
	reader := scene.Reader{Isolation: "read_committed", End: stable}
	for _, r := range committed {
		reader.Keys = append(reader.Keys, string(r.Key))
	}
	return []scene.Reader{uncommitted, reader}, nil
}
