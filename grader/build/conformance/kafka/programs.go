// Package handler is a submission that produces in every way that a handler may.
// A test runs each program natively with the real client and in the sandbox, and
// compares what they write.
package handler

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Topics that exist, with their partitions. There is no other.
const (
	One   = "one"   // 1
	Three = "three" // 3
)

// Program writes down what it can see of the client's answers.
type Program struct {
	Name string
	run  func(ctx context.Context, cl *kgo.Client, p *protocol)
}

// Handle runs the program that the record's key names. It returns what the
// program wrote as an error, the one thing that a handler can return.
func Handle(ctx context.Context, _ *sql.DB, cl *kgo.Client, rec *kgo.Record) error {
	for _, program := range Programs() {
		if program.Name == string(rec.Key) {
			var p protocol
			program.run(ctx, cl, &p)
			return errors.New(p.String())
		}
	}
	return fmt.Errorf("there is no program %q", rec.Key)
}

type protocol struct{ strings.Builder }

func (p *protocol) say(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// record writes what is known of a record after its promise. The time is not
// written, only whether it is set and whole milliseconds.
func (p *protocol) record(r *kgo.Record, err error) {
	var kafka *kerr.Error
	p.say("%s %s/%s: %v [kafka %t, unknown topic %t, too large %t, canceled %t, deadline %t]", r.Topic, r.Key, r.Value, err, errors.As(err, &kafka),
		errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.MessageTooLarge), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded))
	if err == nil {
		p.say("  at %d/%d, time %t %t, context %t", r.Partition, r.Offset, r.Timestamp.IsZero(), r.Timestamp.Equal(r.Timestamp.Truncate(time.Millisecond)), r.Context != nil)
	}
}

func (p *protocol) results(rs kgo.ProduceResults) {
	for _, r := range rs {
		p.record(r.Record, r.Err)
	}
	p.say("first error: %v", rs.FirstErr())
}

// Programs lists the programs.
func Programs() []Program {
	return []Program{
		{"one record", func(ctx context.Context, cl *kgo.Client, p *protocol) {
			r := &kgo.Record{Topic: One, Key: []byte("k"), Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte("e")}, {Key: "event-id"}}}
			rs := cl.ProduceSync(ctx, r)
			p.results(rs)
			first, err := rs.First()
			p.say("the same record: %t %v, buffered %d", first == r, err, cl.BufferedProduceRecords())
		}},
		{"nothing in it", func(ctx context.Context, cl *kgo.Client, p *protocol) {
			p.results(cl.ProduceSync(ctx, &kgo.Record{Topic: One}))
			p.results(cl.ProduceSync(ctx))
		}},
		{"its own time", func(ctx context.Context, cl *kgo.Client, p *protocol) {
			r := &kgo.Record{Topic: One, Timestamp: time.Date(2024, 2, 29, 1, 2, 3, 456789000, time.UTC)}
			p.results(cl.ProduceSync(ctx, r))
			p.say("%s", r.Timestamp)
		}},
		{"keys choose partitions", func(ctx context.Context, cl *kgo.Client, p *protocol) {
			for i := range 6 {
				p.results(cl.ProduceSync(ctx, &kgo.Record{Topic: Three, Key: fmt.Appendf(nil, "key-%d", i)}))
			}
		}},
		{"several at once", func(ctx context.Context, cl *kgo.Client, p *protocol) {
			p.results(cl.ProduceSync(ctx,
				kgo.KeySliceRecord([]byte("a"), []byte("no topic")),
				&kgo.Record{Topic: One, Value: []byte("1")}, &kgo.Record{Topic: One, Value: []byte("2")}))
		}},
		{"unknown topic", func(ctx context.Context, cl *kgo.Client, p *protocol) {
			p.results(cl.ProduceSync(ctx, &kgo.Record{Topic: "two"}))
		}},
		{"too large", func(ctx context.Context, cl *kgo.Client, p *protocol) {
			p.results(cl.ProduceSync(ctx, &kgo.Record{Topic: One, Key: []byte("large"), Headers: []kgo.RecordHeader{{Key: strings.Repeat("x", 1_200_000)}}}))
		}},
		{"context is over", func(ctx context.Context, cl *kgo.Client, p *protocol) {
			over, cancel := context.WithCancel(ctx)
			cancel()
			p.results(cl.ProduceSync(over, &kgo.Record{Topic: One, Value: []byte("late")}))
		}},
		{"in the background", func(ctx context.Context, cl *kgo.Client, p *protocol) {
			for i := range 3 {
				cl.Produce(ctx, &kgo.Record{Topic: One, Value: fmt.Appendf(nil, "%d", i)}, p.record)
			}
			cl.TryProduce(ctx, &kgo.Record{Topic: One, Value: []byte("tried")}, p.record)
			cl.Produce(ctx, &kgo.Record{Topic: One}, nil)
			p.say("flush: %v, buffered %d", cl.Flush(ctx), cl.BufferedProduceRecords())
			p.say("nothing to flush: %v", cl.Flush(ctx))
		}},
		{"first error of many", func(ctx context.Context, cl *kgo.Client, p *protocol) {
			var first kgo.FirstErrPromise
			for _, topic := range []string{One, "", One} {
				cl.Produce(ctx, &kgo.Record{Topic: topic}, first.Promise())
			}
			p.say("first error: %v", first.Err())
			var none kgo.FirstErrPromise
			cl.Produce(ctx, &kgo.Record{Topic: One}, none.Promise())
			p.say("no error: %v", none.Err())
		}},
	}
}
