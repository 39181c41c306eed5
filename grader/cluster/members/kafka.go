package members

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"redeliver/grader/cluster/bubble"
)

const group = "workers"

// topic is the name in the story's cluster; a record shows the caller's.
const topic = "records"

// kafka is the broker of one story, with a client that belongs to nobody.
type kafka struct {
	net    *kfake.VirtualNetwork
	broker *kfake.Cluster
	admin  *kgo.Client
	end    int64 // the offset after the last record
}

// startKafka makes a broker and produces the records.
func startKafka(ctx context.Context, records Records) (_ *kafka, err error) {
	k := &kafka{net: new(kfake.VirtualNetwork)}
	opts := []kfake.Opt{kfake.Ports(9092), kfake.ListenFn(k.net.Listen), kfake.SeedTopics(1, topic)}
	if bubble.Real {
		opts = append(opts, kfake.GroupMinSessionTimeout(realSession))
	}
	if k.broker, err = kfake.NewCluster(opts...); err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	if k.admin, err = k.connect(kgo.Dialer(k.net.DialContext), kgo.ProducerLinger(0)); err != nil {
		k.broker.Close()
		return nil, err
	}
	if err := k.produce(ctx, records); err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

func (k *kafka) connect(opts ...kgo.Opt) (*kgo.Client, error) {
	opts = append(opts, kgo.SeedBrokers(k.broker.ListenAddrs()...),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.DisableClientMetrics()) // 40 MB of compressors otherwise
	if bubble.Real {
		opts = append(opts, kgo.MetadataMinAge(10*time.Millisecond),
			kgo.RetryBackoffFn(func(int) time.Duration { return 10 * time.Millisecond }))
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("kafka client: %w", err)
	}
	return cl, nil
}

func (k *kafka) produce(ctx context.Context, records Records) error {
	for i, rec := range records {
		copied := &kgo.Record{Topic: topic, Key: rec.Key, Value: rec.Value, Headers: rec.Headers, Timestamp: rec.Timestamp}
		if err := k.admin.ProduceSync(ctx, copied).FirstErr(); err != nil {
			return fmt.Errorf("produce record %d: %w", i, err)
		}
		k.end++
	}
	if got := k.broker.PartitionInfo(topic, 0).HighWatermark; got != k.end {
		return fmt.Errorf("produce: the log holds %d records instead of %d", got, k.end)
	}
	return nil
}

// close ends the broker last: its methods hang after its Close.
func (k *kafka) close() {
	k.admin.Close()
	k.broker.Close()
}

// committed is the group's next offset to read.
func (k *kafka) committed() int64 {
	if info := k.broker.GroupInfo(group); info != nil {
		if c, ok := info.Commits[topic][0]; ok {
			return c.Offset
		}
	}
	return 0
}

// evict removes a member from the group. The member is not told; it hears of it
// from its next heartbeat or commit.
func (k *kafka) evict(ctx context.Context, memberID string) error {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Group = group
	m := kmsg.NewLeaveGroupRequestMember()
	m.MemberID = memberID
	r.Members = append(r.Members, m)
	resp, err := r.RequestWith(ctx, k.admin)
	if err != nil {
		return fmt.Errorf("remove a member: %w", err)
	}
	code := resp.ErrorCode
	if code == 0 && len(resp.Members) == 1 {
		code = resp.Members[0].ErrorCode
	}
	if err := kerr.ErrorForCode(code); err != nil {
		return fmt.Errorf("remove a member: %w", err)
	}
	return nil
}

// settled waits until the group is stable with so many members.
func (k *kafka) settled(ctx context.Context, members int) error {
	every := 77 * time.Millisecond // never at the same instant as a heartbeat: who comes first would be chance
	if bubble.Real {
		every = 5 * time.Millisecond
	}
	ctx, cancel := within(ctx)
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for a group of %d, it is %s: %w", members, k.state(), context.Cause(ctx))
		}
		if info := k.broker.GroupInfo(group); info != nil && info.State == "Stable" && len(info.Members) == members {
			return nil
		}
	}
}

// state describes the group for errors.
func (k *kafka) state() string {
	info := k.broker.GroupInfo(group)
	if info == nil {
		return "unknown"
	}
	return fmt.Sprintf("%s with %d members in generation %d", info.State, len(info.Members), info.Epoch)
}

// has says whether the broker counts a member to the group.
func (k *kafka) has(memberID string) bool {
	info := k.broker.GroupInfo(group)
	return info != nil && slices.ContainsFunc(info.Members, func(m kfake.GroupMember) bool { return m.MemberID == memberID })
}
