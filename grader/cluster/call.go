package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"redeliver/grader/guest/abi"
)

// Call is a call of a client's method, in progress or done.
type Call struct {
	Ticket  uint64
	Request abi.KafkaRequest

	cancel context.CancelFunc
	done   chan struct{}
	reply  abi.KafkaReply
}

// Done says whether Reply is there.
func (c *Call) Done() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Reply is the answer to a call that is done.
func (c *Call) Reply() abi.KafkaReply { return c.reply }

// Cancel ends the call's context. The call is done a little later.
func (c *Call) Cancel() { c.cancel() }

// Answered returns a call that is done, with an answer that the caller made up.
func Answered(m abi.KafkaRequest, reply abi.KafkaReply) *Call {
	c := &Call{Request: m, reply: reply, cancel: func() {}, done: make(chan struct{})}
	close(c.done)
	return c
}

// Call begins what a submission asks for. remaining is how long the call's context
// lasts; 0 for ever. A *LimitError is the submission's; other errors are about a
// malformed request.
func (p *Process) Call(m abi.KafkaRequest, remaining time.Duration) (*Call, error) {
	if m.Call == abi.Resume {
		c := p.calls[m.Ticket]
		if c == nil {
			return nil, fmt.Errorf("there is no call %d", m.Ticket)
		}
		if m.Commit {
			c.Cancel()
		}
		return c, nil
	}
	if m.Call == abi.NewClient || m.Call == abi.NewSession {
		err := p.connect(m)
		var refused *refusal
		if err != nil && !errors.As(err, &refused) {
			return nil, err
		}
		if refused != nil {
			err = refused.error
		}
		return Answered(m, abi.KafkaReply{Err: errorOf(err)}), nil
	}
	cl := p.clients[m.Client]
	if cl == nil {
		return nil, fmt.Errorf("there is no client %d", m.Client)
	}
	if err := overBefore(m, remaining); err != nil {
		return Answered(m, abi.KafkaReply{Err: errorOf(err)}), nil
	}
	switch m.Call {
	case abi.CallbackDone:
		cl.answered()
		return Answered(m, abi.KafkaReply{}), nil
	case abi.ProduceRecord:
		if err := p.count(m.Record); err != nil {
			return nil, err
		}
	case abi.Close:
		cl.closed = true
	default:
	}
	p.tickets++
	c := &Call{Ticket: p.tickets, Request: m, done: make(chan struct{})}
	p.calls[c.Ticket] = c
	ctx, cancel := p.contextOf(m, remaining)
	c.cancel = cancel
	go func() {
		defer close(c.done)
		defer c.cancel()
		c.reply = cl.perform(ctx, m)
	}()
	return c, nil
}

// overBefore is the answer to a commit whose context has ended before it: the real
// client gives it too, but leaves it to chance whether the broker hears of the commit.
func overBefore(m abi.KafkaRequest, remaining time.Duration) error {
	commits := m.Call == abi.CommitOffsets || m.Call == abi.CommitUncommitted || m.Call == abi.CommitMarked
	switch {
	case !m.Over || !commits:
		return nil
	case remaining == time.Nanosecond:
		return context.DeadlineExceeded
	default:
		return context.Canceled
	}
}

// contextOf is a call's context.
func (p *Process) contextOf(m abi.KafkaRequest, remaining time.Duration) (context.Context, context.CancelFunc) {
	switch {
	case m.Over && remaining == time.Nanosecond: // what is left of a deadline that has passed
		return context.WithDeadline(p.ctx, time.Now())
	case m.Over:
		ctx, cancel := context.WithCancel(p.ctx)
		cancel()
		return ctx, cancel
	case remaining > 0:
		return context.WithTimeout(p.ctx, remaining)
	default:
		return context.WithCancel(p.ctx)
	}
}

// Forget drops a call whose reply was taken.
func (p *Process) Forget(c *Call) { delete(p.calls, c.Ticket) }

// count takes a record into the limits of the schedule.
func (p *Process) count(rec abi.Record) error {
	p.limits.Records--
	p.limits.Bytes -= len(rec.Key) + len(rec.Value)
	for _, h := range rec.Headers {
		p.limits.Bytes -= len(h.Key) + len(h.Value)
	}
	switch {
	case p.limits.Records < 0:
		return &LimitError{"The submission produces far more records than the exercise has any use for, and was stopped."}
	case p.limits.Bytes < 0:
		return &LimitError{"The submission produces far more bytes than the exercise has any use for, and was stopped."}
	default:
		return nil
	}
}

// perform calls the real client and returns its answer.
func (cl *processClient) perform(ctx context.Context, m abi.KafkaRequest) (reply abi.KafkaReply) {
	real := cl.real
	switch m.Call {
	case abi.PollRecords:
		if m.Commit { // at once
			ctx = nil
		}
		reply.Fetched = fetched(real.PollRecords(ctx, int(m.Max)))
		if len(reply.Fetched) == 1 && reply.Fetched[0].Partition == -1 && reply.Fetched[0].Topic == "" { // the client, and no partition, has failed
			reply.Err, reply.Fetched = reply.Fetched[0].Err, nil
		}
	case abi.CommitOffsets:
		reply.Err = errorOf(commit(ctx, real, offsetMap(m.Offsets)))
	case abi.CommitUncommitted:
		reply.Err = errorOf(real.CommitUncommittedOffsets(ctx))
	case abi.CommitMarked:
		reply.Err = errorOf(real.CommitMarkedOffsets(ctx))
	case abi.MarkOffsets:
		real.MarkCommitOffsets(offsetMap(m.Offsets))
	case abi.SetOffsets:
		real.SetOffsets(offsetMap(m.Offsets))
	case abi.UncommittedOffsets:
		reply.Offsets = offsetList(real.UncommittedOffsets())
	case abi.CommittedOffsets:
		reply.Offsets = offsetList(real.CommittedOffsets())
	case abi.MarkedOffsets:
		reply.Offsets = offsetList(real.MarkedOffsets())
	case abi.PausePartitions:
		reply.Offsets = placesOf(real.PauseFetchPartitions(placeMap(m.Offsets)))
	case abi.ResumePartitions:
		real.ResumeFetchPartitions(placeMap(m.Offsets))
	case abi.AllowRebalance:
		real.AllowRebalance()
	case abi.ForceRebalance:
		real.ForceRebalance()
	case abi.LeaveGroup:
		real.LeaveGroup()
	case abi.Close:
		real.Close()
	case abi.ProduceRecord:
		reply = produce(ctx, real, m.Record)
	case abi.BeginTransaction:
		reply.Err = errorOf(real.BeginTransaction())
	case abi.EndTransaction:
		reply.Err = errorOf(real.EndTransaction(ctx, kgo.TransactionEndTry(m.Commit)))
	case abi.EndSession:
		if cl.session == nil {
			reply.Err = errorOf(errors.New("not a session"))
			break
		}
		committed, err := cl.session.End(ctx, kgo.TransactionEndTry(m.Commit))
		reply.Commit, reply.Err = committed, errorOf(err)
	default:
		reply.Err = errorOf(fmt.Errorf("there is no call %d", m.Call))
	}
	return reply
}

// commit is CommitRecords of the real client, for offsets.
func commit(ctx context.Context, real *kgo.Client, offsets map[string]map[int32]kgo.EpochOffset) (failed error) {
	real.CommitOffsetsSync(ctx, offsets, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
		if failed = err; err != nil {
			return
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					failed = err
					return
				}
			}
		}
	})
	return failed
}

func produce(ctx context.Context, real *kgo.Client, m abi.Record) (reply abi.KafkaReply) {
	rec := &kgo.Record{Topic: m.Topic, Partition: m.Partition, Key: m.Key, Value: m.Value, Timestamp: m.Timestamp}
	for _, h := range m.Headers {
		rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	if err := real.ProduceSync(ctx, rec).FirstErr(); err != nil {
		reply.Err = errorOf(err)
		return reply
	}
	reply.Fetched = []abi.KafkaFetch{{Topic: rec.Topic, Partition: rec.Partition, Records: []abi.KafkaRecord{{
		Record: abi.Record{Offset: rec.Offset, Timestamp: rec.Timestamp}, Attrs: attrsOf(rec),
	}}}}
	return reply
}

// fetched writes what a poll returned, by topic and partition.
func fetched(fs kgo.Fetches) (list []abi.KafkaFetch) {
	fs.EachPartition(func(p kgo.FetchTopicPartition) {
		if p.Err == nil && len(p.Records) == 0 {
			return
		}
		f := abi.KafkaFetch{
			Topic: p.Topic, Partition: p.Partition, Err: errorOf(p.Err),
			High: p.HighWatermark, LastStable: p.LastStableOffset, LogStart: p.LogStartOffset,
		}
		for _, r := range p.Records {
			rec := abi.Record{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Key: r.Key, Value: r.Value, Timestamp: r.Timestamp}
			for _, h := range r.Headers {
				rec.Headers = append(rec.Headers, abi.Header{Key: h.Key, Value: h.Value})
			}
			f.Records = append(f.Records, abi.KafkaRecord{Record: rec, Attrs: attrsOf(r), Epoch: r.LeaderEpoch})
		}
		list = append(list, f)
	})
	slices.SortStableFunc(list, func(a, b abi.KafkaFetch) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return list
}

// attrsOf writes a record's attributes as they are in a batch.
func attrsOf(r *kgo.Record) (attrs uint8) {
	if r.Attrs.IsTransactional() {
		attrs |= 1 << 4
	}
	if r.Attrs.IsControl() {
		attrs |= 1 << 5
	}
	return attrs
}

// errorOf translates an error of the real client.
func errorOf(err error) abi.Error {
	var answer *kerr.Error
	switch {
	case err == nil:
		return abi.Error{}
	case err == context.Canceled: //nolint:errorlint // one that is wrapped has more to say
		return abi.Error{Kind: abi.Canceled}
	case err == context.DeadlineExceeded: //nolint:errorlint // as above
		return abi.Error{Kind: abi.DeadlineExceeded}
	case errors.As(err, &answer) && err == error(answer): //nolint:errorlint // as above
		return abi.Error{Kind: abi.KafkaError, Code: int(answer.Code)}
	}
	e := abi.Error{Kind: abi.ClientError, Text: err.Error()}
	if answer != nil {
		e.Code = int(answer.Code)
	}
	for _, s := range []struct {
		name string
		err  error
	}{
		{"ErrAborting", kgo.ErrAborting},
		{"ErrClientClosed", kgo.ErrClientClosed},
		{"ErrMaxBuffered", kgo.ErrMaxBuffered},
		{"ErrRecordRetries", kgo.ErrRecordRetries},
		{"ErrRecordTimeout", kgo.ErrRecordTimeout},
		{"context.Canceled", context.Canceled},
		{"context.DeadlineExceeded", context.DeadlineExceeded},
	} {
		if errors.Is(err, s.err) {
			e.Name = s.name
			break
		}
	}
	return e
}

func offsetMap(list []abi.KafkaOffset) map[string]map[int32]kgo.EpochOffset {
	offsets := map[string]map[int32]kgo.EpochOffset{}
	for _, o := range list {
		if offsets[o.Topic] == nil {
			offsets[o.Topic] = map[int32]kgo.EpochOffset{}
		}
		offsets[o.Topic][o.Partition] = kgo.EpochOffset{Epoch: o.Epoch, Offset: o.Offset}
	}
	return offsets
}

func offsetList(offsets map[string]map[int32]kgo.EpochOffset) (list []abi.KafkaOffset) {
	for topic, partitions := range offsets {
		for p, o := range partitions {
			list = append(list, abi.KafkaOffset{Topic: topic, Partition: p, Epoch: o.Epoch, Offset: o.Offset})
		}
	}
	return sorted(list)
}

func placeMap(list []abi.KafkaOffset) map[string][]int32 {
	partitions := map[string][]int32{}
	for _, o := range list {
		partitions[o.Topic] = append(partitions[o.Topic], o.Partition)
	}
	return partitions
}

func placesOf(partitions map[string][]int32) (list []abi.KafkaOffset) {
	for topic, ids := range partitions {
		for _, id := range ids {
			list = append(list, abi.KafkaOffset{Topic: topic, Partition: id})
		}
	}
	return sorted(list)
}

func sorted(list []abi.KafkaOffset) []abi.KafkaOffset {
	slices.SortFunc(list, func(a, b abi.KafkaOffset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return list
}
