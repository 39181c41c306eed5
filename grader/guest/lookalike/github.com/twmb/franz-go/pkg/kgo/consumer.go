//go:build wasip1

package kgo

import (
	"context"

	"redeliver/grader/guest/abi"
)

// NewClient makes a client. A real one outside does what it is asked to.
func NewClient(opts ...Opt) (*Client, error) { return connect(abi.NewClient, opts) }

// Close leaves the group and ends the client. Records that are not on their way yet
// fail, with ErrClientClosed.
func (cl *Client) Close() {
	var left []promised
	if cl.id > 0 { // that of the sandbox goes on
		left = cl.takeWaiting()
	}
	cl.call(context.Background(), abi.KafkaRequest{Call: abi.Close})
	cl.fail(left, ErrClientClosed)
}

// CloseAllowingRebalance is AllowRebalance and Close.
func (cl *Client) CloseAllowingRebalance() {
	cl.AllowRebalance()
	cl.Close()
}

// PollFetches waits for records, or until the context ends. A nil context does not
// wait.
func (cl *Client) PollFetches(ctx context.Context) Fetches { return cl.poll(ctx, 0) }

// PollRecords is PollFetches with a limit of how many records it returns.
func (cl *Client) PollRecords(ctx context.Context, maxPollRecords int) Fetches {
	return cl.poll(ctx, maxPollRecords)
}

func (cl *Client) poll(ctx context.Context, most int) Fetches {
	m := abi.KafkaRequest{Call: abi.PollRecords, Max: int64(most)}
	if ctx == nil {
		m.Commit, ctx = true, context.Background() // at once
	}
	reply := cl.call(ctx, m)
	if err := asError(reply.Err); err != nil {
		return NewErrFetch(err)
	}
	return fetchesOf(reply.Fetched)
}

// NewErrFetch returns a fetch of no topic with an error.
func NewErrFetch(err error) Fetches {
	return []Fetch{{Topics: []FetchTopic{{Partitions: []FetchPartition{{Partition: -1, Err: err}}}}}}
}

// fetchesOf makes one fetch, as from one broker, of what a poll returned.
func fetchesOf(list []abi.KafkaFetch) Fetches {
	var f Fetch
	for _, m := range list {
		if len(f.Topics) == 0 || f.Topics[len(f.Topics)-1].Topic != m.Topic {
			f.Topics = append(f.Topics, FetchTopic{Topic: m.Topic})
		}
		t := &f.Topics[len(f.Topics)-1]
		p := FetchPartition{
			Partition: m.Partition, Err: asError(m.Err),
			HighWatermark: m.High, LastStableOffset: m.LastStable, LogStartOffset: m.LogStart,
		}
		for _, rec := range m.Records {
			p.Records = append(p.Records, recordOf(m, rec))
		}
		t.Partitions = append(t.Partitions, p)
	}
	if len(f.Topics) == 0 {
		return nil
	}
	return Fetches{f}
}

func recordOf(f abi.KafkaFetch, m abi.KafkaRecord) *Record {
	r := &Record{
		Key: m.Record.Key, Value: m.Record.Value, Timestamp: m.Record.Timestamp,
		Topic: f.Topic, Partition: f.Partition, Offset: m.Record.Offset,
		Attrs: RecordAttrs{m.Attrs}, LeaderEpoch: m.Epoch,
	}
	for _, h := range m.Record.Headers {
		r.Headers = append(r.Headers, RecordHeader{Key: h.Key, Value: h.Value})
	}
	return r
}

// AllowRebalance lets a rebalance go on that BlockRebalanceOnPoll has stopped.
func (cl *Client) AllowRebalance() {
	cl.call(context.Background(), abi.KafkaRequest{Call: abi.AllowRebalance})
}

// ForceRebalance makes the member join its group again.
func (cl *Client) ForceRebalance() {
	cl.call(context.Background(), abi.KafkaRequest{Call: abi.ForceRebalance})
}

// LeaveGroup leaves the group; the client can still produce.
func (cl *Client) LeaveGroup() {
	cl.call(context.Background(), abi.KafkaRequest{Call: abi.LeaveGroup})
}

// CommitRecords commits the offsets after the records and waits for the answer.
func (cl *Client) CommitRecords(ctx context.Context, rs ...*Record) error {
	offsets := offsetsAfter(rs)
	switch {
	case !cl.cfg.group:
		return errNotGroup
	case len(offsets) == 0:
		return nil
	}
	return cl.commit(ctx, abi.KafkaRequest{Call: abi.CommitOffsets, Offsets: byPartition(offsets)})
}

// CommitUncommittedOffsets commits everything that was polled.
func (cl *Client) CommitUncommittedOffsets(ctx context.Context) error {
	return cl.commit(ctx, abi.KafkaRequest{Call: abi.CommitUncommitted})
}

// CommitMarkedOffsets commits everything that was marked, with AutoCommitMarks.
func (cl *Client) CommitMarkedOffsets(ctx context.Context) error {
	return cl.commit(ctx, abi.KafkaRequest{Call: abi.CommitMarked})
}

func (cl *Client) commit(ctx context.Context, m abi.KafkaRequest) error {
	return asError(cl.call(ctx, m).Err)
}

// offsetsAfter is what to commit for records: for each partition the latest.
func offsetsAfter(rs []*Record) map[string]map[int32]EpochOffset {
	offsets := map[string]map[int32]EpochOffset{}
	for _, r := range rs {
		if offsets[r.Topic] == nil {
			offsets[r.Topic] = map[int32]EpochOffset{}
		}
		next := EpochOffset{r.LeaderEpoch, r.Offset + 1}
		if at, ok := offsets[r.Topic][r.Partition]; ok && next.Less(at) {
			continue
		}
		offsets[r.Topic][r.Partition] = next
	}
	return offsets
}

// MarkCommitRecords lets the client commit the records, with AutoCommitMarks.
func (cl *Client) MarkCommitRecords(rs ...*Record) { cl.MarkCommitOffsets(offsetsAfter(rs)) }

// MarkCommitOffsets is MarkCommitRecords for offsets.
func (cl *Client) MarkCommitOffsets(unmarked map[string]map[int32]EpochOffset) {
	cl.call(context.Background(), abi.KafkaRequest{Call: abi.MarkOffsets, Offsets: byPartition(unmarked)})
}

// SetOffsets makes the client read on, and commit, from other offsets.
func (cl *Client) SetOffsets(setOffsets map[string]map[int32]EpochOffset) {
	cl.call(context.Background(), abi.KafkaRequest{Call: abi.SetOffsets, Offsets: byPartition(setOffsets)})
}

// UncommittedOffsets are those of everything that was polled and not committed.
func (cl *Client) UncommittedOffsets() map[string]map[int32]EpochOffset {
	return offsetMap(cl.call(context.Background(), abi.KafkaRequest{Call: abi.UncommittedOffsets}).Offsets)
}

// CommittedOffsets are those that the client knows to be committed.
func (cl *Client) CommittedOffsets() map[string]map[int32]EpochOffset {
	return offsetMap(cl.call(context.Background(), abi.KafkaRequest{Call: abi.CommittedOffsets}).Offsets)
}

// MarkedOffsets are those that were marked and not committed.
func (cl *Client) MarkedOffsets() map[string]map[int32]EpochOffset {
	return offsetMap(cl.call(context.Background(), abi.KafkaRequest{Call: abi.MarkedOffsets}).Offsets)
}

// PauseFetchPartitions stops polls from returning records of partitions, and returns
// all that are paused.
func (cl *Client) PauseFetchPartitions(topicPartitions map[string][]int32) map[string][]int32 {
	return placeMap(cl.call(context.Background(), abi.KafkaRequest{Call: abi.PausePartitions, Offsets: places(topicPartitions)}).Offsets)
}

// ResumeFetchPartitions ends PauseFetchPartitions.
func (cl *Client) ResumeFetchPartitions(topicPartitions map[string][]int32) {
	cl.call(context.Background(), abi.KafkaRequest{Call: abi.ResumePartitions, Offsets: places(topicPartitions)})
}
