package handler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// fetches writes what a poll without records says of itself.
func (p *protocol) fetches(what string, fs kgo.Fetches) {
	p.say("%s: %d fetches, empty %t, records %d, closed %t", what, len(fs), fs.Empty(), fs.NumRecords(), fs.IsClientClosed())
	p.failed("  err", fs.Err())
	p.failed("  err0", fs.Err0())
	for _, e := range fs.Errors() {
		p.failed(fmt.Sprintf("  error of %q %d", e.Topic, e.Partition), e.Err)
	}
	fs.EachError(func(topic string, id int32, err error) { p.failed(fmt.Sprintf("  each error %q %d", topic, id), err) })
}

// from is a program that reads partition 0 of two, which has the records a to e, with a
// client that begins where the options say.
func from(name string, opts ...kgo.Opt) Program {
	return Program{Name: "begin: " + name, run: func(_ context.Context, p *protocol) {
		p.fill(One, 0, "a", "b", "c", "d", "e")
		for _, opt := range opts {
			p.records("read", more(p.client(kgo.ConsumeTopics(One), opt)))
		}
	}}
}

func consumePrograms() []Program {
	begin := kgo.NewOffset()
	return []Program{
		{Name: "poll: everything", run: func(_ context.Context, p *protocol) {
			for i := range int32(3) {
				p.fill(Three, i, fmt.Sprint("a", i), fmt.Sprint("b", i))
			}
			p.records("read", read(p.client(kgo.ConsumeTopics(Three)), 6))
		}},
		{Name: "poll: several topics", run: func(_ context.Context, p *protocol) {
			p.fill(One, 0, "a")
			p.fill(Two, 1, "b")
			p.records("read", read(p.client(kgo.ConsumeTopics(Two, One)), 2))
		}},
		{Name: "poll: at most two records", run: func(_ context.Context, p *protocol) {
			p.fill(One, 0, "a", "b", "c", "d", "e")
			cl := p.client(kgo.ConsumeTopics(One))
			for n := 0; n < 5; {
				rs := cl.PollRecords(context.Background(), 2).Records()
				p.say("within the limit %t", len(rs) <= 2)
				n += len(rs)
			}
			p.records("nothing more", more(cl))
		}},
		{Name: "poll: one record at a time", run: func(_ context.Context, p *protocol) {
			p.fill(One, 0, "a", "b", "c")
			cl := p.client(kgo.ConsumeTopics(One))
			for range 3 {
				p.records("one", cl.PollRecords(context.Background(), 1).Records())
			}
		}},
		{Name: "poll: nothing there", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.ConsumeTopics(One))
			p.fetches("no context", cl.PollFetches(nil)) //nolint:staticcheck // it means: do not wait
			late, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			p.fetches("too late", cl.PollFetches(late))
			over, cancel := context.WithCancel(ctx)
			cancel()
			p.fetches("cancelled", cl.PollRecords(over, 5))
		}},
		{Name: "poll: cancelled while it waits", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.ConsumeTopics(One))
			over, cancel := context.WithCancel(ctx)
			go func() {
				time.Sleep(3 * time.Second)
				cancel()
			}()
			p.fetches("cancelled", cl.PollFetches(over))
		}},
		{Name: "poll: cancelled although records are there", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			cl := p.client(kgo.ConsumeTopics(One))
			over, cancel := context.WithCancel(ctx)
			cancel()
			cl.PollFetches(over)
			p.records("afterwards", read(cl, 1))
		}},
		{Name: "poll: a client that is closed", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			cl := p.client(kgo.ConsumeTopics(One))
			p.records("open", read(cl, 1))
			cl.Close()
			p.fetches("closed", cl.PollFetches(ctx))
			p.fetches("closed, no context", cl.PollFetches(nil)) //nolint:staticcheck // it means: do not wait
			p.fetches("closed, some", cl.PollRecords(ctx, 1))
		}},
		{Name: "poll: closed while it waits", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.ConsumeTopics(One))
			go func() {
				time.Sleep(3 * time.Second)
				cl.Close()
			}()
			p.fetches("closed", cl.PollFetches(ctx))
		}},
		{Name: "poll: a client that does not consume", run: func(ctx context.Context, p *protocol) {
			late, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			p.fetches("nothing", p.client().PollFetches(late))
		}},
		{Name: "poll: unknown topic", run: func(ctx context.Context, p *protocol) {
			late, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			p.fetches("unknown", p.client(kgo.ConsumeTopics("four")).PollFetches(late))
		}},
		{Name: "poll: ways to look at fetches", run: func(ctx context.Context, p *protocol) {
			p.fill(Two, 0, "a", "b")
			p.fill(Two, 1, "c")
			cl := p.client(kgo.ConsumeTopics(Two))
			var fs kgo.Fetches
			for fs.NumRecords() < 3 {
				fs = append(fs, cl.PollFetches(ctx)...)
			}
			p.look(fs)
		}},
		{Name: "poll: what it says of a partition", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a", "b", "c")
			p.client(kgo.ConsumeTopics(One)).PollFetches(ctx).EachPartition(func(part kgo.FetchTopicPartition) {
				p.say("%s/%d %v high %d, stable %d, start %d", part.Topic, part.Partition, part.Err, part.HighWatermark, part.LastStableOffset, part.LogStartOffset)
			})
		}},
		from("where a client begins by default", kgo.ConsumeTopics(One)),
		from("start and end", kgo.ConsumeResetOffset(begin), kgo.ConsumeResetOffset(begin.AtStart()), kgo.ConsumeResetOffset(begin.AtEnd())),
		from("exactly", kgo.ConsumeResetOffset(begin.At(2)), kgo.ConsumeResetOffset(begin.At(5)), kgo.ConsumeResetOffset(begin.At(-1)), kgo.ConsumeResetOffset(begin.At(-2))),
		from("relative", kgo.ConsumeResetOffset(begin.AtEnd().Relative(-2)), kgo.ConsumeResetOffset(begin.AtStart().Relative(3)), kgo.ConsumeResetOffset(begin.At(2).Relative(1)),
			kgo.ConsumeResetOffset(begin.AtEnd().Relative(-9)), kgo.ConsumeResetOffset(begin.AtStart().Relative(9))),
		from("after the end", kgo.ConsumeResetOffset(begin.At(99))),
		from("a start of its own", kgo.ConsumeStartOffset(begin.At(3)), kgo.ConsumeStartOffset(begin.AtEnd().Relative(-1))),
		from("after a time", kgo.ConsumeResetOffset(begin.AfterMilli(0)), kgo.ConsumeResetOffset(begin.AfterMilli(1<<42))),
		from("with an epoch", kgo.ConsumeResetOffset(begin.At(4).WithEpoch(0))),
		{Name: "begin: partitions by hand", run: func(ctx context.Context, p *protocol) {
			for id := range int32(3) {
				p.fill(Three, id, "a", "b", "c", "d")
			}
			p.fill(One, 0, "x")
			cl := p.client(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
				Three: {0: begin.At(2), 2: begin.AtEnd().Relative(-1)}, One: {0: begin.AtStart()},
			}))
			p.records("read", read(cl, 4))
			p.records("nothing more", more(cl))
			cl.SetOffsets(map[string]map[int32]kgo.EpochOffset{Three: {0: {Epoch: -1, Offset: 3}}})
			p.records("set", read(cl, 1))
			p.failed("commit", cl.CommitRecords(ctx))
		}},
		{Name: "begin: a partition that does not exist", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{Two: {7: begin.AtStart()}}))
			late, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			p.fetches("nothing", cl.PollFetches(late))
		}},
		{Name: "begin: out of range without a reset", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			cl := p.client(kgo.ConsumeTopics(One), kgo.ConsumeResetOffset(kgo.NoResetOffset().At(99)))
			late, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			p.fetches("out of range", cl.PollFetches(late))
		}},
		{Name: "begin: no offset and no reset in a group", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			cl := p.member("g", One, kgo.ConsumeResetOffset(kgo.NoResetOffset()))
			late, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			p.fetches("no offset", cl.PollFetches(late))
		}},
		{Name: "pause: partitions", run: func(_ context.Context, p *protocol) {
			cl := p.client(kgo.ConsumeTopics(Two))
			p.say("none: %s", places(cl.PauseFetchPartitions(nil)))
			p.say("one: %s", places(cl.PauseFetchPartitions(map[string][]int32{Two: {0}})))
			p.fill(Two, 0, "a")
			p.fill(Two, 1, "b")
			p.records("paused", more(cl))
			p.say("both: %s", places(cl.PauseFetchPartitions(map[string][]int32{Two: {1, 0}})))
			cl.ResumeFetchPartitions(map[string][]int32{Two: {0}})
			p.records("resumed", read(cl, 1))
			p.say("one left: %s", places(cl.PauseFetchPartitions(nil)))
			cl.ResumeFetchPartitions(map[string][]int32{One: {7}})
			p.say("an unknown one: %s", places(cl.PauseFetchPartitions(map[string][]int32{"four": {4}})))
		}},
		{Name: "set offsets: without a group", run: func(_ context.Context, p *protocol) {
			p.fill(One, 0, "a", "b", "c")
			cl := p.client(kgo.ConsumeTopics(One))
			p.records("read", read(cl, 3))
			cl.SetOffsets(map[string]map[int32]kgo.EpochOffset{One: {0: {Epoch: -1, Offset: 1}}})
			p.records("again", read(cl, 2))
			cl.SetOffsets(map[string]map[int32]kgo.EpochOffset{One: {0: {Epoch: -1, Offset: 3}}})
			p.records("at the end", more(cl))
		}},
	}
}

// look writes the same fetches in every way that there is.
func (p *protocol) look(fs kgo.Fetches) {
	list := func(what string, rs []*kgo.Record) {
		slices.SortStableFunc(rs, func(a, b *kgo.Record) int { return int(a.Partition - b.Partition) })
		p.records(what, rs)
	}
	list("records", fs.Records())
	var rs []*kgo.Record
	fs.EachRecord(func(r *kgo.Record) { rs = append(rs, r) })
	list("each record", rs)
	rs = nil
	for it := fs.RecordIter(); !it.Done(); {
		rs = append(rs, it.Next())
	}
	list("record iter", rs)
	rs = nil
	for r := range fs.RecordsAll() {
		rs = append(rs, r)
	}
	list("records all", rs)
	rs = nil
	fs.EachPartition(func(part kgo.FetchTopicPartition) { part.EachRecord(func(r *kgo.Record) { rs = append(rs, r) }) })
	list("each partition", rs)
	rs = nil
	var topics []string
	fs.EachTopic(func(t kgo.FetchTopic) {
		topics = append(topics, t.Topic)
		t.EachPartition(func(part kgo.FetchPartition) { part.EachRecord(func(r *kgo.Record) { rs = append(rs, r) }) })
		p.say("records of the topic: %d", len(t.Records()))
		n := 0
		t.EachRecord(func(*kgo.Record) { n++ })
		p.say("each record of the topic: %d", n)
	})
	list("each topic", rs)
	p.say("%s, %d records, empty %t, errors %v %v %d", strings.Join(topics, " "), fs.NumRecords(), fs.Empty(), fs.Err(), fs.Err0(), len(fs.Errors()))
	p.fetches("made", kgo.NewErrFetch(context.Canceled))
	p.fetches("none", nil)
}
