package grader

import (
	"context"
	"fmt"

	"redeliver/grader/guest/abi"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// offsets is the entry of that name: the submission keeps the position, nobody
// commits to Kafka. After an assignment, a crash and an error of Handle the
// harness asks StartOffset and seeks there.
type offsets struct {
	places map[*lane]map[partition]int64 // where an instance reads on, of the partitions that it has asked for
	asked  map[partition]int             // how often in a row StartOffset answered an error
}

func (o *offsets) next(ctx context.Context, r *run, l *lane) (*work, error) {
	if l.fenced {
		return nil, nil //nolint:nilnil // it owns nothing any more
	}
	for _, p := range l.parts {
		at, ok := o.places[l][p]
		if !ok {
			task := abi.Task{Kind: abi.StartOffset, Topic: p.topic, Partition: p.id, NoPositions: !r.positions}
			return &work{task: task, attempt: o.asked[p] + 1}, nil
		}
		if at == r.set.ends[p] {
			continue
		}
		recs, err := r.read(ctx, p, at, 1)
		return r.handle(abi.Handle, l, recs), err
	}
	return nil, nil //nolint:nilnil // everything is read
}

func (o *offsets) returned(r *run, l *lane, w *work, failed bool) laneState {
	p := w.partition()
	switch {
	case w.task.Kind == abi.StartOffset && failed:
		o.asked[p]++
	case w.task.Kind == abi.StartOffset:
		o.asked[p] = 0
		o.seek(r, l, p, l.proc.last.result.Offset)
	case failed:
		delete(o.places[l], p)
	default:
		w.end("handled")
		if o.places[l] != nil {
			o.places[l][p] = w.next()
		}
	}
	return idle
}

// seek takes the answer of StartOffset. What is no place in the log ends the
// schedule: a client would go on, but not where the submission wanted. A broker
// answers OFFSET_OUT_OF_RANGE to a fetch there, and the client resets itself:
// franz-go to the start by default (kgo.ConsumeResetOffset), Java's consumer to
// the end (auto.offset.reset). As an offset of franz-go, -1 means the end and
// everything below the start (kgo.Offset.At); Java's seek refuses negative ones.
func (o *offsets) seek(r *run, l *lane, p partition, at int64) {
	end := r.set.ends[p]
	if at >= 0 && at <= end {
		if o.places[l] == nil {
			o.places[l] = map[partition]int64{}
		}
		o.places[l][p] = at
		r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Group, Text: fmt.Sprintf("%s reads %s from offset %d.", l.proc.name, p, at)})
		return
	}
	kind := verdict.Lost
	text := fmt.Sprintf("StartOffset answered %d for %s, whose log ends at %d. ", at, p, end)
	switch {
	case at > end:
		text += "The broker answers OFFSET_OUT_OF_RANGE to a fetch there; with auto.offset.reset=latest the records before the end are never read, with earliest all of them come again."
	case at == -1:
		text += "That is no offset: franz-go takes it for the end of the log, and the records before are never read."
	default:
		kind = verdict.Duplicate
		text += "That is no offset: franz-go takes it for the start of the log, and all records come again; Java's consumer refuses it."
	}
	r.rec.Add(verdict.Step{Lane: l.proc.name, Event: trace.Limit, Text: text, Decisive: true})
	r.out.problem = &problem{kind: kind, text: text}
}

func (o *offsets) started(l *lane) { delete(o.places, l) }

func (*offsets) settle(*run) *lane { return nil }
