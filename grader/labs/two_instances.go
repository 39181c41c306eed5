package labs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/cluster"
	"redeliver/grader/labs/scene"
)

// twoInstances lets a visitor step two instances of a service through one record,
// line by line, with a rebalance in between.
type twoInstances struct {
	stage
	cache *cache
	a, b  *instance
	moved bool // the partition went from A to B
}

// instance is a process that stands before a line of its handler.
type instance struct {
	lab    *twoInstances
	name   string
	lines  []line
	next   int // index of the line to run; len(lines) when it is done
	member *cluster.Member
	conn   *sql.Conn
	rec    *kgo.Record
	known  bool // the handler found that the event was processed
}

// line is a line of a handler: what it says and what it does.
type line struct {
	text string
	// unlessKnown lines are passed over when the event was found before.
	unlessKnown bool
	run         func(i *instance, ctx context.Context) error
}

var (
	lineReceive = line{text: "rec := poll()", run: (*instance).receive}
	lineLook    = line{text: sqlLook, run: (*instance).look}
	lineGet     = line{text: "GET paid:p-1", run: (*instance).get}
	linePay     = line{text: "BEGIN; " + sqlDebit + "; " + sqlPay + "; COMMIT", unlessKnown: true, run: (*instance).pay}
	linePayOnce = line{text: "BEGIN; " + sqlPayOnce + "; if 1 row { " + sqlDebit + " }; COMMIT", run: (*instance).payOnce}
	lineSet     = line{text: "SET paid:p-1 1 EX 86400", unlessKnown: true, run: (*instance).set}
	lineCommit  = line{text: "commit(rec.Offset + 1)", run: (*instance).commit}
)

// handlers are the lines for each protection.
var handlers = map[string][]line{
	"select": {lineReceive, lineLook, linePay, lineCommit},
	"cache":  {lineReceive, lineGet, linePay, lineSet, lineCommit},
	"unique": {lineReceive, linePayOnce, lineCommit},
}

func startTwoInstances(ctx context.Context) (Lab, error) {
	l := &twoInstances{}
	l.settings = []scene.Setting{{Name: "protection", Options: []string{"select", "cache", "unique"}, Chosen: "select"}}
	return l, orClose(l, l.restart(ctx))
}

// Close ends what the lab has started.
func (l *twoInstances) Close() {
	if l.cache != nil {
		l.cache.close()
		l.cache = nil
	}
	l.close() // the connections of the instances go with their database
}

func (l *twoInstances) restart(ctx context.Context) (err error) {
	l.Close()
	l.run, l.moved = nil, false
	protection := l.chosen("protection")
	if err := l.open(ctx, []cluster.Topic{{Name: topic, Partitions: 1}}, protection == "unique"); err != nil {
		return err
	}
	l.cache = openCache()
	if _, err := l.kafka.Produce(ctx, record(topic, eventName(1)), cluster.AckArrives); err != nil {
		return err
	}
	l.a = &instance{lab: l, name: "A", lines: handlers[protection]}
	l.b = &instance{lab: l, name: "B", lines: handlers[protection]}
	for _, i := range []*instance{l.a, l.b} {
		if i.conn, err = l.bank.connect(ctx); err != nil {
			return err
		}
	}
	return l.join(ctx, l.a)
}

// join makes an instance the only member of the group and gives it the partition.
func (l *twoInstances) join(ctx context.Context, i *instance) (err error) {
	if i.member, err = l.kafka.Consumer(group).Join(ctx, []string{topic}); err != nil {
		return err
	}
	l.tell(scene.Event{ID: "assigned", Lane: i.name, Kind: scene.Start})
	return nil
}

// Do carries an action out.
func (l *twoInstances) Do(ctx context.Context, action string, choices map[string]string) error {
	if done, err := l.renew(ctx, action, choices, l.restart); done || err != nil {
		return err
	}
	n := slices.IndexFunc(l.buttons(), func(b scene.Button) bool { return b.Action == action })
	switch {
	case n < 0:
		return ErrUnknown
	case l.buttons()[n].Off:
		return ErrNotNow
	}
	var err error
	switch action {
	case "step-a":
		err = l.a.step(ctx)
	case "step-b":
		err = l.b.step(ctx)
	default:
		err = l.rebalance(ctx)
	}
	if err != nil {
		return err
	}
	return l.note(ctx, scene.Run{Sent: 1})
}

func (l *twoInstances) buttons() []scene.Button {
	return []scene.Button{
		{Action: "step-a", Off: !l.a.ready()},
		{Action: "rebalance", Off: l.moved},
		{Action: "step-b", Off: !l.b.ready()},
	}
}

// rebalance takes the partition from A, which does not notice, as when its
// heartbeats did not arrive, and gives it to B.
func (l *twoInstances) rebalance(ctx context.Context) error {
	l.moved = true
	l.tell(scene.Event{ID: "evicted", Lane: l.a.name, Kind: scene.Fault})
	if err := l.a.member.Evict(ctx); err != nil {
		return err
	}
	return l.join(ctx, l.b)
}

func (i *instance) ready() bool { return i.member != nil && i.next < len(i.lines) }

// step runs the next line.
func (i *instance) step(ctx context.Context) error {
	if err := i.lines[i.next].run(i, ctx); err != nil {
		return err
	}
	i.next++
	for i.known && i.next < len(i.lines) && i.lines[i.next].unlessKnown {
		i.next++
	}
	return nil
}

func (i *instance) tell(id string, kind scene.Kind, places ...any) {
	i.lab.tell(scene.Event{ID: id, Places: places, Lane: i.name, Kind: kind})
}

func (i *instance) receive(ctx context.Context) error {
	at, err := i.member.Committed(ctx, topic, 0)
	if err != nil {
		return err
	}
	if i.rec, err = i.member.Fetch(ctx, topic, 0, max(at, 0)); err != nil {
		return err
	}
	if i.rec == nil {
		i.tell("nothing-left", scene.From, "Offset", at)
		i.next = len(i.lines) - 1 // there is nothing to handle
		return nil
	}
	i.lab.tell(scene.Event{
		ID: "deliver", Places: []any{"Offset", i.rec.Offset, "Event", i.event()}, Lane: i.name, Kind: scene.From,
		Again: i == i.lab.b && i.lab.a.rec != nil,
	})
	return nil
}

func (i *instance) event() string { return string(i.rec.Key) }

// look is the check by SELECT.
func (i *instance) look(ctx context.Context) error {
	var n int64
	if err := i.conn.QueryRowContext(ctx, sqlLook, i.event()).Scan(&n); err != nil {
		return fmt.Errorf("look for the payment: %w", err)
	}
	i.known = n > 0
	i.tell("looked", scene.Query, "Rows", n)
	return nil
}

// get is the check in the cache.
func (i *instance) get(context.Context) error {
	i.known = i.lab.cache.knows(i.event())
	id := "cache-empty"
	if i.known {
		id = "cache-knows"
	}
	i.tell(id, scene.To, "Key", cacheKey(i.event()))
	return nil
}

// set is what makes the cache know.
func (i *instance) set(context.Context) error {
	i.tell("cache-set", scene.To, "Key", cacheKey(i.event()))
	return i.lab.cache.remember(i.event())
}

// pay debits the account without looking.
func (i *instance) pay(ctx context.Context) error {
	return i.inTx(ctx, func(tx *sql.Tx) (bool, error) { return true, pay(ctx, tx, i.event()) })
}

// payOnce lets the unique key decide.
func (i *instance) payOnce(ctx context.Context) error {
	return i.inTx(ctx, func(tx *sql.Tx) (bool, error) {
		n, err := change(ctx, tx, sqlPayOnce, i.event(), int64(price))
		if err != nil || n == 0 {
			return false, err
		}
		_, err = change(ctx, tx, sqlDebit, int64(price))
		return true, err
	})
}

// inTx runs f in a transaction and tells whether it paid.
func (i *instance) inTx(ctx context.Context, f func(*sql.Tx) (paid bool, err error)) error {
	tx, err := i.conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after Commit
	paid, err := f(tx)
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if !paid {
		i.tell("conflict", scene.To)
		return nil
	}
	balance, err := i.lab.bank.balance(ctx)
	if err != nil {
		return err
	}
	i.lab.tell(scene.Event{
		ID: "debit", Places: []any{"Price", price, "Balance", balance}, Lane: i.name, Kind: scene.To, Decisive: balance < opening-price,
	})
	return nil
}

// commit stores the offset, if the broker still takes it from this member.
func (i *instance) commit(ctx context.Context) error {
	err := i.member.Commit(ctx, topic, 0, i.rec.Offset+1)
	var refused *kerr.Error
	switch {
	case errors.As(err, &refused):
		i.tell("commit-refused", scene.To, "Error", refused.Message)
		return nil
	case err != nil:
		return err
	}
	i.tell("offset-committed", scene.To, "Offset", i.rec.Offset+1)
	return nil
}

func (i *instance) show() scene.Instance {
	out := scene.Instance{Name: i.name, State: "running", Step: i.ready()}
	switch {
	case i.member == nil:
		out.State = "waiting"
	case !i.ready():
		out.State = "done"
	case i == i.lab.a && i.lab.moved:
		out.State = "evicted"
	}
	for n, line := range i.lines {
		out.Code = append(out.Code, scene.Line{Text: line.text, Done: n < i.next, Next: i.member != nil && n == i.next})
	}
	return out
}

// Scene shows the lab.
func (l *twoInstances) Scene(ctx context.Context) (s scene.Scene, err error) {
	s = scene.Scene{
		Settings: l.settings, Apply: "restart", Buttons: l.buttons(), Story: l.story, Runs: l.runs,
		Instances: []scene.Instance{l.a.show(), l.b.show()},
	}
	if s.Account, err = l.account(ctx); err != nil {
		return s, err
	}
	log, err := l.log(ctx, topic)
	if err != nil {
		return s, err
	}
	s.Logs = []scene.Log{log}
	at, err := l.kafka.Consumer(group).Committed(ctx, topic, 0)
	if err != nil {
		return s, err
	}
	s.Facts = []scene.Fact{{Name: "committed", Value: max(at, 0)}}
	if s.Tables, err = l.bank.tables(ctx, "account", "payments"); err != nil {
		return s, err
	}
	if l.chosen("protection") == "cache" {
		s.Tables = append(s.Tables, l.cache.table())
	}
	return s, nil
}
