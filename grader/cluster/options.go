package cluster

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/guest/abi"
)

// heartbeatInterval is the real client's default.
const heartbeatInterval = 3 * time.Second

// options are those of a client: the submission's settings on what a schedule needs.
// Everything that the real client draws at random is taken from it.
func (cl *processClient) options(settings []abi.KafkaSetting) ([]kgo.Opt, error) {
	p := cl.process
	opts := []kgo.Opt{
		kgo.SeedBrokers(p.c.broker.ListenAddrs()...), kgo.Dialer(p.gate.DialContext),
		kgo.ClientID(p.clientID()), kgo.DisableClientMetrics(),
		kgo.ProducerLinger(0), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.RecordPartitioner(byKey()), kgo.RetryBackoffFn(backoff),
	}
	heartbeat, member := heartbeatInterval, false
	has := map[abi.KafkaOption]bool{}
	for _, s := range settings {
		has[s.Option] = true
		if s.Option == abi.HeartbeatInterval {
			heartbeat = time.Duration(first(s))
		}
		if s.Option == abi.ConsumerGroup {
			cl.group, member = text(s), true
		}
		o, err := cl.option(s)
		if err != nil {
			return nil, err
		}
		if o != nil {
			opts = append(opts, o)
		}
	}
	if member {
		opts = append(opts, kgo.HeartbeatInterval(heartbeat+p.apart()), kgo.WithHooks(cl))
		if !has[abi.DisableAutoCommit] {
			opts = append(opts, kgo.AutoCommitCallback(cl.autoCommitted))
		}
		// The default of the other two commits what was polled: not to be replaced.
		opts = append(opts, kgo.OnPartitionsAssigned(cl.called(abi.Assigned, has[abi.HasAssigned])))
		if has[abi.HasRevoked] || has[abi.DisableAutoCommit] {
			opts = append(opts, kgo.OnPartitionsRevoked(cl.called(abi.Revoked, has[abi.HasRevoked])))
		}
		if has[abi.HasLost] {
			opts = append(opts, kgo.OnPartitionsLost(cl.called(abi.Lost, true)))
		}
	}
	return opts, nil
}

// backoff is the real client's default without its chance.
func backoff(fails int) time.Duration {
	return min(250*time.Millisecond<<min(max(fails-1, 0), 4), 2500*time.Millisecond)
}

// byKey chooses partitions as the client's default does for records with a key, and
// the first one for those without, where the default draws one.
func byKey() kgo.Partitioner {
	return kgo.BasicConsistentPartitioner(func(topic string) func(*kgo.Record, int) int {
		hashed := kgo.StickyKeyPartitioner(nil).ForTopic(topic)
		return func(r *kgo.Record, n int) int {
			if r.Key == nil {
				return 0
			}
			return hashed.Partition(r, n)
		}
	})
}

// option is the real one for a setting; nil where there is nothing to set.
func (*processClient) option(s abi.KafkaSetting) (kgo.Opt, error) {
	duration := time.Duration(first(s))
	switch s.Option {
	case abi.ConsumerGroup:
		return kgo.ConsumerGroup(text(s)), nil
	case abi.ConsumeTopics:
		return kgo.ConsumeTopics(s.Texts...), nil
	case abi.ConsumeResetOffset:
		return kgo.ConsumeResetOffset(offsetOf(s.Ints)), nil
	case abi.ConsumeStartOffset:
		return kgo.ConsumeStartOffset(offsetOf(s.Ints)), nil
	case abi.DisableAutoCommit:
		return kgo.DisableAutoCommit(), nil
	case abi.GreedyAutoCommit:
		return kgo.GreedyAutoCommit(), nil
	case abi.AutoCommitMarks:
		return kgo.AutoCommitMarks(), nil
	case abi.AutoCommitInterval:
		return kgo.AutoCommitInterval(duration), nil
	case abi.BlockRebalanceOnPoll:
		return kgo.BlockRebalanceOnPoll(), nil
	case abi.Balancers:
		return balancers(s.Texts)
	case abi.SessionTimeout:
		return kgo.SessionTimeout(duration), nil
	case abi.RebalanceTimeout:
		return kgo.RebalanceTimeout(duration), nil
	case abi.FetchIsolationLevel:
		if first(s) == 1 {
			return kgo.FetchIsolationLevel(kgo.ReadCommitted()), nil
		}
		return kgo.FetchIsolationLevel(kgo.ReadUncommitted()), nil
	case abi.FetchMaxWait:
		return kgo.FetchMaxWait(duration), nil
	case abi.RequireStableFetchOffsets:
		return kgo.RequireStableFetchOffsets(), nil //nolint:staticcheck // it does nothing any more, and submissions may still say it
	case abi.InstanceID:
		return kgo.InstanceID(text(s)), nil
	case abi.TransactionalID:
		return kgo.TransactionalID(text(s)), nil
	case abi.TransactionTimeout:
		return kgo.TransactionTimeout(duration), nil
	case abi.DisableIdempotentWrite:
		return kgo.DisableIdempotentWrite(), nil
	case abi.RequiredAcks:
		return acks(first(s)), nil
	case abi.RecordRetries:
		return kgo.RecordRetries(int(first(s))), nil
	case abi.RecordDeliveryTimeout:
		return kgo.RecordDeliveryTimeout(duration), nil
	case abi.ManualPartitioner:
		return kgo.RecordPartitioner(kgo.ManualPartitioner()), nil
	case abi.HeartbeatInterval, abi.HasAssigned, abi.HasRevoked, abi.HasLost:
		return nil, nil //nolint:nilnil // options sets them
	default:
		return nil, fmt.Errorf("there is no option %d", s.Option)
	}
}

// first is a setting's number, 0 where the submission's bytes have none.
func first(s abi.KafkaSetting) int64 {
	if len(s.Ints) == 0 {
		return 0
	}
	return s.Ints[0]
}

// text is a setting's text, like first.
func text(s abi.KafkaSetting) string {
	if len(s.Texts) == 0 {
		return ""
	}
	return s.Texts[0]
}

func acks(n int64) kgo.Opt {
	switch n {
	case 0:
		return kgo.RequiredAcks(kgo.NoAck())
	case 1:
		return kgo.RequiredAcks(kgo.LeaderAck())
	default:
		return kgo.RequiredAcks(kgo.AllISRAcks())
	}
}

func balancers(names []string) (kgo.Opt, error) {
	var list []kgo.GroupBalancer
	for _, name := range names {
		switch name {
		case "range":
			list = append(list, kgo.RangeBalancer())
		case "roundrobin":
			list = append(list, kgo.RoundRobinBalancer())
		case "sticky":
			list = append(list, kgo.StickyBalancer())
		case "cooperative-sticky":
			list = append(list, kgo.CooperativeStickyBalancer())
		default:
			return nil, fmt.Errorf("there is no balancer %q", name)
		}
	}
	return kgo.Balancers(list...), nil
}

// offsetOf reads what the sandbox's Offset wrote: at, relative, epoch, and two flags.
func offsetOf(ints []int64) kgo.Offset {
	if len(ints) != 5 {
		return kgo.NewOffset()
	}
	o := kgo.NewOffset()
	if ints[3] != 0 {
		o = kgo.NoResetOffset()
	}
	if ints[4] != 0 {
		return o.AfterMilli(ints[0])
	}
	return o.At(ints[0]).Relative(ints[1]).WithEpoch(int32(ints[2]))
}
