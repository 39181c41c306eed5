package handler

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// joins is a program in which a second member joins the first one's group. Which
// partitions each gets depends on their ids, which are drawn: only how many counts.
func joins(name string, opts ...kgo.Opt) Program {
	return Program{Name: "group: " + name, run: func(_ context.Context, p *protocol) {
		first, second := diary{counts: true}, diary{counts: true}
		a := p.member("g", Two, append(first.callbacks(), opts...)...)
		p.say("%t", first.has("assigned 2", a))
		b := p.member("g", Two, append(second.callbacks(), opts...)...)
		p.say("%t", second.has("assigned 1", a, b))
		p.fill(Two, 0, "x")
		p.fill(Two, 1, "y")
		p.say("together %d records", together(a, b, 2))
		a.CloseAllowingRebalance()
		more(b) // takes over
		p.say("first: %s", &first)
		p.say("second: %s", &second)
	}}
}

// together polls with two clients at once until they have n records.
func together(a, b *kgo.Client, n int) int {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := 0
	for _, cl := range []*kgo.Client{a, b} {
		wg.Go(func() {
			for ctx.Err() == nil {
				rs := cl.PollFetches(ctx).NumRecords()
				cl.AllowRebalance()
				mu.Lock()
				if got += rs; got >= n {
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return got
}

func groupPrograms() []Program {
	eager := kgo.Balancers(kgo.RangeBalancer())
	return []Program{
		{Name: "group: alone", run: func(_ context.Context, p *protocol) {
			var d diary
			p.fill(Three, 1, "a")
			cl := p.member("g", Three, d.callbacks()...)
			p.records("read", read(cl, 1))
			cl.Close()
			p.say("%s", &d)
		}},
		{Name: "group: the group is left", run: func(_ context.Context, p *protocol) {
			var d diary
			cl := p.member("g", Two, d.callbacks()...)
			p.say("%t", d.has("assigned", cl))
			cl.LeaveGroup()
			p.say("%s", &d)
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
			defer cancel()
			p.fetches("afterwards", cl.PollFetches(ctx))
			cl.LeaveGroup()
			cl.Close()
			p.say("%s", &d)
		}},
		joins("a second member, cooperative"),
		joins("a second member, eager", eager),
		joins("a second member, round robin", kgo.Balancers(kgo.RoundRobinBalancer())),
		joins("a second member, sticky", kgo.Balancers(kgo.StickyBalancer())),
		joins("a second member, and polls block", eager, kgo.BlockRebalanceOnPoll()),
		{Name: "group: a rebalance is forced, eager", run: func(_ context.Context, p *protocol) {
			var d diary
			cl := p.member("g", Two, append(d.callbacks(), eager)...)
			p.say("%t", d.has("assigned", cl))
			cl.ForceRebalance()
			p.say("%t", d.has("revoked", cl))
			p.records("more", more(cl))
			p.say("%s", &d)
		}},
		{Name: "group: a rebalance is forced, cooperative", run: func(_ context.Context, p *protocol) {
			var d diary
			cl := p.member("g", Two, d.callbacks()...)
			p.say("%t", d.has("assigned", cl))
			cl.ForceRebalance()
			p.records("more", more(cl))
			p.say("%s", &d)
		}},
		{Name: "group: records come again after an eager rebalance", run: func(ctx context.Context, p *protocol) {
			var d diary
			p.fill(One, 0, "a", "b")
			cl := p.member("g", One, append(d.callbacks(), eager)...)
			rs := read(cl, 2)
			p.failed("commit", cl.CommitRecords(ctx, rs[0]))
			cl.ForceRebalance()
			p.records("again", read(cl, 1))
			p.say("%s", &d)
		}},
		{Name: "group: a poll blocks rebalances", run: func(ctx context.Context, p *protocol) {
			var first, second diary
			p.fill(One, 0, "a")
			a := p.member("g", One, append(first.callbacks(), eager, kgo.BlockRebalanceOnPoll())...)
			rs := read(a, 1)
			b := p.member("g", One, append(second.callbacks(), eager)...)
			p.records("nothing for the second", more(b))
			p.say("first: %s; second: %s", &first, &second)
			p.failed("commit", a.CommitRecords(ctx, rs...))
			a.AllowRebalance()
			p.say("%t", second.has("assigned", a, b))
			p.say("revoked: %t", first.has("revoked [one/0]"))
		}},
		{Name: "group: a commit in the callback", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a", "b")
			var d diary
			cl := p.client(kgo.ConsumerGroup("g"), kgo.ConsumeTopics(One), kgo.DisableAutoCommit(), eager,
				kgo.OnPartitionsRevoked(func(ctx context.Context, cl *kgo.Client, _ map[string][]int32) {
					d.note("uncommitted %v, commit %v", cl.UncommittedOffsets(), cl.CommitUncommittedOffsets(ctx))
				}))
			read(cl, 2)
			cl.Close()
			p.say("%s", &d)
			p.next()
		}},
		{Name: "group: Close hands the partitions over at once", run: func(_ context.Context, p *protocol) {
			p.fill(One, 0, "a")
			a, b := p.member("g", One, eager), p.member("g", One, eager)
			p.say("together %d", together(a, b, 1))
			began := time.Now()
			a.Close()
			b.Close()
			p.records("the next", read(p.member("g", One, eager), 1))
			p.say("before a session ends: %t", time.Since(began) < 30*time.Second)
		}},
		{Name: "group: two groups", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a", "b")
			a, b := p.member("g", One), p.member("h", One)
			rs := read(a, 2)
			p.failed("commit", a.CommitRecords(ctx, rs...))
			p.records("the other group", read(b, 2))
			p.offsets("of the other", b.CommittedOffsets())
		}},
		{Name: "group: a static member comes back", run: func(ctx context.Context, p *protocol) {
			var d diary
			p.fill(One, 0, "a")
			cl := p.member("g", One, kgo.InstanceID("i"))
			p.failed("commit", cl.CommitRecords(ctx, read(cl, 1)...))
			cl.Close()
			p.fill(One, 0, "b")
			cl = p.member("g", One, append(d.callbacks(), kgo.InstanceID("i"))...)
			p.records("read", read(cl, 1))
			p.say("%s", &d)
		}},
		{Name: "group: two static members with one name", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			a := p.member("g", One, kgo.InstanceID("i"))
			rs := read(a, 1)
			b := p.member("g", One, kgo.InstanceID("i"))
			p.records("the second", read(b, 1))
			p.failed("commit of the first", a.CommitRecords(ctx, rs...))
			p.failed("commit of the second", b.CommitRecords(ctx, rs...))
		}},
		{Name: "group: a member that was replaced commits", run: func(ctx context.Context, p *protocol) {
			p.fill(One, 0, "a")
			a := p.member("g", One, eager)
			rs := read(a, 1)
			a.LeaveGroup()
			b := p.member("g", One, eager)
			p.failed("the second", b.CommitRecords(ctx, read(b, 1)...))
			p.failed("the first", a.CommitRecords(ctx, rs...))
		}},
	}
}
