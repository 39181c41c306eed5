package labs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"redeliver/grader/cluster"
	"redeliver/grader/labs/scene"
)

// lostAck sells tickets: a producer sends payments, a consumer debits an account.
type lostAck struct {
	stage
	producer *cluster.Producer // nil when the client refused its settings
	refused  string
	cache    *cache
	sent     int
	seen     map[int64]bool // offsets that were delivered
}

// The lanes of the labs with one producer and one consumer.
const (
	laneProducer = "producer"
	laneConsumer = "consumer"
)

func startLostAck(ctx context.Context) (Lab, error) {
	l := &lostAck{}
	l.settings = []scene.Setting{
		{Name: "idempotence", Options: []string{"off", "on"}, Chosen: "off"},
		{Name: "acks", Options: []string{"all", "1"}, Chosen: "all"},
		{Name: "protection", Options: []string{"none", "cache", "table"}, Chosen: "none"},
	}
	return l, orClose(l, l.restart(ctx))
}

// orClose ends a lab that could not be started.
func orClose(l Lab, err error) error {
	if err != nil {
		l.Close()
	}
	return err
}

// Close ends what the lab has started.
func (l *lostAck) Close() {
	if l.producer != nil {
		l.producer.Close()
		l.producer = nil
	}
	if l.cache != nil {
		l.cache.close()
		l.cache = nil
	}
	l.close()
}

func (l *lostAck) restart(ctx context.Context) error {
	l.Close()
	l.run, l.sent, l.refused, l.seen = nil, 0, "", map[int64]bool{}
	if err := l.open(ctx, []cluster.Topic{{Name: topic, Partitions: 1}}, false); err != nil {
		return err
	}
	l.cache = openCache()
	var err error
	l.producer, err = l.kafka.Producer(cluster.ProducerOptions{
		Idempotent: l.chosen("idempotence") == "on", LeaderAcks: l.chosen("acks") == "1",
	})
	var refused *cluster.RefusedError
	if errors.As(err, &refused) {
		l.refused = refused.Text
		l.tell(scene.Event{ID: "refused", Places: []any{"Text", refused.Text}, Lane: laneProducer, Kind: scene.Crash, Decisive: true})
		return nil
	}
	return err
}

// Do carries an action out.
func (l *lostAck) Do(ctx context.Context, action string, choices map[string]string) error {
	if done, err := l.renew(ctx, action, choices, l.restart); done || err != nil {
		return err
	}
	switch {
	case action != "buy" && action != "buy-lost" && action != "later":
		return ErrUnknown
	case l.off(action):
		return ErrNotNow
	case action == "later":
		return l.later(ctx)
	default:
		return l.buy(ctx, action == "buy-lost")
	}
}

func (l *lostAck) off(action string) bool {
	const most = 5 // 500 € are enough for ten debits
	switch action {
	case "later":
		return l.sent == 0
	default:
		return l.producer == nil || l.sent == most
	}
}

// buy sends a payment and lets the consumer read what is new.
func (l *lostAck) buy(ctx context.Context, lost bool) error {
	l.sent++
	event := eventName(l.sent)
	if err := sendPayment(ctx, &l.stage, l.producer, event, lost); err != nil {
		return err
	}
	if err := l.consume(ctx); err != nil {
		return err
	}
	return l.note(ctx, scene.Run{Sent: l.sent})
}

// sendPayment sends one record and tells what became of it; what it tells is read
// from the log and from the requests that went over the network.
func sendPayment(ctx context.Context, s *stage, p *cluster.Producer, event string, lost bool) error {
	first, err := s.kafka.HighWatermark(topic, 0)
	if err != nil {
		return err
	}
	s.tell(scene.Event{ID: "send", Places: []any{"Event", event}, Lane: laneProducer, Kind: scene.To})
	rec := record(topic, event)
	if !lost {
		if err := p.Send(ctx, rec); err != nil {
			return err
		}
		s.tell(scene.Event{ID: "stored", Places: []any{"Offset", first}})
		s.tell(scene.Event{ID: "acknowledged", Places: []any{"Offset", rec.Offset}, Lane: laneProducer, Kind: scene.From})
		return nil
	}
	f, err := p.Hold(ctx, rec)
	if err != nil {
		return err
	}
	s.tell(scene.Event{ID: "stored", Places: []any{"Offset", first}})
	if err := f.Lose(ctx); err != nil {
		return err
	}
	s.tell(scene.Event{ID: "ack-lost", Lane: laneProducer, Kind: scene.Fault})
	s.tell(scene.Event{ID: "send-again", Places: []any{"Event", event}, Lane: laneProducer, Kind: scene.To, Again: true})
	if err := tellRepeat(ctx, s, p, first); err != nil {
		return err
	}
	if err := f.Deliver(ctx); err != nil {
		return err
	}
	s.tell(scene.Event{ID: "acknowledged", Places: []any{"Offset", rec.Offset}, Lane: laneProducer, Kind: scene.From})
	return nil
}

// tellRepeat says what the broker did with a request that came again: first is the
// offset at which it stands in the log already.
func tellRepeat(ctx context.Context, s *stage, p *cluster.Producer, first int64) error {
	log, err := s.kafka.Log(ctx, topic, 0)
	if err != nil {
		return err
	}
	last := log[len(log)-1]
	if last.Offset > first {
		s.tell(scene.Event{ID: "stored-again", Places: []any{"Offset", last.Offset}, Decisive: true})
		return nil
	}
	sent, err := p.Requests()
	if err != nil {
		return err
	}
	again := sent[len(sent)-1]
	if again.ProducerID != last.ProducerID || again.Sequence != last.Sequence {
		return fmt.Errorf("the request has sequence %d, the log %d", again.Sequence, last.Sequence)
	}
	s.tell(scene.Event{ID: "dropped", Places: []any{"Sequence", again.Sequence, "Offset", first}, Decisive: true})
	return nil
}

// later lets the keys of the cache expire and reads the topic once more.
func (l *lostAck) later(ctx context.Context) error {
	l.cache.pass(2 * keepKeys)
	if err := l.kafka.Consumer(group).Commit(ctx, topic, 0, 0); err != nil {
		return err
	}
	l.tell(scene.Event{ID: "later", Kind: scene.Fault, Lane: laneConsumer})
	if err := l.consume(ctx); err != nil {
		return err
	}
	return l.note(ctx, scene.Run{Sent: l.sent})
}

// consume reads to the end of the partition and commits after each record.
func (l *lostAck) consume(ctx context.Context) (err error) {
	reader := l.kafka.Consumer(group)
	at, err := reader.Committed(ctx, topic, 0)
	if err != nil {
		return err
	}
	at = max(at, 0)
	conn, err := l.bank.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for {
		rec, err := reader.Fetch(ctx, topic, 0, at)
		if err != nil || rec == nil {
			return err
		}
		event := string(rec.Key)
		l.tell(scene.Event{
			ID: "deliver", Places: []any{"Offset", rec.Offset, "Event", event}, Lane: laneConsumer, Kind: scene.From, Again: l.seen[rec.Offset],
		})
		l.seen[rec.Offset] = true
		if err := l.handle(ctx, conn, event); err != nil {
			return err
		}
		at = rec.Offset + 1
		if err := reader.Commit(ctx, topic, 0, at); err != nil {
			return err
		}
	}
}

// handle is the consumer.
func (l *lostAck) handle(ctx context.Context, conn *sql.Conn, event string) error {
	paid, err := l.paid(ctx, event)
	if err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after Commit
	switch l.chosen("protection") {
	case "cache":
		if l.cache.knows(event) {
			l.tell(scene.Event{ID: "cache-knows", Places: []any{"Key", cacheKey(event)}, Lane: laneConsumer, Kind: scene.To})
			return nil
		}
	case "table":
		n, err := change(ctx, tx, sqlMark, event)
		if err != nil {
			return err
		}
		if n == 0 {
			l.tell(scene.Event{ID: "table-knows", Places: []any{"Event", event}, Lane: laneConsumer, Kind: scene.To})
			return nil
		}
	}
	if err := pay(ctx, tx, event); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	balance, err := l.bank.balance(ctx)
	if err != nil {
		return err
	}
	l.tell(scene.Event{ID: "debit", Places: []any{"Price", price, "Balance", balance}, Lane: laneConsumer, Kind: scene.To, Decisive: paid})
	if l.chosen("protection") == "cache" {
		return l.cache.remember(event)
	}
	return nil
}

// paid says whether an event was paid for before: the second debit is the one
// that a customer sees.
func (l *lostAck) paid(ctx context.Context, event string) (bool, error) {
	var n int
	if err := l.bank.own.QueryRowContext(ctx, sqlLook, event).Scan(&n); err != nil {
		return false, fmt.Errorf("look for a payment: %w", err)
	}
	return n > 0, nil
}

// Scene shows the lab.
func (l *lostAck) Scene(ctx context.Context) (s scene.Scene, err error) {
	s = scene.Scene{Settings: l.settings, Apply: "restart", Story: l.story, Runs: l.runs}
	for _, action := range []string{"buy", "buy-lost", "later"} {
		s.Buttons = append(s.Buttons, scene.Button{Action: action, Off: l.off(action)})
	}
	if s.Account, err = l.account(ctx); err != nil {
		return s, err
	}
	log, err := l.log(ctx, topic)
	if err != nil {
		return s, err
	}
	s.Logs = []scene.Log{log}
	if l.producer != nil {
		p, err := producerOf(ctx, l.producer, l.chosen("idempotence") == "on", "running")
		if err != nil {
			return s, err
		}
		s.Producers = []scene.Producer{p}
	}
	names := []string{"account", "payments"}
	if l.chosen("protection") == "table" {
		names = append(names, "processed")
	}
	if s.Tables, err = l.bank.tables(ctx, names...); err != nil {
		return s, err
	}
	if l.chosen("protection") == "cache" {
		s.Tables = append(s.Tables, l.cache.table())
	}
	return s, nil
}

// producerOf describes a producer: its id from the client, its sequence from what
// it has sent.
func producerOf(ctx context.Context, p *cluster.Producer, idempotent bool, state string) (scene.Producer, error) {
	out := scene.Producer{PID: -1, Epoch: -1, Next: -1, State: state}
	if !idempotent {
		return out, nil
	}
	var err error
	if out.PID, out.Epoch, err = p.ID(ctx); err != nil {
		return out, err
	}
	sent, err := p.Requests()
	if err != nil {
		return out, err
	}
	out.Next = 0
	if len(sent) > 0 {
		out.Next = sent[len(sent)-1].Sequence + 1
	}
	return out, nil
}
