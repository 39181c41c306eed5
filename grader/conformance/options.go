package handler

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// refused writes what becomes of clients with options that exclude each other, or of
// one that is out of its range.
func refused(name string, clients ...[]kgo.Opt) Program {
	return Program{Name: "options: " + name, run: func(_ context.Context, p *protocol) {
		for _, opts := range clients {
			cl, err := kgo.NewClient(slices.Concat(p.kafka, opts)...)
			p.failed("client", err)
			if err == nil {
				cl.Close()
			}
			s, err := kgo.NewGroupTransactSession(slices.Concat(p.kafka, opts)...)
			p.failed("session", err)
			if err == nil {
				s.Close()
			}
		}
	}}
}

func optionPrograms() []Program {
	group, topic := kgo.ConsumerGroup("g"), kgo.ConsumeTopics(One)
	txn := kgo.TransactionalID("t")
	return []Program{
		refused("none at all", nil),
		{Name: "options: no brokers", run: func(_ context.Context, p *protocol) {
			_, err := kgo.NewClient(kgo.SeedBrokers())
			p.failed("none", err)
		}},
		{Name: "options: those of the function are forgotten", Differs: "`NewClient` refuses options without `SeedBrokers`", run: func(_ context.Context, p *protocol) {
			cl, err := kgo.NewClient(kgo.ConsumeTopics(One))
			p.failed("none", err)
			if err == nil {
				cl.Close()
			}
		}},
		refused("a producer's", []kgo.Opt{kgo.RequiredAcks(kgo.LeaderAck())}, []kgo.Opt{kgo.RequiredAcks(kgo.NoAck())},
			[]kgo.Opt{kgo.RecordRetries(-1)}, []kgo.Opt{kgo.RecordDeliveryTimeout(time.Millisecond)}, []kgo.Opt{kgo.RecordDeliveryTimeout(-time.Second)},
			[]kgo.Opt{kgo.DefaultProduceTopic("")}),
		refused("options that change nothing", []kgo.Opt{kgo.MaxBufferedRecords(0)}, []kgo.Opt{kgo.ProducerLinger(2 * time.Minute)}, []kgo.Opt{kgo.ProducerLinger(-time.Second)},
			[]kgo.Opt{kgo.ClientID(strings.Repeat("x", 300))}, []kgo.Opt{kgo.FetchMaxBytes(1 << 30)}, []kgo.Opt{kgo.FetchMaxBytes(-1)}, []kgo.Opt{kgo.FetchMaxPartitionBytes(-1)}),
		refused("transactions", []kgo.Opt{txn, kgo.DisableIdempotentWrite()}, []kgo.Opt{kgo.TransactionalID("")}, []kgo.Opt{txn, kgo.TransactionTimeout(1000 * time.Hour)},
			[]kgo.Opt{kgo.TransactionTimeout(time.Second)}, []kgo.Opt{txn, kgo.RequiredAcks(kgo.LeaderAck())}, []kgo.Opt{txn}, []kgo.Opt{txn, group, topic}),
		refused("a group's without a group", []kgo.Opt{topic, kgo.DisableAutoCommit()}, []kgo.Opt{topic, kgo.AutoCommitMarks()}, []kgo.Opt{topic, kgo.BlockRebalanceOnPoll()},
			[]kgo.Opt{topic, kgo.InstanceID("i")}, []kgo.Opt{topic, kgo.SessionTimeout(time.Second)}, []kgo.Opt{topic, kgo.Balancers(kgo.RangeBalancer())}),
		refused("a group's callbacks without a group", []kgo.Opt{topic, kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) {})}),
		refused("a group without topics", []kgo.Opt{group}, []kgo.Opt{kgo.ConsumerGroup(""), topic}, []kgo.Opt{kgo.ConsumeTopics()}, []kgo.Opt{group, kgo.ConsumeTopics("")}),
		refused("commits", []kgo.Opt{group, topic, kgo.DisableAutoCommit(), kgo.AutoCommitMarks()}, []kgo.Opt{group, topic, kgo.DisableAutoCommit(), kgo.GreedyAutoCommit()},
			[]kgo.Opt{group, topic, kgo.AutoCommitMarks(), kgo.GreedyAutoCommit()}, []kgo.Opt{group, topic, kgo.AutoCommitInterval(time.Millisecond)},
			[]kgo.Opt{group, topic, kgo.DisableAutoCommit(), kgo.AutoCommitInterval(time.Second)}),
		refused("times of a group", []kgo.Opt{group, topic, kgo.SessionTimeout(time.Millisecond)}, []kgo.Opt{group, topic, kgo.RebalanceTimeout(time.Millisecond)},
			[]kgo.Opt{group, topic, kgo.HeartbeatInterval(time.Minute)}, []kgo.Opt{group, topic, kgo.SessionTimeout(2 * time.Second)}, []kgo.Opt{group, topic, kgo.SessionTimeout(-time.Second)},
			[]kgo.Opt{group, topic, kgo.HeartbeatInterval(45 * time.Second)}, []kgo.Opt{group, topic, kgo.SessionTimeout(10000 * time.Hour)}),
		refused("partitions by hand", []kgo.Opt{group, topic, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{One: {0: kgo.NewOffset()}})},
			[]kgo.Opt{group, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{Two: {0: kgo.NewOffset()}})}, []kgo.Opt{kgo.ConsumePartitions(nil)}),
		refused("balancers", []kgo.Opt{group, topic, kgo.Balancers()}, []kgo.Opt{group, topic, kgo.Balancers(kgo.RangeBalancer(), kgo.CooperativeStickyBalancer())}),
		refused("a consumer's", []kgo.Opt{topic, kgo.FetchMaxWait(time.Millisecond)}, []kgo.Opt{topic, kgo.FetchMaxWait(-time.Second)}, []kgo.Opt{kgo.FetchIsolationLevel(kgo.ReadCommitted())},
			[]kgo.Opt{topic, kgo.ConsumeResetOffset(kgo.NoResetOffset())}, []kgo.Opt{topic, kgo.ConsumeResetOffset(kgo.NewOffset().At(-5))}, []kgo.Opt{group, topic, kgo.InstanceID("")}),
	}
}
