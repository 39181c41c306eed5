package cluster

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"redeliver/grader/guest/abi"
)

// Fault is one that hits the next request of a kind, and none after it.
type Fault struct {
	handle *kfake.FaultHandle // nil: the gate loses an answer
	lost   chan struct{}
}

// Hit says whether it has happened, and takes it away.
func (f *Fault) Hit() bool {
	if f.handle == nil {
		select {
		case <-f.lost:
			return true
		default:
			return false
		}
	}
	defer f.handle.Remove()
	return f.handle.Hits() > 0
}

// Fail makes the next request that a call sends fail, with nothing done: the
// coordinator answers a commit that the group is rebalancing, and everything else
// gets an error that no client tries again after.
func (c *Cluster) Fail(call abi.KafkaCall) *Fault {
	key, answer := requestOf(call), kerr.UnknownServerError
	if key == kmsg.OffsetCommit || key == kmsg.TxnOffsetCommit {
		answer = kerr.RebalanceInProgress
	}
	return &Fault{handle: c.broker.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: answer, Count: 1})}
}

// Lose lets the next request that a call sends be done, and loses the answer: the
// coordinator answers a commit that it took too long, and the connection of
// everything else is cut, after which a client asks again.
func (c *Cluster) Lose(p *Process, call abi.KafkaCall) *Fault {
	key := requestOf(call)
	if key == kmsg.OffsetCommit || key == kmsg.TxnOffsetCommit {
		return &Fault{handle: c.broker.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: kerr.RequestTimedOut, Count: 1})}
	}
	f := &Fault{lost: make(chan struct{})}
	p.gate.LoseAnswer(key, func() { close(f.lost) })
	return f
}

// requestOf is the request that does what a call is about.
func requestOf(call abi.KafkaCall) kmsg.Key {
	switch call {
	case abi.ProduceRecord:
		return kmsg.Produce
	case abi.EndTransaction:
		return kmsg.EndTxn
	case abi.EndSession:
		return kmsg.TxnOffsetCommit
	default:
		return kmsg.OffsetCommit
	}
}

// GroupOffset is the next offset that a group reads; -1 without a commit.
func (c *Cluster) GroupOffset(group, topic string, partition int32) int64 {
	if info := c.broker.GroupInfo(group); info != nil {
		if at, ok := info.Commits[topic][partition]; ok {
			return at.Offset
		}
	}
	return -1
}

// ReadAll reads a partition from its start as a reader that sees all records, or
// only those of committed transactions and of none.
func (c *Cluster) ReadAll(ctx context.Context, topic string, partition int32, committed bool) ([]*kgo.Record, error) {
	var all []*kgo.Record
	for offset := int64(0); ; {
		r := kmsg.NewPtrFetchRequest()
		r.MaxWaitMillis, r.MinBytes, r.MaxBytes = 0, 0, 1<<30
		opts := kgo.ProcessFetchPartitionOpts{Offset: offset, Topic: topic, Partition: partition}
		if committed {
			r.IsolationLevel, opts.IsolationLevel = 1, kgo.ReadCommitted()
		}
		rt := kmsg.NewFetchRequestTopic()
		rt.Topic, rt.TopicID = topic, c.ids[topic]
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes, rp.CurrentLeaderEpoch = partition, offset, 1<<30, -1
		rt.Partitions = append(rt.Partitions, rp)
		r.Topics = append(r.Topics, rt)
		resp, err := c.request(ctx, r)
		if err != nil {
			return nil, err
		}
		topics := resp.(*kmsg.FetchResponse).Topics
		if len(topics) != 1 || len(topics[0].Partitions) != 1 {
			return nil, fmt.Errorf("fetch: the answer has no %s/%d", topic, partition)
		}
		got, next := kgo.ProcessFetchPartition(opts, &topics[0].Partitions[0], c.dec, nil)
		if got.Err != nil {
			return nil, fmt.Errorf("fetch: %w", got.Err)
		}
		all = append(all, got.Records...)
		if next == offset {
			return all, nil
		}
		offset = next
	}
}
