package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/guest/abi"
)

// The real client's defaults.
const (
	heartbeatInterval = 3 * time.Second
	sessionTimeout    = 45 * time.Second
)

// validate says what the real client has against the settings of a submission, as
// they are: without what a schedule needs.
func (cl *processClient) validate(settings []abi.KafkaSetting, session bool) error {
	opts := []kgo.Opt{kgo.SeedBrokers(cl.process.c.broker.ListenAddrs()...), partitionsOf(settings)}
	group := ""
	for _, s := range settings {
		if s.Option == abi.ConsumePartitions {
			continue
		}
		o, err := cl.option(s)
		if err != nil {
			return err
		}
		opts = append(opts, o)
		if s.Option == abi.ConsumerGroup {
			group = text(s)
		}
	}
	if session && group == "" {
		return errNoGroup
	}
	return kgo.ValidateOpts(opts...) //nolint:wrapcheck // the submission gets it
}

// errNoGroup is that of kgo.NewGroupTransactSession.
var errNoGroup = errors.New("missing required group")

// options are those of a client: the submission's settings under what a schedule needs.
// Everything that the real client draws at random is taken from it.
func (cl *processClient) options(settings []abi.KafkaSetting) ([]kgo.Opt, error) {
	p := cl.process
	opts := []kgo.Opt{kgo.RecordPartitioner(byKey()), partitionsOf(settings)}
	heartbeat, session := heartbeatInterval, sessionTimeout
	has := map[abi.KafkaOption]bool{}
	for _, s := range settings {
		has[s.Option] = true
		switch s.Option {
		case abi.HeartbeatInterval:
			heartbeat = time.Duration(first(s))
		case abi.SessionTimeout:
			session = time.Duration(first(s))
		case abi.ConsumerGroup:
			cl.group = text(s)
		case abi.ConsumePartitions, abi.ClientID, abi.ProducerLinger, abi.MaxBufferedRecords, abi.FetchMaxBytes, abi.FetchMaxPartitionBytes:
			continue // there already, or only validated
		default:
		}
		o, err := cl.option(s)
		if err != nil {
			return nil, err
		}
		opts = append(opts, o)
	}
	opts = append(opts,
		kgo.SeedBrokers(p.c.broker.ListenAddrs()...), kgo.Dialer(p.gate.DialContext),
		kgo.ClientID(p.clientID()), kgo.DisableClientMetrics(),
		kgo.ProducerLinger(0), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.RetryBackoffFn(backoff))
	if cl.group != "" {
		opts = append(opts, kgo.HeartbeatInterval(min(heartbeat+p.apart(), session)), kgo.WithHooks(cl))
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

// partitionsOf is what is consumed without a group: each partition is a setting of its
// own, and the client wants them in one option.
func partitionsOf(settings []abi.KafkaSetting) kgo.Opt {
	partitions := map[string]map[int32]kgo.Offset{}
	for _, s := range settings {
		if s.Option != abi.ConsumePartitions || len(s.Ints) == 0 {
			continue
		}
		if partitions[text(s)] == nil {
			partitions[text(s)] = map[int32]kgo.Offset{}
		}
		partitions[text(s)][int32(first(s))] = offsetOf(s.Ints[1:])
	}
	return kgo.ConsumePartitions(partitions)
}

// unheard is a callback that is only there or not.
func unheard(context.Context, *kgo.Client, map[string][]int32) {}

// option is the real one for a setting.
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
	case abi.HeartbeatInterval:
		return kgo.HeartbeatInterval(duration), nil
	case abi.HasAssigned:
		return kgo.OnPartitionsAssigned(unheard), nil
	case abi.HasRevoked:
		return kgo.OnPartitionsRevoked(unheard), nil
	case abi.HasLost:
		return kgo.OnPartitionsLost(unheard), nil
	case abi.ClientID:
		return kgo.ClientID(text(s)), nil
	case abi.ProducerLinger:
		return kgo.ProducerLinger(duration), nil
	case abi.MaxBufferedRecords:
		return kgo.MaxBufferedRecords(int(first(s))), nil
	case abi.FetchMaxBytes:
		return kgo.FetchMaxBytes(int32(first(s))), nil
	case abi.FetchMaxPartitionBytes:
		return kgo.FetchMaxPartitionBytes(int32(first(s))), nil
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
