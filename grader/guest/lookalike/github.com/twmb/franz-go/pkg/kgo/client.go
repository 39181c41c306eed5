//go:build wasip1

package kgo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"redeliver/grader/guest/abi"
	"redeliver/grader/guest/host"
)

// Client produces records and, when the submission has made it, consumes.
type Client struct {
	id  uint64 // 0: the sandbox has handed it to the submission, for producing
	cfg cfg

	mu        sync.Mutex
	producing bool // in a transaction
	closed    bool
	waiting   []promised // in the order of Produce
	sending   bool       // a goroutine is at work on waiting
	pending   int        // records whose promise has not returned
	flushed   chan struct{}
	space     chan struct{} // closed when pending gets smaller
}

// promised is a record on its way.
type promised struct {
	ctx     context.Context
	rec     *Record
	at      abi.Position
	promise func(*Record, error)
	failed  error // before it was sent
}

// Produce sends a record in the background. The promise, which may be nil, is
// called when the record is in the log or has failed; promises are called one
// after the other. The record must not be changed until then. While as many records
// are under way as MaxBufferedRecords allows, Produce waits.
func (cl *Client) Produce(
	ctx context.Context,
	r *Record,
	promise func(*Record, error),
) {
	cl.produce(ctx, r, promise, host.Position(), true)
}

// TryProduce is Produce, but for a buffer that is full: the record then fails with
// ErrMaxBuffered.
func (cl *Client) TryProduce(
	ctx context.Context,
	r *Record,
	promise func(*Record, error),
) {
	cl.produce(ctx, r, promise, host.Position(), false)
}

func (cl *Client) produce(ctx context.Context, r *Record, promise func(*Record, error), at abi.Position, waits bool) {
	if ctx == nil {
		ctx = context.Background()
	}
	if r.Context == nil {
		r.Context = ctx
	}
	if promise == nil {
		promise = func(*Record, error) {}
	}
	if r.Topic == "" || cl.cfg.always {
		r.Topic = cl.cfg.topic
	}
	if r.Timestamp.IsZero() {
		r.Timestamp = time.Now()
	}
	r.Timestamp = r.Timestamp.Truncate(time.Millisecond)
	p := promised{ctx: ctx, rec: r, at: at, promise: promise}
	full := cl.lockWithSpace(ctx, waits)
	defer cl.mu.Unlock()
	switch {
	case r.Topic == "":
		p.failed = errNoTopic
	case cl.cfg.txn && !cl.producing:
		p.failed = errNotInTransaction
	case full != nil:
		p.failed = full
	case cl.closed:
		p.failed = ErrClientClosed
	}
	cl.waiting = append(cl.waiting, p)
	cl.pending++
	if !cl.sending {
		cl.sending = true
		go cl.send()
	}
}

// lockWithSpace returns with the lock, and with nil when one record more is allowed
// to be under way.
func (cl *Client) lockWithSpace(ctx context.Context, waits bool) error {
	cl.mu.Lock()
	for cl.id > 0 && cl.pending >= cl.cfg.buffer {
		if !waits {
			return ErrMaxBuffered
		}
		if cl.space == nil {
			cl.space = make(chan struct{})
		}
		space := cl.space
		cl.mu.Unlock()
		select {
		case <-space:
			cl.mu.Lock()
		case <-ctx.Done():
			cl.mu.Lock()
			return ctx.Err()
		}
	}
	return nil
}

// send takes records from the queue until it is empty. Each is a call of its own
// to the host, so each is a point at which the process may die.
func (cl *Client) send() {
	for {
		cl.mu.Lock()
		if len(cl.waiting) == 0 {
			cl.sending = false
			cl.mu.Unlock()
			return
		}
		p := cl.waiting[0]
		cl.waiting = cl.waiting[1:]
		cl.mu.Unlock()
		p.promise(p.rec, p.deliver(cl))
		cl.finish(1)
	}
}

// finish counts records whose promise has returned, and wakes Flush.
func (cl *Client) finish(n int) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.pending -= n; cl.pending == 0 && cl.flushed != nil {
		close(cl.flushed)
		cl.flushed = nil
	}
	if cl.space != nil {
		close(cl.space)
		cl.space = nil
	}
}

// maxRecord is the size from which a record is refused: the real client's limit
// of a batch.
const maxRecord = 1_000_012

// noEpoch is what the broker says of the leader's epoch when a record is produced.
const noEpoch = -1

// deliver hands a record to the host and writes into it where it is in the log.
func (p promised) deliver(cl *Client) error {
	r := p.rec
	if p.failed != nil {
		return p.failed
	}
	if err := host.Ended(p.ctx); err != nil {
		return err
	}
	m := abi.Produce{At: p.at, Record: abi.Record{Topic: r.Topic, Key: r.Key, Value: r.Value, Timestamp: r.Timestamp}}
	size := len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		m.Record.Headers = append(m.Record.Headers, abi.Header{Key: h.Key, Value: h.Value})
		size += len(h.Key) + len(h.Value)
	}
	if size > maxRecord {
		return fmt.Errorf("%w (uncompressed_bytes=%d)", kerr.MessageTooLarge, size)
	}
	if cl.id > 0 {
		return cl.sendRecord(p.ctx, r, m)
	}
	answer := host.Call(abi.OpProduce, func(b []byte) []byte { return abi.AppendProduce(b, m) })
	reply := answer.ProduceReply()
	if err := answer.End(); err != nil {
		return host.Broken(err)
	}
	if reply.Err.Kind == abi.KafkaError {
		return kerr.ErrorForCode(int16(reply.Err.Code))
	}
	if err := host.Error(reply.Err); err != nil {
		return err
	}
	r.Partition, r.Offset, r.LeaderEpoch = reply.Partition, reply.Offset, noEpoch
	return nil
}

// sendRecord sends a record with a client of the submission's own.
func (cl *Client) sendRecord(ctx context.Context, r *Record, m abi.Produce) error {
	m.Record.Partition = r.Partition
	reply := cl.call(ctx, abi.KafkaRequest{At: m.At, Call: abi.ProduceRecord, Record: m.Record})
	if err := asError(reply.Err); err != nil {
		return err
	}
	for _, f := range reply.Fetched {
		sent := recordOf(f, f.Records[0])
		r.Partition, r.Offset, r.Attrs, r.LeaderEpoch = sent.Partition, sent.Offset, sent.Attrs, noEpoch
	}
	return nil
}

// ProduceSync sends records and waits until each is in the log or has failed.
// The results are in the order in which that was known.
func (cl *Client) ProduceSync(ctx context.Context, rs ...*Record) ProduceResults {
	at := host.Position()
	var wg sync.WaitGroup
	results := make(ProduceResults, 0, len(rs))
	wg.Add(len(rs))
	for _, r := range rs {
		cl.produce(ctx, r, func(r *Record, err error) {
			results = append(results, ProduceResult{r, err})
			wg.Done()
		}, at, true)
	}
	wg.Wait()
	return results
}

// Flush waits until every record that was given to Produce is in the log or has
// failed.
func (cl *Client) Flush(ctx context.Context) error {
	cl.mu.Lock()
	if cl.pending == 0 {
		cl.mu.Unlock()
		return nil
	}
	if cl.flushed == nil {
		cl.flushed = make(chan struct{})
	}
	flushed := cl.flushed
	cl.mu.Unlock()
	select {
	case <-flushed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// AbortBufferedRecords fails every record that is not on its way yet, with
// ErrAborting, and waits for the others.
func (cl *Client) AbortBufferedRecords(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cl.mu.Lock()
	aborted := cl.waiting
	cl.waiting = nil
	cl.mu.Unlock()
	cl.fail(aborted, ErrAborting)
	return cl.Flush(ctx)
}

// takeWaiting closes the client for records and returns those that are not on their
// way yet.
func (cl *Client) takeWaiting() []promised {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	left := cl.waiting
	cl.waiting, cl.closed = nil, true
	return left
}

// fail calls the promises of records with an error.
func (cl *Client) fail(list []promised, err error) {
	for _, p := range list {
		if p.failed == nil {
			p.failed = err
		}
		p.promise(p.rec, p.failed)
		cl.finish(1)
	}
}

// BufferedProduceRecords is how many records have a promise that has not
// returned.
func (cl *Client) BufferedProduceRecords() int64 {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return int64(cl.pending)
}
