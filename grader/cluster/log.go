package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Entry is one record of a partition's log as it stands there, with what its
// batch says of its producer.
type Entry struct {
	Offset int64
	Key    string
	Value  string
	// ProducerID, Epoch and Sequence are -1 where the producer was not idempotent.
	ProducerID    int64
	Epoch         int16
	Sequence      int32
	Transactional bool
	// Control says what a transaction marker says: "commit" or "abort"; it is
	// empty for a record.
	Control string
}

// Log reads a partition's batches as they are, uncommitted and aborted ones and
// the markers included.
func (c *Cluster) Log(ctx context.Context, topic string, partition int32) ([]Entry, error) {
	return c.LogFrom(ctx, topic, partition, 0)
}

// LogFrom is Log from an offset on.
func (c *Cluster) LogFrom(ctx context.Context, topic string, partition int32, from int64) ([]Entry, error) {
	end, err := c.HighWatermark(topic, partition)
	if err != nil {
		return nil, err
	}
	var log []Entry
	for at := from; at < end; {
		part, err := c.fetch(ctx, topic, partition, at, 0)
		if err != nil {
			return nil, err
		}
		entries, err := entriesOf(part.RecordBatches)
		if err != nil {
			return nil, fmt.Errorf("read the log of %s/%d: %w", topic, partition, err)
		}
		if len(entries) == 0 || entries[len(entries)-1].Offset < at {
			return nil, fmt.Errorf("read the log of %s/%d: nothing at offset %d of %d", topic, partition, at, end)
		}
		log = append(log, entries...)
		at = entries[len(entries)-1].Offset + 1
	}
	return log, nil
}

// ReadCommitted reads a partition as a consumer with isolation.level=read_committed
// does: up to the last stable offset, without what was aborted.
func (c *Cluster) ReadCommitted(ctx context.Context, topic string, partition int32) (records []*kgo.Record, lastStable int64, err error) {
	for at := int64(0); ; {
		part, err := c.fetch(ctx, topic, partition, at, 1)
		if err != nil {
			return nil, 0, err
		}
		fetched, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
			Offset: at, Topic: topic, Partition: partition, IsolationLevel: kgo.ReadCommitted(),
		}, part, c.dec, nil)
		if fetched.Err != nil {
			return nil, 0, fmt.Errorf("fetch: %w", fetched.Err)
		}
		records = append(records, fetched.Records...)
		if next == at {
			return records, part.LastStableOffset, nil
		}
		at = next
	}
}

// fetch asks for what stands at an offset and after it. The limit of the
// response is large: kfake leaves out aborted transactions when that one cuts.
func (c *Cluster) fetch(ctx context.Context, topic string, partition int32, offset int64, isolation int8) (*kmsg.FetchResponseTopicPartition, error) {
	r := kmsg.NewPtrFetchRequest()
	r.MaxWaitMillis, r.MinBytes, r.MaxBytes, r.IsolationLevel = 0, 0, 1<<20, isolation
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic, rt.TopicID = topic, c.ids[topic]
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes, rp.CurrentLeaderEpoch = partition, offset, 1<<19, -1
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
	part := &topics[0].Partitions[0]
	if err := kerr.ErrorForCode(part.ErrorCode); err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	return part, nil
}

// The bits of a batch's attributes.
const (
	compressed    = 0x07
	transactional = 0x10
	control       = 0x20
)

// entriesOf reads batches that follow each other, as a response to a fetch or a
// produce request holds them. They are not compressed: our clients do not do that.
func entriesOf(raw []byte) (entries []Entry, err error) {
	for len(raw) > 0 {
		if len(raw) < 12 {
			return nil, errors.New("a batch is cut")
		}
		size := int(binary.BigEndian.Uint32(raw[8:12])) + 12 // the offset and the length itself are not counted
		if size > len(raw) {
			return nil, errors.New("a batch is cut")
		}
		var b kmsg.RecordBatch
		if err := b.ReadFrom(raw[:size]); err != nil {
			return nil, fmt.Errorf("a batch: %w", err)
		}
		raw = raw[size:]
		if b.Attributes&compressed != 0 {
			return nil, errors.New("a batch is compressed")
		}
		rest := b.Records
		for i := range b.NumRecords {
			length, n := binary.Varint(rest)
			end := n + int(length)
			if n <= 0 || length < 0 || end > len(rest) {
				return nil, errors.New("a record is cut")
			}
			var r kmsg.Record
			if err := r.ReadFrom(rest[:end]); err != nil {
				return nil, fmt.Errorf("a record: %w", err)
			}
			rest = rest[end:]
			entries = append(entries, entryOf(&b, &r, i))
		}
	}
	return entries, nil
}

func entryOf(b *kmsg.RecordBatch, r *kmsg.Record, i int32) Entry {
	e := Entry{
		Offset: b.FirstOffset + int64(r.OffsetDelta), Key: string(r.Key), Value: string(r.Value),
		ProducerID: b.ProducerID, Epoch: b.ProducerEpoch, Sequence: b.FirstSequence,
		Transactional: b.Attributes&transactional != 0,
	}
	switch {
	case e.ProducerID < 0:
		e.Epoch, e.Sequence = -1, -1 // kgo writes a zero there
	case e.Sequence >= 0:
		e.Sequence += i
	}
	if b.Attributes&control != 0 {
		e.Key, e.Value, e.Control = "", "", "abort"
		if len(r.Key) == 4 && binary.BigEndian.Uint16(r.Key[2:]) == 1 {
			e.Control = "commit"
		}
	}
	return e
}
