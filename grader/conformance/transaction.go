package handler

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// readers writes what readers of both isolation levels see of a topic, and where the
// log stands.
func (p *protocol) readers(topic string) {
	p.records("  uncommitted", more(p.client(kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadUncommitted()))))
	cl := p.client(kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	p.records("  committed", more(cl))
}

// in runs a transaction with one record.
func (p *protocol) in(ctx context.Context, cl *kgo.Client, v string, end kgo.TransactionEndTry) {
	p.failed("begin", cl.BeginTransaction())
	p.results(cl.ProduceSync(ctx, value(One, v)))
	p.failed("end", cl.EndTransaction(ctx, end))
}

// etl polls n records with a session and answers each with one in topic two.
func (p *protocol) etl(ctx context.Context, s *kgo.GroupTransactSession, n int) {
	rs := read(s.Client(), n)
	p.records("polled", rs)
	p.failed("begin", s.Begin())
	for _, r := range rs {
		p.produced(r, s.ProduceSync(ctx, value(Two, "out-"+string(r.Value))).FirstErr())
	}
}

func (p *protocol) ended(committed bool, err error) {
	p.failed("end "+map[bool]string{true: "committed", false: "aborted"}[committed], err)
}

func transactionPrograms() []Program {
	session := []kgo.Opt{kgo.TransactionalID("t"), kgo.ConsumerGroup("g"), kgo.ConsumeTopics(One), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.RequireStableFetchOffsets()} //nolint:staticcheck // submissions may still name it
	return []Program{
		{Name: "transaction: committed and aborted", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.TransactionalID("t"))
			p.in(ctx, cl, "a", kgo.TryCommit)
			p.in(ctx, cl, "b", kgo.TryAbort)
			p.in(ctx, cl, "c", kgo.TryCommit)
			p.readers(One)
		}},
		{Name: "transaction: what records and partitions say of it", run: func(ctx context.Context, p *protocol) {
			p.in(ctx, p.client(kgo.TransactionalID("t")), "a", kgo.TryCommit)
			open := p.client(kgo.TransactionalID("u"))
			p.failed("begin", open.BeginTransaction())
			p.results(open.ProduceSync(ctx, value(One, "open")))
			for _, level := range []kgo.IsolationLevel{kgo.ReadCommitted(), kgo.ReadUncommitted()} {
				cl := p.client(kgo.ConsumeTopics(One), kgo.FetchIsolationLevel(level))
				cl.PollFetches(ctx).EachPartition(func(part kgo.FetchTopicPartition) {
					p.say("high %d, stable %d", part.HighWatermark, part.LastStableOffset)
					for _, r := range part.Records {
						p.say("  %d=%s transaction %t, control %t", r.Offset, r.Value, r.Attrs.IsTransactional(), r.Attrs.IsControl())
					}
				})
			}
		}},
		{Name: "transaction: begun twice", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.TransactionalID("t"))
			p.failed("begin", cl.BeginTransaction())
			p.failed("again", cl.BeginTransaction())
			p.results(cl.ProduceSync(ctx, value(One, "a")))
			p.failed("end", cl.EndTransaction(ctx, kgo.TryCommit))
			p.readers(One)
		}},
		{Name: "transaction: a record outside of it", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.TransactionalID("t"))
			p.results(cl.ProduceSync(ctx, value(One, "before")))
			p.in(ctx, cl, "a", kgo.TryCommit)
			p.results(cl.ProduceSync(ctx, value(One, "after")))
			p.readers(One)
		}},
		{Name: "transaction: ended without a beginning", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.TransactionalID("t"))
			p.failed("commit", cl.EndTransaction(ctx, kgo.TryCommit))
			p.failed("abort", cl.EndTransaction(ctx, kgo.TryAbort))
		}},
		{Name: "transaction: without an id", run: func(ctx context.Context, p *protocol) {
			cl := p.client()
			p.failed("begin", cl.BeginTransaction())
			p.failed("commit", cl.EndTransaction(ctx, kgo.TryCommit))
			p.results(cl.ProduceSync(ctx, value(One, "a")))
		}},
		{Name: "transaction: empty", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.TransactionalID("t"))
			for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
				p.failed("begin", cl.BeginTransaction())
				p.failed("end", cl.EndTransaction(ctx, end))
			}
			p.in(ctx, cl, "a", kgo.TryCommit)
			p.readers(One)
		}},
		{Name: "transaction: a record that fails", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.TransactionalID("t"))
			p.failed("begin", cl.BeginTransaction())
			p.results(cl.ProduceSync(ctx, value(One, "a")))
			p.results(cl.ProduceSync(ctx, value("four", "unknown")))
			p.failed("commit", cl.EndTransaction(ctx, kgo.TryCommit))
			p.readers(One)
		}},
		{Name: "transaction: in the background", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.TransactionalID("t"))
			p.failed("begin", cl.BeginTransaction())
			first := kgo.AbortingFirstErrPromise(cl)
			for _, v := range []string{"a", "b", "c"} {
				cl.Produce(ctx, value(One, v), first.Promise())
			}
			p.failed("flush", cl.Flush(ctx))
			p.failed("first error", first.Err())
			p.failed("end", cl.EndTransaction(ctx, first.Err() == nil))
			p.readers(One)
		}},
		{Name: "transaction: aborted with records that were not sent", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.TransactionalID("t"), kgo.ProducerLinger(time.Minute))
			p.failed("begin", cl.BeginTransaction())
			cl.Produce(ctx, value(One, "a"), p.produced)
			p.failed("give up", cl.AbortBufferedRecords(ctx))
			p.failed("end", cl.EndTransaction(ctx, kgo.TryAbort))
			p.in(ctx, cl, "b", kgo.TryCommit)
			p.readers(One)
		}},
		{Name: "transaction: several partitions", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.TransactionalID("t"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
			p.failed("begin", cl.BeginTransaction())
			for id := range int32(2) {
				r := value(Two, "v")
				r.Partition = id
				p.results(cl.ProduceSync(ctx, r))
			}
			p.results(cl.ProduceSync(ctx, value(One, "a")))
			p.failed("end", cl.EndTransaction(ctx, kgo.TryCommit))
			p.readers(One)
			p.records("two", read(p.client(kgo.ConsumeTopics(Two), kgo.FetchIsolationLevel(kgo.ReadCommitted())), 2))
		}},
		{Name: "transaction: with a context that is over", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.TransactionalID("t"))
			over, cancel := context.WithCancel(ctx)
			cancel()
			p.failed("begin", cl.BeginTransaction())
			p.results(cl.ProduceSync(ctx, value(One, "a")))
			p.failed("end", cl.EndTransaction(over, kgo.TryCommit))
		}},
		{Name: "transaction: a client that is closed", run: func(ctx context.Context, p *protocol) {
			cl := p.client(kgo.TransactionalID("t"))
			p.failed("begin", cl.BeginTransaction())
			p.results(cl.ProduceSync(ctx, value(One, "a")))
			cl.Close()
			p.results(cl.ProduceSync(ctx, value(One, "b")))
			p.failed("end", cl.EndTransaction(ctx, kgo.TryCommit))
			p.readers(One)
		}},
		{Name: "transaction: a second producer with the id, and the first ends", run: func(ctx context.Context, p *protocol) {
			a := p.client(kgo.TransactionalID("t"))
			p.failed("begin", a.BeginTransaction())
			p.results(a.ProduceSync(ctx, value(One, "a")))
			p.in(ctx, p.client(kgo.TransactionalID("t")), "b", kgo.TryCommit)
			p.failed("the first ends", a.EndTransaction(ctx, kgo.TryCommit))
			p.failed("and begins", a.BeginTransaction())
			p.readers(One)
		}},
		{Name: "transaction: a second producer with the id, and the first produces", run: func(ctx context.Context, p *protocol) {
			a := p.client(kgo.TransactionalID("t"))
			p.failed("begin", a.BeginTransaction())
			p.results(a.ProduceSync(ctx, value(One, "a")))
			p.in(ctx, p.client(kgo.TransactionalID("t")), "b", kgo.TryCommit)
			p.results(a.ProduceSync(ctx, value(One, "late")))
			p.failed("the first ends", a.EndTransaction(ctx, kgo.TryCommit))
			p.readers(One)
		}},
		{Name: "transaction: open until it times out", run: func(ctx context.Context, p *protocol) {
			a := p.client(kgo.TransactionalID("t"), kgo.TransactionTimeout(30*time.Second))
			p.failed("begin", a.BeginTransaction())
			p.results(a.ProduceSync(ctx, value(One, "a")))
			p.fill(One, 0, "b")
			cl := p.client(kgo.ConsumeTopics(One), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
			p.records("at first", more(cl))
			time.Sleep(time.Minute)
			p.records("later", read(cl, 1))
			p.failed("end", a.EndTransaction(ctx, kgo.TryCommit))
		}},
		{Name: "session: commits", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a", "b")
			s := p.session(session...)
			p.etl(ctx, s, 2)
			p.ended(s.End(ctx, kgo.TryCommit))
			p.known("committed", s.Client())
			p.readers(Two)
			s.Close()
			p.next()
		}},
		{Name: "session: aborts, and reads again", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a", "b")
			s := p.session(session...)
			p.etl(ctx, s, 2)
			p.ended(s.End(ctx, kgo.TryAbort))
			p.known("aborted", s.Client())
			p.etl(ctx, s, 2)
			p.ended(s.End(ctx, kgo.TryCommit))
			p.readers(Two)
		}},
		{Name: "session: ended without a beginning", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			s := p.session(session...)
			p.records("polled", read(s.Client(), 1))
			p.ended(s.End(ctx, kgo.TryCommit))
			p.ended(s.End(ctx, kgo.TryAbort))
			p.known("it knows", s.Client())
		}},
		{Name: "session: begun twice", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			s := p.session(session...)
			p.etl(ctx, s, 1)
			p.failed("again", s.Begin())
			p.ended(s.End(ctx, kgo.TryCommit))
		}},
		{Name: "session: nothing produced", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			s := p.session(session...)
			p.records("polled", read(s.Client(), 1))
			p.failed("begin", s.Begin())
			p.ended(s.End(ctx, kgo.TryCommit))
			p.known("committed", s.Client())
		}},
		{Name: "session: ended after a rebalance", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			var d diary
			s := p.session(append(session, append(d.callbacks(), kgo.Balancers(kgo.RangeBalancer()))...)...)
			p.etl(ctx, s, 1)
			s.Client().ForceRebalance()
			p.say("revoked %t", d.has("revoked", s.Client()))
			p.ended(s.End(ctx, kgo.TryCommit))
			p.known("aborted", s.Client())
			p.readers(Two)
		}},
		{Name: "session: in the background", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			s := p.session(session...)
			rs := read(s.Client(), 1)
			p.failed("begin", s.Begin())
			first := kgo.AbortingFirstErrPromise(s.Client())
			for range 2 {
				s.Produce(ctx, value(Two, "out-"+string(rs[0].Value)), first.Promise())
			}
			s.TryProduce(ctx, value(Two, "tried"), first.Promise())
			p.ended(s.End(ctx, first.Err() == nil))
			p.readers(Two)
		}},
		{Name: "session: offsets are committed by hand", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			s := p.session(session...)
			p.etl(ctx, s, 1)
			p.failed("commit", s.Client().CommitUncommittedOffsets(ctx))
			p.ended(s.End(ctx, kgo.TryCommit))
			p.known("committed", s.Client())
		}},
	}
}
