package labs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"redeliver/grader/cluster"
	"redeliver/grader/labs/scene"
)

// crashBeforeCommit runs one record through a handler that dies where the visitor
// says, and lets its successor go on.
type crashBeforeCommit struct {
	stage
	outcome string
}

// errDied says that the process ended where it was told to.
var errDied = errors.New("the process died")

func startCrashBeforeCommit(ctx context.Context) (Lab, error) {
	l := &crashBeforeCommit{}
	l.settings = []scene.Setting{
		{Name: "order", Options: []string{"effect-first", "offset-first"}, Chosen: "effect-first"},
		{Name: "guard", Options: []string{"none", "table"}, Chosen: "none"},
		{Name: "crash", Options: []string{"nowhere", "received", "updated", "committed", "offset"}, Chosen: "committed"},
		{Name: "prediction", Options: []string{"none", "once", "twice", "lost"}, Chosen: "none"},
	}
	return l, orClose(l, l.prepare(ctx))
}

// Close ends what the lab has started.
func (l *crashBeforeCommit) Close() { l.close() }

func (l *crashBeforeCommit) prepare(ctx context.Context) error {
	l.run, l.outcome = nil, ""
	if err := l.open(ctx, []cluster.Topic{{Name: topic, Partitions: 1}}, false); err != nil {
		return err
	}
	_, err := l.kafka.Produce(ctx, record(topic, eventName(1)), cluster.AckArrives)
	return err
}

// Do carries an action out.
func (l *crashBeforeCommit) Do(ctx context.Context, action string, choices map[string]string) error {
	if action != "run" {
		return ErrUnknown
	}
	if _, err := l.choose(choices); err != nil {
		return err
	}
	if err := l.prepare(ctx); err != nil {
		return err
	}
	if err := l.play(ctx); err != nil {
		return err
	}
	balance, err := l.bank.balance(ctx)
	if err != nil {
		return err
	}
	l.outcome = map[scene.Cents]string{opening: "lost", opening - price: "once", opening - 2*price: "twice"}[balance]
	if l.outcome == "" {
		return fmt.Errorf("a balance of %d cents", balance)
	}
	r := scene.Run{Sent: 1, Outcome: l.outcome}
	if said := l.chosen("prediction"); said != "none" {
		r.Predicted = said
	}
	return l.note(ctx, r)
}

// play starts a process, lets it die, and starts the next one, until one has come
// to the end of the partition.
func (l *crashBeforeCommit) play(ctx context.Context) error {
	died := false
	for _, name := range []string{"A", "A2"} {
		conn, err := l.bank.connect(ctx)
		if err != nil {
			return err
		}
		member, err := l.kafka.Consumer(group).Join(ctx, []string{topic})
		if err != nil {
			return errors.Join(err, conn.Close())
		}
		p := process{lab: l, name: name, member: member, conn: conn, dies: !died}
		if name != "A" {
			l.tell(scene.Event{ID: "successor", Lane: name, Kind: scene.Start})
		}
		err = p.consume(ctx)
		if !errors.Is(err, errDied) {
			return errors.Join(err, conn.Close())
		}
		died = true
		l.tell(scene.Event{ID: "dies-" + l.chosen("crash"), Lane: name, Kind: scene.Crash})
		// The connection goes with the process, and the coordinator takes the member
		// out when its session ends.
		if err := errors.Join(sever(conn), member.Evict(ctx)); err != nil {
			return err
		}
	}
	return errors.New("the second process died, too")
}

// process is one life of the consumer.
type process struct {
	lab    *crashBeforeCommit
	name   string
	member *cluster.Member
	conn   *sql.Conn
	dies   bool
}

// point is a place at which the process may die.
func (p *process) point(name string) error {
	if p.dies && p.lab.chosen("crash") == name {
		return errDied
	}
	return nil
}

func (p *process) tell(id string, kind scene.Kind, places ...any) {
	p.lab.tell(scene.Event{ID: id, Places: places, Lane: p.name, Kind: kind})
}

func (p *process) consume(ctx context.Context) error {
	at, err := p.member.Committed(ctx, topic, 0)
	if err != nil {
		return err
	}
	rec, err := p.member.Fetch(ctx, topic, 0, max(at, 0))
	if err != nil {
		return err
	}
	if rec == nil {
		p.tell("nothing-left", scene.From, "Offset", at)
		return nil
	}
	p.lab.tell(scene.Event{
		ID: "deliver", Places: []any{"Offset", rec.Offset, "Event", string(rec.Key)}, Lane: p.name, Kind: scene.From, Again: p.name != "A",
	})
	if err := p.point("received"); err != nil {
		return err
	}
	commit := func() error {
		if err := p.member.Commit(ctx, topic, 0, rec.Offset+1); err != nil {
			return err
		}
		p.tell("offset-committed", scene.To, "Offset", rec.Offset+1)
		return p.point("offset")
	}
	effect := func() error { return p.effect(ctx, string(rec.Key)) }
	first, second := effect, commit
	if p.lab.chosen("order") == "offset-first" {
		first, second = commit, effect
	}
	if err := first(); err != nil {
		return err
	}
	return second()
}

// effect debits the account in one transaction. It is begun by a statement: a
// sql.Tx would keep its connection from being severed.
func (p *process) effect(ctx context.Context, event string) error {
	if _, err := change(ctx, p.conn, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if p.lab.chosen("guard") == "table" {
		n, err := change(ctx, p.conn, sqlMark, event)
		if err != nil {
			return err
		}
		p.tell("marked", scene.Query, "Rows", n)
		if n == 0 {
			_, err := change(ctx, p.conn, "ROLLBACK")
			return err
		}
	}
	if err := pay(ctx, p.conn, event); err != nil {
		return err
	}
	p.tell("updated", scene.Query)
	if err := p.point("updated"); err != nil {
		return err // with the transaction open: whoever ends the process severs the connection
	}
	if _, err := change(ctx, p.conn, "COMMIT"); err != nil {
		return err
	}
	balance, err := p.lab.bank.balance(ctx)
	if err != nil {
		return err
	}
	p.lab.tell(scene.Event{
		ID: "committed", Places: []any{"Balance", balance}, Lane: p.name, Kind: scene.To, Decisive: balance != opening-price,
	})
	return p.point("committed")
}

// Scene shows the lab.
func (l *crashBeforeCommit) Scene(ctx context.Context) (s scene.Scene, err error) {
	s = scene.Scene{Settings: l.settings, Apply: "run", Story: l.story, Runs: l.runs}
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
	names := []string{"account", "payments"}
	if l.chosen("guard") == "table" {
		names = append(names, "processed")
	}
	s.Tables, err = l.bank.tables(ctx, names...)
	return s, err
}
