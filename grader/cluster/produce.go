package cluster

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Ack says what happens to the broker's acknowledgement of a produce request.
type Ack int

// The acknowledgements. After a lost one the producer cannot tell a lost
// request from a lost answer and sends again. Without idempotence the record is
// then in the log twice; with it the broker recognises producer id and sequence
// and answers the first offset (KIP-98).
const (
	AckArrives Ack = iota
	AckLost
	AckLostIdempotent
)

// Produce appends one record as a batch of its own and returns the offsets at
// which the log holds it: one, or two after a lost acknowledgement. The fault is
// real (kfake stores the batch and answers REQUEST_TIMED_OUT) and asserted.
func (c *Cluster) Produce(ctx context.Context, rec *kgo.Record, ack Ack) (offsets []int64, err error) {
	first, err := c.HighWatermark(rec.Topic, rec.Partition)
	if err != nil {
		return nil, err
	}
	producer := c.client
	if ack == AckLost {
		if producer, err = c.newClient(kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(1)); err != nil {
			return nil, err
		}
		defer producer.Close()
	}
	var fault *kfake.FaultHandle
	if ack != AckArrives {
		fault = c.broker.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: rec.Topic, Err: kerr.RequestTimedOut, Count: 1})
		defer fault.Remove()
	}
	if err := producer.ProduceSync(ctx, rec).FirstErr(); err != nil {
		return nil, fmt.Errorf("produce to %s: %w", rec.Topic, err)
	}
	end, err := c.HighWatermark(rec.Topic, rec.Partition)
	if err != nil {
		return nil, err
	}
	want := map[Ack]int64{AckArrives: 1, AckLost: 2, AckLostIdempotent: 1}[ack]
	if end-first != want || fault != nil && fault.Hits() != 1 {
		return nil, fmt.Errorf("produce to %s: the log grew by %d records instead of %d", rec.Topic, end-first, want)
	}
	for o := first; o < end; o++ {
		offsets = append(offsets, o)
	}
	return offsets, nil
}
