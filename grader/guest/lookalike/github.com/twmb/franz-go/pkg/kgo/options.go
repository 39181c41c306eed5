//go:build wasip1

package kgo

import (
	"context"
	"maps"
	"slices"
	"time"

	"redeliver/grader/guest/abi"
)

// Options of a client. Those that only tune a network (ClientID, ProducerLinger,
// ProducerBatchCompression, FetchMaxBytes, FetchMaxPartitionBytes, AllowAutoTopicCreation)
// are checked as the real client does it and change nothing.
type (
	// Opt is an option of any kind.
	Opt interface {
		apply(*cfg)
	}
	// ProducerOpt is an option of a producer.
	ProducerOpt interface {
		Opt
		producerOpt()
	}
	// ConsumerOpt is an option of a consumer.
	ConsumerOpt interface {
		Opt
		consumerOpt()
	}
	// GroupOpt is an option of a member of a consumer group.
	GroupOpt interface {
		Opt
		groupOpt()
	}
)

// cfg is what the options of a client say.
type cfg struct {
	seeds    bool
	noSeeds  bool // SeedBrokers without any
	settings []abi.KafkaSetting
	topic    string // DefaultProduceTopic
	always   bool   // DefaultProduceTopicAlways
	txn      bool
	group    bool
	buffer   int         // MaxBufferedRecords
	called   [3]callback // by abi.KafkaCallbackKind
}

// callback is one of OnPartitionsAssigned, OnPartitionsRevoked and OnPartitionsLost.
type callback = func(context.Context, *Client, map[string][]int32)

type (
	clientOpt   struct{ fn func(*cfg) }
	producerOpt struct{ fn func(*cfg) }
	consumerOpt struct{ fn func(*cfg) }
	groupOpt    struct{ fn func(*cfg) }
)

func (o clientOpt) apply(c *cfg)   { o.fn(c) }
func (o producerOpt) apply(c *cfg) { o.fn(c) }
func (o consumerOpt) apply(c *cfg) { o.fn(c) }
func (o groupOpt) apply(c *cfg)    { o.fn(c) }
func (producerOpt) producerOpt()   {}
func (consumerOpt) consumerOpt()   {}
func (groupOpt) groupOpt()         {}

func nothing(*cfg) {}

func texts(o abi.KafkaOption, list ...string) func(*cfg) {
	return func(c *cfg) { c.settings = append(c.settings, abi.KafkaSetting{Option: o, Texts: list}) }
}

func ints(o abi.KafkaOption, list ...int64) func(*cfg) {
	return func(c *cfg) { c.settings = append(c.settings, abi.KafkaSetting{Option: o, Ints: list}) }
}

func calls(o abi.KafkaOption, kind abi.KafkaCallbackKind, fn callback) GroupOpt {
	return groupOpt{func(c *cfg) {
		c.called[kind] = fn
		ints(o)(c)
	}}
}

// SeedBrokers says where the cluster is. Run is given it; the address
// stands for the cluster of the exercise, whatever it is.
func SeedBrokers(seeds ...string) Opt {
	return clientOpt{func(c *cfg) { c.seeds, c.noSeeds = len(seeds) > 0, len(seeds) == 0 }}
}

// ClientID changes nothing.
func ClientID(id string) Opt { return clientOpt{texts(abi.ClientID, id)} }

// AllowAutoTopicCreation changes nothing: a topic that does not exist is not made.
func AllowAutoTopicCreation() Opt { return clientOpt{nothing} }

// ConsumerGroup makes the client a member of a group.
func ConsumerGroup(group string) GroupOpt {
	return groupOpt{func(c *cfg) {
		c.group = group != ""
		texts(abi.ConsumerGroup, group)(c)
	}}
}

// ConsumeTopics says what to read.
func ConsumeTopics(topics ...string) ConsumerOpt {
	return consumerOpt{texts(abi.ConsumeTopics, topics...)}
}

// ConsumeResetOffset says where to begin without a committed offset, and after an
// offset that is out of range.
func ConsumeResetOffset(offset Offset) ConsumerOpt {
	return consumerOpt{ints(abi.ConsumeResetOffset, offset.ints()...)}
}

// ConsumeStartOffset says where to begin without a committed offset.
func ConsumeStartOffset(offset Offset) ConsumerOpt {
	return consumerOpt{ints(abi.ConsumeStartOffset, offset.ints()...)}
}

// ConsumePartitions says which partitions to read, and from where, without a group.
func ConsumePartitions(partitions map[string]map[int32]Offset) ConsumerOpt {
	return consumerOpt{func(c *cfg) {
		for _, topic := range slices.Sorted(maps.Keys(partitions)) {
			for _, id := range slices.Sorted(maps.Keys(partitions[topic])) {
				ints := append([]int64{int64(id)}, partitions[topic][id].ints()...)
				c.settings = append(c.settings, abi.KafkaSetting{Option: abi.ConsumePartitions, Texts: []string{topic}, Ints: ints})
			}
		}
	}}
}

// FetchIsolationLevel says whether records of open and aborted transactions are
// read.
func FetchIsolationLevel(level IsolationLevel) ConsumerOpt {
	return consumerOpt{ints(abi.FetchIsolationLevel, int64(level.level))}
}

// FetchMaxWait is how long the broker waits for records before it answers a fetch.
func FetchMaxWait(wait time.Duration) ConsumerOpt {
	return consumerOpt{ints(abi.FetchMaxWait, int64(wait))}
}

// FetchMaxBytes changes nothing.
func FetchMaxBytes(b int32) ConsumerOpt { return consumerOpt{ints(abi.FetchMaxBytes, int64(b))} }

// FetchMaxPartitionBytes changes nothing.
func FetchMaxPartitionBytes(b int32) ConsumerOpt {
	return consumerOpt{ints(abi.FetchMaxPartitionBytes, int64(b))}
}

// DisableAutoCommit leaves commits to the submission.
func DisableAutoCommit() GroupOpt { return groupOpt{ints(abi.DisableAutoCommit)} }

// GreedyAutoCommit commits what was polled, also before the next poll.
func GreedyAutoCommit() GroupOpt { return groupOpt{ints(abi.GreedyAutoCommit)} }

// AutoCommitMarks commits by itself only what MarkCommitRecords marked.
func AutoCommitMarks() GroupOpt { return groupOpt{ints(abi.AutoCommitMarks)} }

// AutoCommitInterval is how often the client commits by itself.
func AutoCommitInterval(interval time.Duration) GroupOpt {
	return groupOpt{ints(abi.AutoCommitInterval, int64(interval))}
}

// BlockRebalanceOnPoll lets rebalances wait from a poll that returned records to
// AllowRebalance.
func BlockRebalanceOnPoll() GroupOpt { return groupOpt{ints(abi.BlockRebalanceOnPoll)} }

// Balancers are the group's protocols, the preferred one first.
func Balancers(balancers ...GroupBalancer) GroupOpt {
	var names []string
	for _, b := range balancers {
		names = append(names, b.name)
	}
	return groupOpt{texts(abi.Balancers, names...)}
}

// SessionTimeout is how long the coordinator waits for a heartbeat.
func SessionTimeout(timeout time.Duration) GroupOpt {
	return groupOpt{ints(abi.SessionTimeout, int64(timeout))}
}

// RebalanceTimeout is how long members may take to join again in a rebalance.
func RebalanceTimeout(timeout time.Duration) GroupOpt {
	return groupOpt{ints(abi.RebalanceTimeout, int64(timeout))}
}

// HeartbeatInterval is the time between two heartbeats.
func HeartbeatInterval(interval time.Duration) GroupOpt {
	return groupOpt{ints(abi.HeartbeatInterval, int64(interval))}
}

// RequireStableFetchOffsets lets a member wait for open transactions that have
// offsets in them before it reads the group's offsets (KIP-447).
func RequireStableFetchOffsets() GroupOpt { return groupOpt{ints(abi.RequireStableFetchOffsets)} }

// InstanceID makes the member a static one (KIP-345).
func InstanceID(id string) GroupOpt { return groupOpt{texts(abi.InstanceID, id)} }

// OnPartitionsAssigned is called with partitions that the member gains.
func OnPartitionsAssigned(onAssigned func(context.Context, *Client, map[string][]int32)) GroupOpt {
	return calls(abi.HasAssigned, abi.Assigned, onAssigned)
}

// OnPartitionsRevoked is called with partitions before the member gives them up.
func OnPartitionsRevoked(onRevoked func(context.Context, *Client, map[string][]int32)) GroupOpt {
	return calls(abi.HasRevoked, abi.Revoked, onRevoked)
}

// OnPartitionsLost is called with partitions that the member has lost already.
func OnPartitionsLost(onLost func(context.Context, *Client, map[string][]int32)) GroupOpt {
	return calls(abi.HasLost, abi.Lost, onLost)
}

// DefaultProduceTopic is the topic of records that name none.
func DefaultProduceTopic(t string) ProducerOpt {
	return producerOpt{func(c *cfg) { c.topic = t }}
}

// DefaultProduceTopicAlways sends every record to DefaultProduceTopic.
func DefaultProduceTopicAlways() ProducerOpt {
	return producerOpt{func(c *cfg) { c.always = true }}
}

// TransactionalID makes the producer transactional.
func TransactionalID(id string) ProducerOpt {
	return producerOpt{func(c *cfg) {
		c.txn = true
		texts(abi.TransactionalID, id)(c)
	}}
}

// TransactionTimeout is after how long the broker aborts an open transaction.
func TransactionTimeout(timeout time.Duration) ProducerOpt {
	return producerOpt{ints(abi.TransactionTimeout, int64(timeout))}
}

// DisableIdempotentWrite gives the producer no id and no sequence numbers: what it
// sends again is in the log again.
func DisableIdempotentWrite() ProducerOpt { return producerOpt{ints(abi.DisableIdempotentWrite)} }

// RequiredAcks says whose acknowledgement is waited for.
func RequiredAcks(acks Acks) ProducerOpt {
	return producerOpt{ints(abi.RequiredAcks, int64(acks.val))}
}

// RecordRetries is how often a record is sent again.
func RecordRetries(n int) ProducerOpt { return producerOpt{ints(abi.RecordRetries, int64(n))} }

// RecordDeliveryTimeout is after how long a record fails that is not in the log.
func RecordDeliveryTimeout(timeout time.Duration) ProducerOpt {
	return producerOpt{ints(abi.RecordDeliveryTimeout, int64(timeout))}
}

// RecordPartitioner chooses partitions.
func RecordPartitioner(partitioner Partitioner) ProducerOpt {
	if partitioner.manual {
		return producerOpt{ints(abi.ManualPartitioner)}
	}
	return producerOpt{nothing}
}

// ProducerLinger changes nothing: a record is sent as soon as the submission waits
// for something.
func ProducerLinger(linger time.Duration) ProducerOpt {
	return producerOpt{ints(abi.ProducerLinger, int64(linger))}
}

// MaxBufferedRecords is how many records may be under way: more wait, or fail in
// TryProduce.
func MaxBufferedRecords(n int) ProducerOpt {
	return producerOpt{func(c *cfg) {
		c.buffer = n
		ints(abi.MaxBufferedRecords, int64(n))(c)
	}}
}

// ProducerBatchCompression changes nothing.
func ProducerBatchCompression(preference ...CompressionCodec) ProducerOpt {
	return producerOpt{nothing}
}
