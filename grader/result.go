package grader

import (
	"context"
	"database/sql/driver"
	"maps"
	"slices"

	"redeliver/grader/guest/abi"
	"redeliver/grader/invariant"
	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// delivery is one time that a record is handed to the handler.
type delivery struct {
	verdict.Delivery
	record  abi.Record
	eventID string
	step    int // of the timeline, from 1
	// passed is the step at which the group's offset went past the record, and
	// offset where it then stood; 0 where the harness commits.
	passed int
	offset int64
}

// done is an effect that took place, for plans and sentences.
type done struct {
	schedule.Step
	waits    bool   // it met another transaction's lock and did nothing yet
	label    string // "UPDATE accounts (handler.go:31)"
	event    string // of the step, had no fault hit it: trace.SQL
	instance string
	attempt  int
	step     int // of the timeline
	durable  bool
	sure     bool // no error can answer it
	offset   bool // an offset commit
	fault    schedule.Action
}

// ofGroup says that it is about the consumer group: an offset commit, or another
// call of the submission's own client that only its group sees.
func (e done) ofGroup() bool {
	return e.offset || e.event == trace.Deliver || e.event == trace.Group || e.event == trace.Transaction
}

// result is everything that one schedule showed.
type result struct {
	schedule   schedule.Schedule
	positions  bool   // the steps have the candidate's lines
	entry      string // of the exercise
	steps      []verdict.Step
	effects    []done
	deliveries []*delivery
	violations []invariant.Violation
	// problem is what ended the schedule before its time: a limit, a panic, work
	// after return, a record that is never committed.
	problem *problem
	// outside says what the model of a database cannot tell; then nothing is proved.
	outside string
	crash   *crashSite // the first one
	expires bool       // a key in Redis was given an expiry that a jump can pass
	stdout  []byte
	stderr  []byte
	set     *recordSet
}

// crashSite is where a process died.
type crashSite struct {
	instance      string
	after, before string // labels of the effects around it; "" at the ends
	state         [32]byte
}

// problem is a finding that no invariant makes.
type problem struct {
	kind   verdict.Kind
	text   string
	file   string
	line   int
	wall   bool // rests on a clock of ours: believed only when it happens twice
	object string
}

// lanes are the effects as the search for interleavings sees them.
func (r *result) lanes() []schedule.Step {
	steps := make([]schedule.Step, len(r.effects))
	for i, e := range r.effects {
		steps[i] = e.Step
	}
	return steps
}

// commit is the place of the first offset commit among the effects; -1 when there
// was none.
func (r *result) commit() int {
	return slices.IndexFunc(r.effects, func(e done) bool { return e.offset })
}

// askedAgain says whether a record was delivered more than once, or a call repeated.
func (r *result) askedAgain() bool {
	return slices.ContainsFunc(r.deliveries, func(d *delivery) bool { return d.Attempt > 1 })
}

// over says that the schedule ended before its time.
func (r *result) over() bool { return r.problem != nil || r.outside != "" }

func (r *run) over() bool { return r.out.over() }

// judge runs the exercise's invariants, unless the schedule ended before its
// time: a database of half a run proves nothing.
func (r *run) judge(ctx context.Context) error {
	defer func() { r.out.steps = r.rec.Steps() }()
	if r.over() {
		return nil
	}
	facts, err := r.facts(ctx)
	if err != nil {
		return err
	}
	err = r.sub.computing.measure(func() (err error) {
		r.out.violations, err = invariant.Check(ctx, r.ledger, facts, r.sub.exercise.Invariants)
		return err
	})
	if err != nil {
		return err
	}
	for _, v := range r.out.violations {
		r.rec.Add(verdict.Step{Event: trace.Check, Text: v.Message["en"], Decisive: true})
	}
	return nil
}

func (r *run) facts(ctx context.Context) (invariant.Facts, error) {
	facts := invariant.Facts{Sent: r.set.sent, Tables: r.histories.tables()}
	for _, s := range r.services {
		tables, err := s.tables(ctx)
		if err != nil {
			return facts, err
		}
		maps.Copy(facts.Tables, tables)
	}
	for _, d := range r.out.deliveries {
		facts.Delivered = append(facts.Delivered, invariant.Delivered{
			EventID: d.eventID, Topic: d.record.Topic, Partition: d.record.Partition, Offset: d.Offset,
			Attempt: d.Attempt, Instance: d.Instance, Outcome: d.Ended,
		})
	}
	expected := r.sub.exercise.Events.Expected(r.sub.eventsOf(r.set))
	for _, c := range expected.Columns {
		facts.Expected.Columns = append(facts.Expected.Columns, c.Name)
	}
	for _, row := range expected.Rows {
		values := make([]driver.Value, len(row))
		for i, v := range row {
			values[i] = v
		}
		facts.Expected.Rows = append(facts.Expected.Rows, values)
	}
	return facts, nil
}

// stop ends every process at the end of a schedule, as a service is stopped:
// what it has open is rolled back.
func (r *run) stop() (err error) {
	for _, l := range r.lanes {
		if l.proc == nil {
			continue
		}
		l.proc.kill()
		if e := r.kill(l.proc.name); e != nil {
			err = e
		}
		if r.out.stdout == nil && r.out.stderr == nil {
			r.out.stdout, r.out.stderr = l.proc.last.stdout, l.proc.last.stderr
		}
	}
	return err
}
