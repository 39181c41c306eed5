package handler

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// produced writes what is known of a record after its promise. The time is not
// written, only whether it is set and whole milliseconds.
func (p *protocol) produced(r *kgo.Record, err error) {
	p.failed(fmt.Sprintf("%s %s=%.20s", r.Topic, r.Key, r.Value), err)
	if err == nil {
		p.say("  at %d/%d, time %t %t, context %t, attrs %d %d %t %t, epoch %d", r.Partition, r.Offset, r.Timestamp.IsZero(),
			r.Timestamp.Equal(r.Timestamp.Truncate(time.Millisecond)), r.Context != nil,
			r.Attrs.TimestampType(), r.Attrs.CompressionType(), r.Attrs.IsTransactional(), r.Attrs.IsControl(), r.LeaderEpoch)
	}
}

func (p *protocol) results(rs kgo.ProduceResults) {
	for _, r := range rs {
		p.produced(r.Record, r.Err)
	}
	p.failed("first error", rs.FirstErr())
}

func value(topic, v string) *kgo.Record {
	return &kgo.Record{Topic: topic, Key: []byte(v), Value: []byte(v)}
}

func producePrograms() []Program {
	return []Program{
		{Name: "produce: one record", run: func(ctx context.Context, p *protocol) {
			cl := p.client()
			r := value(One, "v")
			rs := cl.ProduceSync(ctx, r)
			p.results(rs)
			first, err := rs.First()
			p.say("the same record: %t %v, buffered %d", first == r, err, cl.BufferedProduceRecords())
			p.results(cl.ProduceSync(ctx))
		}},
		{Name: "produce: what arrives of a record", run: func(ctx context.Context, p *protocol) {
			cl := p.client()
			sent := time.Date(2024, 2, 29, 1, 2, 3, 456_789_000, time.UTC)
			p.results(cl.ProduceSync(ctx,
				&kgo.Record{Topic: One, Key: []byte("tombstone"), Timestamp: sent},
				&kgo.Record{Topic: One, Key: []byte{}, Value: []byte{}, Timestamp: sent},
				&kgo.Record{Topic: One, Value: []byte("headers"), Timestamp: sent, Headers: []kgo.RecordHeader{
					{Key: "event-id", Value: []byte("e")}, {Key: "event-id"}, {Key: "", Value: []byte{}},
				}}))
			for _, r := range read(p.client(kgo.ConsumeTopics(One)), 3) {
				p.say("%d/%d key %q nil %t, value %q nil %t, %s, type %d, transaction %t, epoch %d, context %t", r.Partition, r.Offset, r.Key, r.Key == nil, r.Value, r.Value == nil,
					r.Timestamp.UTC(), r.Attrs.TimestampType(), r.Attrs.IsTransactional(), r.LeaderEpoch, r.Context != nil)
				for _, h := range r.Headers {
					p.say("  header %q %q nil %t", h.Key, h.Value, h.Value == nil)
				}
			}
		}},
		{Name: "produce: keys choose partitions", run: func(ctx context.Context, p *protocol) {
			cl := p.client()
			for i := range 6 {
				p.results(cl.ProduceSync(ctx, value(Three, fmt.Sprintf("key-%d", i))))
			}
			cl = p.client(kgo.RecordPartitioner(kgo.StickyKeyPartitioner(kgo.PartitionerHasher(nil))))
			p.results(cl.ProduceSync(ctx, value(Three, "key-0"), value(Three, "key-0")))
		}},
		{Name: "produce: a partition by hand", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
			for _, id := range []int32{2, 0, 3, -1} {
				r := value(Three, strconv.Itoa(int(id)))
				r.Partition = id
				p.results(cl.ProduceSync(ctx, r))
			}
		}},
		{Name: "produce: several at once", run: func(ctx context.Context, p *protocol) {
			p.results(p.client().ProduceSync(ctx, value(One, "1"), value(One, "2"), value(One, "3")))
		}},
		{Name: "produce: topics by default", run: func(ctx context.Context, p *protocol) {
			p.results(p.client().ProduceSync(ctx, value("", "none")))
			cl := p.client(kgo.DefaultProduceTopic(One))
			p.results(cl.ProduceSync(ctx, value("", "default")))
			p.results(cl.ProduceSync(ctx, value(Two, "named")))
			p.results(p.client(kgo.DefaultProduceTopic(One), kgo.DefaultProduceTopicAlways()).ProduceSync(ctx, value(Two, "always")))
		}},
		{Name: "produce: unknown topic", run: func(ctx context.Context, p *protocol) {
			p.results(p.client().ProduceSync(ctx, value("four", "v")))
		}},
		{Name: "produce: unknown topic that may be made", run: func(ctx context.Context, p *protocol) {
			p.results(p.client(kgo.AllowAutoTopicCreation()).ProduceSync(ctx, value("four", "v")))
		}},
		{Name: "produce: compressed", run: func(ctx context.Context, p *protocol) {
			for _, codec := range []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()} {
				cl := p.client(kgo.ProducerBatchCompression(codec))
				p.failed("produce", cl.ProduceSync(ctx, value(One, "v")).FirstErr())
			}
			p.records("read", read(p.client(kgo.ConsumeTopics(One)), 5))
		}},
		{Name: "produce: unknown topic, with retries and a time-out", run: func(ctx context.Context, p *protocol) {
			p.results(p.client(kgo.RecordRetries(1)).ProduceSync(ctx, value("four", "v")))
			p.results(p.client(kgo.RecordDeliveryTimeout(time.Second)).ProduceSync(ctx, value("four", "v")))
		}},
		{Name: "produce: too large", run: func(ctx context.Context, p *protocol) {
			cl := p.client()
			p.results(cl.ProduceSync(ctx, &kgo.Record{Topic: One, Key: []byte("key"), Value: []byte(strings.Repeat("x", 1_000_012))}))
			p.results(cl.ProduceSync(ctx, &kgo.Record{Topic: One, Key: []byte("header"), Headers: []kgo.RecordHeader{{Key: strings.Repeat("x", 1_200_000)}}}))
			p.results(cl.ProduceSync(ctx, value(One, "small")))
		}},
		{Name: "produce: at the limit of a batch", run: func(ctx context.Context, p *protocol) {
			cl := p.client()
			for _, n := range []int{999_900, 999_935, 999_936, 999_937, 1_000_000} {
				r := &kgo.Record{Topic: One, Value: []byte(strings.Repeat("x", n))}
				p.failed(strconv.Itoa(n), cl.ProduceSync(ctx, r).FirstErr())
			}
		}},
		{Name: "produce: a context that is over", run: func(ctx context.Context, p *protocol) {
			cl := p.client()
			over, cancel := context.WithCancel(ctx)
			cancel()
			p.results(cl.ProduceSync(ctx, value(One, "in time"))) // the first record would also ask for a producer id
			p.results(cl.ProduceSync(over, value(One, "cancelled")))
			late, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
			defer cancel()
			p.results(cl.ProduceSync(late, value(One, "late")))
		}},
		{Name: "produce: a client that is closed", run: func(ctx context.Context, p *protocol) {
			cl := p.client()
			p.results(cl.ProduceSync(ctx, value(One, "open")))
			cl.Close()
			p.results(cl.ProduceSync(ctx, value(One, "closed")))
			p.failed("flush", cl.Flush(ctx))
			cl.Close()
		}},
		{Name: "produce: in the background", run: func(ctx context.Context, p *protocol) {
			cl := p.client()
			for i := range 3 {
				cl.Produce(ctx, value(One, strconv.Itoa(i)), p.produced)
			}
			cl.TryProduce(ctx, value(One, "tried"), p.produced)
			cl.Produce(ctx, value(One, "nobody hears"), nil)
			p.failed("flush", cl.Flush(ctx))
			p.say("buffered %d", cl.BufferedProduceRecords())
			p.failed("nothing to flush", cl.Flush(ctx))
		}},
		{Name: "produce: a flush that is cancelled", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.ProducerLinger(time.Minute))
			cl.Produce(ctx, value("four", "unknown"), nil)
			over, cancel := context.WithCancel(ctx)
			cancel()
			p.failed("flush", cl.Flush(over))
		}},
		{Name: "produce: records are given up", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.ProducerLinger(time.Minute))
			for i := range 3 {
				cl.Produce(ctx, value(One, strconv.Itoa(i)), p.produced)
			}
			p.say("buffered %d", cl.BufferedProduceRecords())
			p.failed("abort", cl.AbortBufferedRecords(ctx))
			p.say("buffered %d", cl.BufferedProduceRecords())
			p.results(cl.ProduceSync(ctx, value(One, "afterwards")))
		}},
		{Name: "produce: first error of many", run: func(ctx context.Context, p *protocol) {
			cl := p.client()
			var first kgo.FirstErrPromise
			for _, topic := range []string{One, "", One} {
				cl.Produce(ctx, &kgo.Record{Topic: topic}, first.Promise())
			}
			p.failed("first error", first.Err())
			var none kgo.FirstErrPromise
			cl.Produce(ctx, value(One, "v"), none.Promise())
			p.failed("no error", none.Err())
			aborting := kgo.AbortingFirstErrPromise(cl)
			cl.Produce(ctx, &kgo.Record{}, aborting.Promise())
			p.failed("aborting", aborting.Err())
		}},
		{Name: "produce: without idempotence", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.DisableIdempotentWrite())
			p.results(cl.ProduceSync(ctx, value(One, "all"), value(One, "again")))
			cl = p.client(kgo.RequiredAcks(kgo.AllISRAcks()))
			p.results(cl.ProduceSync(ctx, value(One, "in sync")))
			cl = p.client(kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.LeaderAck()))
			p.results(cl.ProduceSync(ctx, value(One, "leader")))
		}},
		{Name: "produce: nobody acknowledges", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.NoAck()))
			r := value(One, "v")
			p.failed("produce", cl.ProduceSync(ctx, r).FirstErr())
			p.records("read", read(p.client(kgo.ConsumeTopics(One)), 1))
		}},
		{Name: "produce: the context of a record", run: func(ctx context.Context, p *protocol) {
			type key struct{}
			r := value(One, "v")
			r.Context = context.WithValue(ctx, key{}, "mine")
			p.results(p.client().ProduceSync(ctx, r))
			p.say("%v", r.Context.Value(key{}))
			p.client().Produce(nil, value(One, "no context"), nil) //nolint:staticcheck // the client allows it
		}},
		{Name: "produce: a record that was produced before", run: func(ctx context.Context, p *protocol) {
			cl := p.client()
			r := value(One, "v")
			p.results(cl.ProduceSync(ctx, r))
			p.results(cl.ProduceSync(ctx, r))
		}},
		{Name: "produce: a full buffer", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.MaxBufferedRecords(1), kgo.ProducerLinger(time.Minute))
			cl.TryProduce(ctx, value(One, "first"), nil)
			over := make(chan error, 1)
			cl.TryProduce(ctx, value(One, "second"), func(_ *kgo.Record, err error) { over <- err })
			cl.Flush(ctx)
			p.failed("second", <-over)
		}},
		{Name: "values: errors of Kafka", run: func(_ context.Context, p *protocol) {
			for _, code := range []int16{0, 1, 3, 10, 22, 25, 27, 47, 48, 51, 53, 82, 90, 111, 999} {
				err := kerr.ErrorForCode(code)
				p.failed(strconv.Itoa(int(code)), err)
				p.say("  %v retriable %t", kerr.TypedErrorForCode(code), kerr.IsRetriable(err))
			}
		}},
		{Name: "values: records and offsets", run: func(_ context.Context, p *protocol) {
			for _, r := range []*kgo.Record{kgo.StringRecord("v"), kgo.KeyStringRecord("k", "v"), kgo.SliceRecord([]byte("v")), kgo.KeySliceRecord([]byte("k"), nil)} {
				p.say("%q %t %q %t %s %d", r.Key, r.Key == nil, r.Value, r.Value == nil, r.Topic, r.Partition)
			}
			a, b, c := kgo.EpochOffset{Epoch: -1, Offset: 5}, kgo.EpochOffset{Epoch: 0, Offset: 3}, kgo.EpochOffset{Epoch: -2, Offset: 6}
			p.say("%t %t %t %t", a.Less(b), b.Less(a), a.Less(c), a.Less(a))
		}},
	}
}
