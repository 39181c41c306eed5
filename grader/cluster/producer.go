package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"redeliver/grader/cluster/gate"
)

// ProducerOptions are the settings of a producer that matter here.
type ProducerOptions struct {
	Idempotent bool
	// LeaderAcks is acks=1; otherwise acks=all.
	LeaderAcks bool
	// TransactionalID makes the producer transactional, which includes Idempotent.
	TransactionalID string
}

// Producer is one life of a producer: a real client whose network goes through
// a gate that can hold the answer to a produce request back, or lose it.
type Producer struct {
	c      *Cluster
	client *kgo.Client
	gate   *gate.Gate
	*heldAnswers
}

// Producer starts a producer. The client itself refuses options that do not go
// together, such as idempotence with acks=1; that error is a RefusedError.
func (c *Cluster) Producer(o ProducerOptions) (*Producer, error) {
	g := gate.New(c.net.DialContext)
	answers := holdAnswers(g)
	opts := []kgo.Opt{kgo.Dialer(g.DialContext)}
	if !o.Idempotent && o.TransactionalID == "" {
		// One request at a time: what a client without idempotence has in flight
		// beside a repeat may also overtake it, which is another story.
		opts = append(opts, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(1))
	}
	if o.LeaderAcks {
		opts = append(opts, kgo.RequiredAcks(kgo.LeaderAck()))
	}
	if o.TransactionalID != "" {
		opts = append(opts, kgo.TransactionalID(o.TransactionalID))
	}
	client, err := c.newClient(opts...)
	if err != nil {
		return nil, &RefusedError{Text: errors.Unwrap(err).Error()}
	}
	return &Producer{c: c, client: client, gate: g, heldAnswers: answers}, nil
}

// RefusedError says that the client does not accept its options.
type RefusedError struct{ Text string }

// Error is what the client says.
func (e *RefusedError) Error() string { return "kafka client: " + e.Text }

// Close ends the process of the producer as it stands: what is under way is lost.
func (p *Producer) Close() {
	p.gate.Close()
	p.end()
	p.client.Close()
}

// ID is the producer id and the epoch that the broker has given out; the first
// call asks for them.
func (p *Producer) ID(ctx context.Context) (id int64, epoch int16, err error) {
	if id, epoch, err = p.client.ProducerID(ctx); err != nil {
		return 0, 0, fmt.Errorf("producer id: %w", err)
	}
	return id, epoch, nil
}

// Send produces a record and waits for its acknowledgement.
func (p *Producer) Send(ctx context.Context, rec *kgo.Record) error {
	if err := p.client.ProduceSync(ctx, rec).FirstErr(); err != nil {
		return fmt.Errorf("produce to %s: %w", rec.Topic, err)
	}
	return nil
}

// Flight is a produce request whose answer has not reached the producer: the
// broker has done its work, and the gate holds what it answers.
type Flight struct {
	p    *Producer
	done chan error
}

// Hold produces a record and holds the answer back. The context is that of the
// record's whole life, which lasts until its answer is let through.
func (p *Producer) Hold(ctx context.Context, rec *kgo.Record) (*Flight, error) {
	f := &Flight{p: p, done: make(chan error, 1)}
	p.hold()
	p.client.Produce(ctx, rec, func(_ *kgo.Record, err error) { f.done <- err })
	return f, f.arrived(ctx)
}

// arrived waits for the answer to be held.
func (f *Flight) arrived(ctx context.Context) error {
	select {
	case <-f.p.held:
		return nil
	case err := <-f.done:
		return fmt.Errorf("produce: it ended before its answer was held: %w", err)
	case <-ctx.Done():
		return fmt.Errorf("produce: %w", context.Cause(ctx))
	}
}

// Lose cuts the connection with the answer in it. The producer cannot know
// whether its request arrived and sends it again; Lose returns when the answer to
// that is held.
func (f *Flight) Lose(ctx context.Context) error {
	f.p.lose()
	return f.arrived(ctx)
}

// Deliver lets the answer through and waits for the producer to take it.
func (f *Flight) Deliver(ctx context.Context) error {
	f.p.release()
	select {
	case err := <-f.done:
		if err != nil {
			return fmt.Errorf("produce: %w", err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("produce: %w", context.Cause(ctx))
	}
}

// Requests are the records of each produce request that the client has written
// so far, as they went over the network; each is the first of its request.
func (p *Producer) Requests() ([]Entry, error) { return p.requests() }

// Begin begins a transaction.
func (p *Producer) Begin() error {
	if err := p.client.BeginTransaction(); err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	return nil
}

// AddOffset makes a group's next offset part of the open transaction.
func (p *Producer) AddOffset(ctx context.Context, transactionalID, group, topic string, partition int32, offset int64) error {
	id, epoch, err := p.ID(ctx)
	if err != nil {
		return err
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = transactionalID, id, epoch, group
	added, err := add.RequestWith(ctx, p.client)
	if err == nil {
		err = kerr.ErrorForCode(added.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("AddOffsetsToTxn: %w", err)
	}
	r := kmsg.NewPtrTxnOffsetCommitRequest()
	r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Group, r.Generation = transactionalID, id, epoch, group, -1
	rt := kmsg.NewTxnOffsetCommitRequestTopic()
	rt.Topic, rt.TopicID = topic, p.c.ids[topic]
	rp := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	rp.Partition, rp.Offset = partition, offset
	rt.Partitions = append(rt.Partitions, rp)
	r.Topics = append(r.Topics, rt)
	resp, err := r.RequestWith(ctx, p.client)
	if err != nil {
		return fmt.Errorf("TxnOffsetCommit: %w", err)
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return fmt.Errorf("TxnOffsetCommit: the answer has no %s/%d", topic, partition)
	}
	if err := kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode); err != nil {
		return fmt.Errorf("TxnOffsetCommit: %w", err)
	}
	return nil
}

// End commits or aborts the open transaction. A *kerr.Error is the broker's
// answer, such as INVALID_PRODUCER_EPOCH for a producer that was fenced.
func (p *Producer) End(ctx context.Context, commit bool) error {
	if err := p.client.EndTransaction(ctx, kgo.TransactionEndTry(commit)); err != nil {
		return fmt.Errorf("end transaction: %w", err)
	}
	return nil
}
