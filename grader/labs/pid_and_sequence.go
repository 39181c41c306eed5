package labs

import (
	"context"
	"slices"

	"redeliver/grader/cluster"
	"redeliver/grader/labs/scene"
)

// pidAndSequence sends records one by one and stops while an answer is on its way.
type pidAndSequence struct {
	stage
	ctx      context.Context // of records that are on their way between two actions
	end      context.CancelFunc
	producer *cluster.Producer
	lives    []scene.Producer // that have ended
	flight   *cluster.Flight
	at       int64 // the offset at which the record that is on its way was stored
	sent     int
}

func startPIDAndSequence(ctx context.Context) (Lab, error) {
	l := &pidAndSequence{}
	l.ctx, l.end = context.WithCancel(context.WithoutCancel(ctx))
	l.settings = []scene.Setting{{Name: "idempotence", Options: []string{"off", "on"}, Chosen: "on"}}
	return l, orClose(l, l.restart(ctx))
}

// Close ends what the lab has started.
func (l *pidAndSequence) Close() {
	l.end()
	l.endProducer()
	l.close()
}

func (l *pidAndSequence) endProducer() {
	if l.producer != nil {
		l.producer.Close()
	}
	l.producer, l.flight = nil, nil
}

func (l *pidAndSequence) restart(ctx context.Context) error {
	l.endProducer()
	l.lives, l.sent = nil, 0
	if err := l.open(ctx, []cluster.Topic{{Name: topic, Partitions: 1}}, false); err != nil {
		return err
	}
	return l.newProducer(ctx)
}

func (l *pidAndSequence) idempotent() bool { return l.chosen("idempotence") == "on" }

func (l *pidAndSequence) newProducer(ctx context.Context) (err error) {
	if l.producer, err = l.kafka.Producer(cluster.ProducerOptions{Idempotent: l.idempotent()}); err != nil {
		return err
	}
	if !l.idempotent() {
		l.tell(scene.Event{ID: "start-plain", Lane: laneProducer, Kind: scene.Start})
		return nil
	}
	id, epoch, err := l.producer.ID(ctx)
	if err != nil {
		return err
	}
	l.tell(scene.Event{ID: "start-pid", Places: []any{"PID", id, "Epoch", epoch}, Lane: laneProducer, Kind: scene.Start})
	return nil
}

// Do carries an action out.
func (l *pidAndSequence) Do(ctx context.Context, action string, choices map[string]string) error {
	if done, err := l.renew(ctx, action, choices, l.restart); done || err != nil {
		return err
	}
	i := slices.IndexFunc(l.buttons(), func(b scene.Button) bool { return b.Action == action })
	switch {
	case i < 0:
		return ErrUnknown
	case l.buttons()[i].Off:
		return ErrNotNow
	}
	switch action {
	case "send":
		l.sent++
		return l.send(ctx, eventName(l.sent))
	case "send-same":
		return l.send(ctx, eventName(l.sent))
	case "lose":
		return l.lose(ctx)
	case "deliver":
		return l.deliver(ctx)
	default: // "new-producer"
		return l.replace(ctx)
	}
}

func (l *pidAndSequence) buttons() []scene.Button {
	const most = 12
	held := l.flight != nil
	return []scene.Button{
		{Action: "send", Off: held || l.sent == most},
		{Action: "deliver", Off: !held},
		{Action: "lose", Off: !held},
		{Action: "new-producer", Off: len(l.lives) == most},
		{Action: "send-same", Off: held || l.sent == 0},
	}
}

// send leaves the answer on its way.
func (l *pidAndSequence) send(ctx context.Context, event string) (err error) {
	if l.at, err = l.kafka.HighWatermark(topic, 0); err != nil {
		return err
	}
	if l.flight, err = l.producer.Hold(l.ctx, record(topic, event)); err != nil {
		return err
	}
	sent, err := l.producer.Requests()
	if err != nil {
		return err
	}
	id, places := "send", []any{"Event", event}
	if l.idempotent() {
		id, places = "send-sequence", append(places, "Sequence", sent[len(sent)-1].Sequence)
	}
	l.tell(scene.Event{ID: id, Places: places, Lane: laneProducer, Kind: scene.To})
	log, err := l.kafka.Log(ctx, topic, 0)
	if err != nil {
		return err
	}
	last := log[len(log)-1]
	before := slices.ContainsFunc(log[:len(log)-1], func(e cluster.Entry) bool { return e.Key == last.Key })
	stored := scene.Event{ID: "stored", Places: []any{"Offset", last.Offset}}
	if before { // a copy that the producer's protection does not cover
		stored.ID, stored.Decisive = "stored-new-message", true
	}
	l.tell(stored)
	return nil
}

func (l *pidAndSequence) lose(ctx context.Context) error {
	if err := l.flight.Lose(ctx); err != nil {
		return err
	}
	l.tell(scene.Event{ID: "ack-lost", Lane: laneProducer, Kind: scene.Fault})
	l.tell(scene.Event{ID: "send-again", Places: []any{"Event", eventName(l.sent)}, Lane: laneProducer, Kind: scene.To, Again: true})
	return tellRepeat(ctx, &l.stage, l.producer, l.at)
}

func (l *pidAndSequence) deliver(ctx context.Context) error {
	if err := l.flight.Deliver(ctx); err != nil {
		return err
	}
	l.flight = nil
	l.tell(scene.Event{ID: "answer", Lane: laneProducer, Kind: scene.From})
	return nil
}

// replace ends the producer, whatever it waits for, and starts another one.
func (l *pidAndSequence) replace(ctx context.Context) error {
	last, err := producerOf(ctx, l.producer, l.idempotent(), "ended")
	if err != nil {
		return err
	}
	l.lives = append(l.lives, last)
	l.endProducer()
	l.tell(scene.Event{ID: "producer-ends", Lane: laneProducer, Kind: scene.Crash})
	return l.newProducer(ctx)
}

// Scene shows the lab.
func (l *pidAndSequence) Scene(ctx context.Context) (scene.Scene, error) {
	s := scene.Scene{Settings: l.settings, Apply: "restart", Buttons: l.buttons(), Story: l.story}
	log, err := l.log(ctx, topic)
	if err != nil {
		return s, err
	}
	s.Logs = []scene.Log{log}
	state := "running"
	if l.flight != nil {
		state = "expecting"
	}
	p, err := producerOf(ctx, l.producer, l.idempotent(), state)
	if err != nil {
		return s, err
	}
	s.Producers = append(slices.Clone(l.lives), p)
	return s, nil
}
