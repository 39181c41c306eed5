// Package cluster runs the Kafka side of a grading: an in-process kfake cluster
// with the records of one schedule set. Records are produced once; each schedule
// reads them as a consumer group of its own, with raw OffsetFetch, Fetch and
// OffsetCommit requests. A redelivery is the broker's: the record comes again
// because the group's committed offset did not move.
//
// What kfake does not imitate: quotas, throttling, min.insync.replicas, rack
// awareness, CONCURRENT_TRANSACTIONS, max.poll.interval.ms. A Consumer is a
// simple one (member "" and generation -1, which Kafka accepts in a group without
// members); a Member has joined its group and is fenced by it, but sends no
// heartbeats.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Topic is a topic to be made at the start.
type Topic struct {
	Name       string
	Partitions int32
}

// Cluster is one broker on an in-memory network and a client of it. It is not
// safe for concurrent use.
type Cluster struct {
	net        *kfake.VirtualNetwork
	broker     *kfake.Cluster
	client     *kgo.Client
	via        *kgo.Broker // one request, one answer; no retries that we did not ask for
	ids        map[string][16]byte
	partitions map[string]int32 // of each topic
	dec        kgo.Decompressor
}

// Start makes a cluster of one broker. One is enough, and a leader that never
// moves keeps clear of a defect: kgo then reports lost data (kafka.md, 8.1).
func Start(ctx context.Context, topics []Topic) (_ *Cluster, err error) {
	c := &Cluster{net: new(kfake.VirtualNetwork), ids: map[string][16]byte{}, partitions: map[string]int32{}, dec: kgo.DefaultDecompressor()}
	opts := []kfake.Opt{kfake.Ports(9092), kfake.ListenFn(c.net.Listen)}
	for _, t := range topics {
		opts = append(opts, kfake.SeedTopics(t.Partitions, t.Name))
	}
	if c.broker, err = kfake.NewCluster(opts...); err != nil {
		return nil, fmt.Errorf("start cluster: %w", err)
	}
	if c.client, err = c.newClient(); err != nil {
		c.broker.Close()
		return nil, err
	}
	if err := c.client.Ping(ctx); err != nil { // learn the broker
		c.Close()
		return nil, fmt.Errorf("start cluster: %w", err)
	}
	c.via = c.client.Broker(0)
	for _, t := range topics {
		info := c.broker.TopicInfo(t.Name)
		if info == nil {
			c.Close()
			return nil, fmt.Errorf("start cluster: topic %s was not made", t.Name)
		}
		c.ids[t.Name], c.partitions[t.Name] = info.TopicID, t.Partitions
	}
	return c, nil
}

func (c *Cluster) newClient(opts ...kgo.Opt) (*kgo.Client, error) {
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(c.broker.ListenAddrs()...), kgo.Dialer(c.net.DialContext),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.DisableClientMetrics(),
		kgo.MetadataMinAge(10 * time.Millisecond), // the defaults wait a second in real time before a retry
		kgo.RetryBackoffFn(func(int) time.Duration { return 5 * time.Millisecond }),
	}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("kafka client: %w", err)
	}
	return cl, nil
}

// Close ends clients and broker.
func (c *Cluster) Close() {
	c.client.Close()
	c.broker.Close() // last: its methods hang after Close
}

// HighWatermark is the offset after the last record of a partition.
func (c *Cluster) HighWatermark(topic string, partition int32) (int64, error) {
	end, _, err := c.Ends(topic, partition)
	return end, err
}

// Ends are the two ends of a partition: the offset after the last record of its log,
// and the last stable offset, before which every transaction has ended.
func (c *Cluster) Ends(topic string, partition int32) (log, stable int64, err error) {
	info := c.broker.PartitionInfo(topic, partition)
	if info == nil {
		return 0, 0, fmt.Errorf("ends of a partition: no partition %s/%d", topic, partition)
	}
	return info.HighWatermark, info.LastStableOffset, nil
}

func (c *Cluster) request(ctx context.Context, r kmsg.Request) (kmsg.Response, error) {
	resp, err := c.via.Request(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kmsg.NameForKey(r.Key()), err)
	}
	return resp, nil
}

// Consumer reads as one consumer group.
type Consumer struct {
	c     *Cluster
	group string
}

// Consumer returns a reader for a group that nobody has used before.
func (c *Cluster) Consumer(group string) *Consumer { return &Consumer{c, group} }

// Committed asks the broker where the group stands: the next offset to read.
// It is -1 when the group has committed nothing.
func (g *Consumer) Committed(ctx context.Context, topic string, partition int32) (int64, error) {
	r := kmsg.NewPtrOffsetFetchRequest()
	rg := kmsg.NewOffsetFetchRequestGroup()
	rg.Group = g.group
	rt := kmsg.NewOffsetFetchRequestGroupTopic()
	rt.Topic, rt.TopicID, rt.Partitions = topic, g.c.ids[topic], []int32{partition} // v10 goes by id, older versions by name
	rg.Topics = append(rg.Topics, rt)
	r.Groups = append(r.Groups, rg)
	resp, err := g.c.request(ctx, r)
	if err != nil {
		return 0, err
	}
	groups := resp.(*kmsg.OffsetFetchResponse).Groups
	if len(groups) != 1 {
		return 0, fmt.Errorf("OffsetFetch: %d groups in the answer", len(groups))
	}
	err = kerr.ErrorForCode(groups[0].ErrorCode)
	if errors.Is(err, kerr.GroupIDNotFound) { // kfake's answer until the first commit
		return -1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("OffsetFetch: %w", err)
	}
	if len(groups[0].Topics) != 1 || len(groups[0].Topics[0].Partitions) != 1 {
		return 0, fmt.Errorf("OffsetFetch: the answer has no %s/%d", topic, partition)
	}
	p := groups[0].Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
		return 0, fmt.Errorf("OffsetFetch: %w", err)
	}
	return p.Offset, nil
}

// Fetch returns the record at offset, or the first one after it; nil at the end
// of the log. Each record was produced as a batch of its own, so a partition
// limit of one byte brings one; the limit of the whole response stays large,
// because kfake leaves out aborted transactions when that one cuts (kafka.md, 8.2).
func (g *Consumer) Fetch(ctx context.Context, topic string, partition int32, offset int64) (*kgo.Record, error) {
	for {
		r := kmsg.NewPtrFetchRequest()
		r.MaxWaitMillis, r.MinBytes, r.MaxBytes = 0, 0, 1<<20
		rt := kmsg.NewFetchRequestTopic()
		rt.Topic, rt.TopicID = topic, g.c.ids[topic]
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes, rp.CurrentLeaderEpoch = partition, offset, 1, -1
		rt.Partitions = append(rt.Partitions, rp)
		r.Topics = append(r.Topics, rt)
		resp, err := g.c.request(ctx, r)
		if err != nil {
			return nil, err
		}
		topics := resp.(*kmsg.FetchResponse).Topics
		if len(topics) != 1 || len(topics[0].Partitions) != 1 {
			return nil, fmt.Errorf("fetch: the answer has no %s/%d", topic, partition)
		}
		part := topics[0].Partitions[0]
		fetched, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
			Offset: offset, Topic: topic, Partition: partition,
		}, &part, g.c.dec, nil)
		if fetched.Err != nil {
			return nil, fmt.Errorf("fetch: %w", fetched.Err)
		}
		if len(fetched.Records) > 0 {
			return fetched.Records[0], nil
		}
		if next == offset {
			return nil, nil //nolint:nilnil // the end of the log is neither a record nor an error
		}
		offset = next // a marker or an aborted batch: nothing to show, but not the end
	}
}

// Commit stores the next offset to read. It returns the broker's answer, a
// *kerr.Error, when that is not success.
func (g *Consumer) Commit(ctx context.Context, topic string, partition int32, offset int64) error {
	return g.commit(ctx, topic, partition, offset, "", -1)
}

func (g *Consumer) commit(ctx context.Context, topic string, partition int32, offset int64, member string, generation int32) error {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Group, r.MemberID, r.Generation = g.group, member, generation
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic, rt.TopicID = topic, g.c.ids[topic]
	rp := kmsg.NewOffsetCommitRequestTopicPartition()
	rp.Partition, rp.Offset = partition, offset
	rt.Partitions = append(rt.Partitions, rp)
	r.Topics = append(r.Topics, rt)
	resp, err := g.c.request(ctx, r)
	if err != nil {
		return err
	}
	topics := resp.(*kmsg.OffsetCommitResponse).Topics
	if len(topics) != 1 || len(topics[0].Partitions) != 1 {
		return fmt.Errorf("OffsetCommit: the answer has no %s/%d", topic, partition)
	}
	return kerr.ErrorForCode(topics[0].Partitions[0].ErrorCode)
}

// RefuseCommit commits with a fault in the way: the broker answers
// REBALANCE_IN_PROGRESS and stores nothing. It returns an error when the fault
// did not happen or the offset moved all the same.
func (g *Consumer) RefuseCommit(ctx context.Context, topic string, partition int32, offset int64) error {
	return g.refuse(ctx, topic, partition, offset, g.Commit)
}

// LoseCommitReply commits, and the answer is lost: the broker stores the offset
// and answers REQUEST_TIMED_OUT. It returns an error when that did not happen.
func (g *Consumer) LoseCommitReply(ctx context.Context, topic string, partition int32, offset int64) error {
	return g.loseReply(ctx, topic, partition, offset, g.Commit)
}
