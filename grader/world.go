package grader

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/exercises"
	"redeliver/grader/cluster"
	"redeliver/grader/invariant"
	"redeliver/grader/ledger"
	"redeliver/grader/redis"
	"redeliver/grader/sandbox"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

// world is what one worker needs to run schedules one after the other: a
// database, a cluster for each set of records, a guest for each lane, a clock.
type world struct {
	sub      *submission
	bases    map[string]base // by name: the databases that the exercise names
	base                     // the one of the schedule under way
	clock    *sandbox.Clock
	guests   map[string]*guest // by lane: "A", "B"
	sets     map[schedule.Set]*recordSet
	groups   int // consumer groups used so far
	services []service
	// Those of services that effects go to; nil when the submission has no client.
	kafka    *producer
	redis    *redisKeys
	gateway  *gatewayCharges
	produced *producedRecords // by clients of the submission's own
}

// recordSet is a cluster that holds the records of a schedule set.
type recordSet struct {
	*cluster.Cluster
	outputs  *cluster.Outputs // nil without a Kafka client
	sent     []invariant.Sent
	events   map[string]exercises.Event // by id
	produced []verdict.Step             // what happened while producing, when it is part of the story
	ends     map[partition]int64
}

// partition names where records are.
type partition struct {
	topic string
	id    int32
}

func (p partition) String() string { return fmt.Sprintf("%s/%d", p.topic, p.id) }

func (p partition) compare(other partition) int {
	if c := strings.Compare(p.topic, other.topic); c != 0 {
		return c
	}
	return int(p.id - other.id)
}

func newWorld(ctx context.Context, sub *submission) (*world, error) {
	w := &world{sub: sub, clock: sandbox.NewClock(), sets: map[schedule.Set]*recordSet{}, bases: map[string]base{}, guests: map[string]*guest{}}
	for _, name := range sub.databases() {
		if err := w.open(ctx, name); err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	w.startServices()
	return w, nil
}

// startServices starts what the exercise gives a submission beside the database.
func (w *world) startServices() {
	if w.sub.exercise.Produces() {
		w.kafka = &producer{}
		w.services = append(w.services, w.kafka)
	}
	if w.sub.exercise.MakesClients() {
		w.produced = &producedRecords{}
		w.services = append(w.services, w.produced)
	}
	if slices.Contains(w.sub.exercise.Services, "redis") {
		w.redis = &redisKeys{server: redis.Start(), clock: w.clock}
		w.services = append(w.services, w.redis)
	}
	if slices.Contains(w.sub.exercise.Services, "gateway") {
		w.gateway = &gatewayCharges{}
		w.services = append(w.services, w.gateway)
	}
}

// reset brings everything outside of the processes to the start of a schedule.
func (w *world) reset(ctx context.Context, set *recordSet) error {
	w.clock.Set(w.sub.start)
	if err := w.ledger.Reset(uint64(w.sub.seed)); err != nil {
		return err
	}
	w.histories.reset()
	for _, s := range w.services {
		if err := s.reset(ctx, set); err != nil {
			return err
		}
	}
	return nil
}

// kill ends what a process that died, or a schedule that is over, had under way.
func (w *world) kill(instance string) error {
	errs := []error{w.ledger.Kill(instance)}
	for _, s := range w.services {
		errs = append(errs, s.kill(instance))
	}
	return errors.Join(errs...)
}

// state is a hash of what is durable outside of the processes, but for the group's
// offsets.
func (w *world) state(ctx context.Context) ([32]byte, error) {
	database, err := w.ledger.State(ctx)
	if err != nil || len(w.services) == 0 {
		return database, err
	}
	h := sha256.New()
	h.Write(database[:])
	for _, s := range w.services {
		if err := s.state(ctx, h); err != nil {
			return database, err
		}
	}
	return [32]byte(h.Sum(nil)), nil
}

func (w *world) close() error {
	var errs []error
	for _, g := range w.guests {
		errs = append(errs, g.inst.Close())
	}
	for _, s := range w.sets {
		s.close()
	}
	if w.redis != nil {
		errs = append(errs, w.redis.close())
	}
	for _, b := range w.bases {
		errs = append(errs, b.ledger.Close())
	}
	return errors.Join(errs...)
}

func setupStatements(sub *submission) []ledger.Statement {
	var out []ledger.Statement
	for _, s := range sub.exercise.Events.Setup(sub.events) {
		st := ledger.Statement{SQL: s.SQL}
		for i, a := range s.Args {
			st.Args = append(st.Args, driver.NamedValue{Name: a.Name, Ordinal: i + 1, Value: a.Value})
		}
		out = append(out, st)
	}
	return out
}

// records returns the cluster of a set, made and filled on first use.
func (w *world) records(ctx context.Context, set schedule.Set) (*recordSet, error) {
	if s, ok := w.sets[set]; ok {
		return s, nil
	}
	s, err := w.makeRecords(ctx, set)
	if err == nil {
		w.sets[set] = s
	}
	return s, err
}

// makeRecords makes and fills a cluster for a set.
func (w *world) makeRecords(ctx context.Context, set schedule.Set) (*recordSet, error) {
	var topics, outputs []cluster.Topic
	for _, t := range w.sub.exercise.Events.Outputs {
		outputs = append(outputs, cluster.Topic(t))
	}
	for _, t := range w.sub.exercise.Events.Topics {
		partitions := t.Partitions
		if set == schedule.Two {
			partitions = max(partitions, 2)
		}
		topics = append(topics, cluster.Topic{Name: t.Name, Partitions: partitions})
	}
	c, err := cluster.Start(ctx, append(topics, outputs...))
	if err != nil {
		return nil, err
	}
	s := &recordSet{Cluster: c, events: map[string]exercises.Event{}, ends: map[partition]int64{}}
	if w.kafka != nil {
		s.outputs, err = c.Outputs(outputs)
	}
	if err == nil {
		err = w.produce(ctx, s, set)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *recordSet) close() {
	if s.outputs != nil {
		s.outputs.Close()
	}
	s.Close()
}

func (w *world) produce(ctx context.Context, s *recordSet, set schedule.Set) error {
	for i, e := range w.eventsFor(set) {
		if w.sub.exercise.IsCalled() {
			s.events[e.ID] = e
			continue
		}
		ack := cluster.AckArrives
		switch {
		case set == schedule.CopyProtected:
			ack = cluster.AckLostIdempotent
		case i == 0 && (set == schedule.Copy || set == schedule.Copies):
			ack = cluster.AckLost
		}
		if set == schedule.Two { // as in a topic that was extended: one key, two partitions
			e.Partition = int32(i)
		}
		offsets, err := s.Produce(ctx, recordOf(e), ack)
		if err != nil {
			return err
		}
		s.events[e.ID] = e
		for _, o := range offsets {
			s.sent = append(s.sent, invariant.Sent{
				EventID: e.ID, Topic: e.Topic, Partition: e.Partition, Offset: o, Key: e.Key, Value: e.Value, Copies: len(offsets),
			})
			s.ends[partition{e.Topic, e.Partition}] = o + 1
		}
		s.produced = append(s.produced, producedSteps(e, ack, offsets)...)
	}
	return nil
}

// eventsFor lists the logical events of a set.
func (w *world) eventsFor(set schedule.Set) []exercises.Event {
	switch set {
	case schedule.All, schedule.Copies:
		return w.sub.events
	case schedule.Two:
		return w.sub.events[:min(2, len(w.sub.events))]
	default:
		return w.sub.events[:1]
	}
}

// producedSteps tells of a lost acknowledgement; an ordinary produce is no step.
func producedSteps(e exercises.Event, ack cluster.Ack, offsets []int64) []verdict.Step {
	if ack == cluster.AckArrives {
		return nil
	}
	at := fmt.Sprintf("%s/%d", e.Topic, e.Partition)
	steps := []verdict.Step{
		{Event: "produce", Text: fmt.Sprintf("The producer sends %s to %s; the broker stores it at offset %d.", nameOf(e), at, offsets[0])},
		{Event: "fault", Text: "The acknowledgement is lost. The producer cannot tell it from a lost request."},
	}
	if ack == cluster.AckLost {
		return append(steps, verdict.Step{
			Event: "produce", Decisive: true,
			Text: fmt.Sprintf("The producer sends again; without idempotence the broker stores a second copy at offset %d.", offsets[1]),
		})
	}
	return append(steps, verdict.Step{
		Event: "produce", Text: "The producer sends again; producer id and sequence are known, the broker stores nothing.",
	})
}

func nameOf(e exercises.Event) string {
	if e.Object != "" {
		return e.Object
	}
	return e.ID
}

func recordOf(e exercises.Event) *kgo.Record {
	rec := &kgo.Record{Topic: e.Topic, Partition: e.Partition, Key: e.Key, Value: e.Value, Timestamp: e.Timestamp}
	for _, h := range e.Headers {
		rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return rec
}

// eventIDAt is the id of a record's logical event; every record of the set was
// sent by the harness.
func (s *recordSet) eventIDAt(topic string, part int32, offset int64) string {
	for _, r := range s.sent {
		if r.Topic == topic && r.Partition == part && r.Offset == offset {
			return r.EventID
		}
	}
	return ""
}

// consumer is a group that no other schedule of this cluster uses.
func (w *world) consumer(s *recordSet) *cluster.Consumer {
	w.groups++
	return s.Consumer(fmt.Sprintf("schedule-%d", w.groups))
}

// isAbout says whether an event is what a violation names: field is the field of
// events.yaml whose value the name is, "" for the event's own name.
func (s *recordSet) isAbout(eventID, field, object string) bool {
	e, ok := s.events[eventID]
	if !ok || object == "" {
		return false
	}
	if value, ok := e.Fields[field]; ok {
		return fmt.Sprint(value) == object
	}
	return nameOf(e) == object
}
