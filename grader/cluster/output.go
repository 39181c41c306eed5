package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Outputs are the topics that a submission produces to: what it sends is really
// in the broker's log. The log of a cluster outlives a schedule, so offsets are
// counted from the last Reset.
//
// What it does not imitate: every process of the submission shares one idempotent
// producer, so a restart brings no new producer id; a record without a key goes
// to partition 0 instead of a random one.
type Outputs struct {
	c        *Cluster
	consumer *Consumer
	producer *kgo.Client
	choose   map[string]kgo.TopicPartitioner
	logs     []outputLog // in the order of topics and partitions
}

// outputLog is a partition of an output.
type outputLog struct {
	topic     string
	partition int32
	from      int64 // the high watermark at the last Reset
}

// Outputs returns the outputs of a cluster that was started with these topics.
func (c *Cluster) Outputs(topics []Topic) (*Outputs, error) {
	o := &Outputs{c: c, consumer: c.Consumer(""), choose: map[string]kgo.TopicPartitioner{}}
	partitioner := kgo.StickyKeyPartitioner(nil) // the client's default for records with a key, as Java's
	for _, t := range topics {
		o.choose[t.Name] = partitioner.ForTopic(t.Name)
		for p := range t.Partitions {
			o.logs = append(o.logs, outputLog{topic: t.Name, partition: p})
		}
	}
	var err error
	if o.producer, err = c.newClient(); err != nil {
		return nil, err
	}
	return o, o.Reset()
}

// Close ends the producer.
func (o *Outputs) Close() { o.producer.Close() }

// Reset forgets what was produced: offsets begin at 0 again.
func (o *Outputs) Reset() (err error) {
	for i := range o.logs {
		l := &o.logs[i]
		if l.from, err = o.c.HighWatermark(l.topic, l.partition); err != nil {
			return err
		}
	}
	return nil
}

// Partition is where a record goes: by its key, as the client's default has it. A
// topic that is no output is answered with UNKNOWN_TOPIC_OR_PARTITION, without
// the metadata requests after which a real client says so.
func (o *Outputs) Partition(rec *kgo.Record) (int32, error) {
	choose, ok := o.choose[rec.Topic]
	switch {
	case !ok:
		return 0, kerr.UnknownTopicOrPartition
	case rec.Key == nil:
		return 0, nil
	default:
		return int32(choose.Partition(rec, int(o.c.partitions[rec.Topic]))), nil
	}
}

// Produce appends a record to the log of its partition, which Partition chose,
// and returns its offset. A *kerr.Error is the broker's answer.
func (o *Outputs) Produce(ctx context.Context, rec *kgo.Record) (offset int64, err error) {
	i := slices.IndexFunc(o.logs, func(l outputLog) bool { return l.topic == rec.Topic && l.partition == rec.Partition })
	if i < 0 {
		return 0, kerr.UnknownTopicOrPartition
	}
	if err := o.producer.ProduceSync(ctx, rec).FirstErr(); err != nil {
		var answer *kerr.Error
		if errors.As(err, &answer) {
			return 0, answer
		}
		return 0, fmt.Errorf("produce to %s: %w", rec.Topic, err)
	}
	return rec.Offset - o.logs[i].from, nil
}

// Records reads what was produced since the last Reset from the broker, by topic,
// partition and offset.
func (o *Outputs) Records(ctx context.Context) ([]*kgo.Record, error) {
	var all []*kgo.Record
	for _, l := range o.logs {
		for at := l.from; ; {
			rec, err := o.consumer.Fetch(ctx, l.topic, l.partition, at)
			if err != nil {
				return nil, fmt.Errorf("read the output: %w", err)
			}
			if rec == nil {
				break
			}
			at = rec.Offset + 1
			rec.Offset -= l.from
			all = append(all, rec)
		}
	}
	return all, nil
}
