package handler

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// known writes what a member knows of offsets.
func (p *protocol) known(what string, cl *kgo.Client) {
	p.say("%s", what)
	p.offsets("  committed", cl.CommittedOffsets())
	p.offsets("  uncommitted", cl.UncommittedOffsets())
	p.offsets("  marked", cl.MarkedOffsets())
}

// next writes what a new member of the group g reads of One after the others have closed.
func (p *protocol) next() {
	cl := p.member("g", One)
	p.records("the next member", more(cl))
	p.offsets("  and knows", cl.CommittedOffsets())
	cl.Close()
}

// commits is a program with a member of a group that has read a, b and c.
func commits(name string, then func(ctx context.Context, p *protocol, cl *kgo.Client, rs []*kgo.Record), opts ...kgo.Opt) Program {
	return Program{Name: "commit: " + name, run: func(ctx context.Context, p *protocol) {
		p.fill(One, 0, "a", "b", "c")
		cl := p.client(append([]kgo.Opt{kgo.ConsumerGroup("g"), kgo.ConsumeTopics(One)}, opts...)...)
		then(ctx, p, cl, read(cl, 3))
	}}
}

func commitPrograms() []Program {
	manual, marks := kgo.DisableAutoCommit(), kgo.AutoCommitMarks()
	return []Program{
		commits("nothing", func(_ context.Context, p *protocol, cl *kgo.Client, _ []*kgo.Record) {
			p.known("polled", cl)
			cl.Close()
			p.known("closed", cl)
			p.next()
		}, manual),
		commits("records", func(ctx context.Context, p *protocol, cl *kgo.Client, rs []*kgo.Record) {
			p.failed("commit", cl.CommitRecords(ctx, rs[:2]...))
			p.known("committed", cl)
			cl.Close()
			p.next()
		}, manual),
		commits("records in another order", func(ctx context.Context, p *protocol, cl *kgo.Client, rs []*kgo.Record) {
			p.failed("commit", cl.CommitRecords(ctx, rs[1], rs[0]))
			p.known("the latest counts", cl)
			p.failed("an older one", cl.CommitRecords(ctx, rs[0]))
			p.known("back", cl)
			cl.Close()
			p.next()
		}, manual),
		commits("no records", func(ctx context.Context, p *protocol, cl *kgo.Client, _ []*kgo.Record) {
			p.failed("commit", cl.CommitRecords(ctx))
			p.known("as before", cl)
		}, manual),
		commits("records that it has never read", func(ctx context.Context, p *protocol, cl *kgo.Client, _ []*kgo.Record) {
			p.failed("offset 41", cl.CommitRecords(ctx, &kgo.Record{Topic: One, Offset: 41}))
			p.failed("another topic", cl.CommitRecords(ctx, &kgo.Record{Topic: Two, Partition: 1, Offset: 6}))
			p.failed("no such topic", cl.CommitRecords(ctx, &kgo.Record{Topic: "four", Offset: 6}))
			p.known("what it knows", cl)
		}, manual),
		commits("everything that was polled", func(ctx context.Context, p *protocol, cl *kgo.Client, _ []*kgo.Record) {
			p.failed("commit", cl.CommitUncommittedOffsets(ctx))
			p.known("committed", cl)
			p.failed("again", cl.CommitUncommittedOffsets(ctx))
			cl.Close()
			p.next()
		}, manual),
		commits("with a context that is over", func(ctx context.Context, p *protocol, cl *kgo.Client, rs []*kgo.Record) {
			over, cancel := context.WithCancel(ctx)
			cancel()
			p.failed("records", cl.CommitRecords(over, rs...))
			p.failed("uncommitted", cl.CommitUncommittedOffsets(over))
			p.failed("in time", cl.CommitRecords(ctx, rs[0]))
		}, manual),
		commits("after Close", func(ctx context.Context, p *protocol, cl *kgo.Client, rs []*kgo.Record) {
			cl.Close()
			p.failed("records", cl.CommitRecords(ctx, rs...))
			p.failed("uncommitted", cl.CommitUncommittedOffsets(ctx))
			p.next()
		}, manual),
		commits("after LeaveGroup", func(ctx context.Context, p *protocol, cl *kgo.Client, rs []*kgo.Record) {
			cl.LeaveGroup()
			p.failed("records", cl.CommitRecords(ctx, rs...))
			p.known("it knows", cl)
			p.results(cl.ProduceSync(ctx, value(One, "still produces")))
			p.next()
		}, manual),
		commits("without marks", func(ctx context.Context, p *protocol, cl *kgo.Client, rs []*kgo.Record) {
			cl.MarkCommitRecords(rs...)
			p.failed("marked", cl.CommitMarkedOffsets(ctx))
			p.known("it knows", cl)
		}, manual),
		commits("marks", func(ctx context.Context, p *protocol, cl *kgo.Client, rs []*kgo.Record) {
			p.known("polled", cl)
			cl.MarkCommitRecords(rs[1], rs[0])
			p.known("marked", cl)
			p.failed("commit", cl.CommitMarkedOffsets(ctx))
			p.known("committed", cl)
			cl.MarkCommitRecords(rs[0])
			p.known("an older mark", cl)
			cl.MarkCommitOffsets(map[string]map[int32]kgo.EpochOffset{One: {0: {Epoch: 0, Offset: 3}}, "four": {0: {Offset: 3}}})
			p.known("a mark by offset", cl)
			p.failed("uncommitted", cl.CommitUncommittedOffsets(ctx))
			p.known("everything", cl)
		}, marks),
		commits("marks, by itself on Close", func(_ context.Context, p *protocol, cl *kgo.Client, rs []*kgo.Record) {
			cl.MarkCommitRecords(rs[0])
			cl.Close()
			p.next()
		}, marks),
		commits("marks, by itself as time passes", func(_ context.Context, p *protocol, cl *kgo.Client, rs []*kgo.Record) {
			cl.MarkCommitRecords(rs[:2]...)
			p.known("marked", cl)
			p.records("more", more(cl))
			p.known("later", cl)
		}, marks, kgo.AutoCommitInterval(time.Second)),
		commits("by itself as time passes", func(_ context.Context, p *protocol, cl *kgo.Client, _ []*kgo.Record) {
			p.records("more", more(cl)) // the poll says that what came before is done
			p.known("later", cl)
		}, kgo.AutoCommitInterval(time.Second)),
		commits("by itself on Close, what came before the last poll", func(_ context.Context, p *protocol, cl *kgo.Client, _ []*kgo.Record) {
			cl.Close()
			p.next()
		}),
		commits("greedily", func(_ context.Context, p *protocol, cl *kgo.Client, _ []*kgo.Record) {
			time.Sleep(3 * time.Second)
			p.records("more", more(cl))
			p.known("later", cl)
		}, kgo.GreedyAutoCommit(), kgo.AutoCommitInterval(time.Second)),
		{Name: "commit: without a group", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			cl := p.client(kgo.ConsumeTopics(One))
			rs := read(cl, 1)
			p.failed("records", cl.CommitRecords(ctx, rs...))
			p.failed("uncommitted", cl.CommitUncommittedOffsets(ctx))
			p.failed("marked", cl.CommitMarkedOffsets(ctx))
			cl.MarkCommitRecords(rs...)
			p.known("it knows", cl)
			cl.AllowRebalance()
			cl.ForceRebalance()
			cl.LeaveGroup()
		}},
		{Name: "commit: one record after the other", run: func(ctx context.Context, p *protocol) {
			p.fill(Two, 0, "a", "b")
			p.fill(Two, 1, "c")
			cl := p.member("g", Two)
			for _, r := range read(cl, 3) {
				p.failed(string(r.Value), cl.CommitRecords(ctx, r))
				p.offsets("  committed", cl.CommittedOffsets())
			}
		}},
		commits("offsets are set back", func(ctx context.Context, p *protocol, cl *kgo.Client, rs []*kgo.Record) {
			p.failed("commit", cl.CommitRecords(ctx, rs...))
			cl.SetOffsets(map[string]map[int32]kgo.EpochOffset{One: {0: {Epoch: -1, Offset: 1}}})
			p.known("set", cl)
			p.records("again", read(cl, 2))
			p.known("read again", cl)
			p.failed("commit", cl.CommitUncommittedOffsets(ctx))
			cl.Close()
			p.next()
		}, manual),
		commits("offsets of others are set", func(_ context.Context, p *protocol, cl *kgo.Client, _ []*kgo.Record) {
			cl.SetOffsets(map[string]map[int32]kgo.EpochOffset{Two: {1: {Epoch: -1, Offset: 1}}})
			p.known("set", cl)
			p.records("more", more(cl))
		}, manual),
	}
}
