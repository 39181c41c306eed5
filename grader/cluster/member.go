package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Member is a member of a classic consumer group that owns every partition of
// the topics: it joined with raw JoinGroup and SyncGroup requests, sends no
// heartbeats, and the broker fences its commits by member id and generation.
type Member struct {
	*Consumer
	id         string
	generation int32
}

// session is long enough that no schedule meets it in real time: eviction is an
// act of the harness here, and time-outs belong to the phase with virtual time.
const sessionMillis, rebalanceMillis = 300_000, 300_000

// Join makes a new member of the consumer's group, which must have none.
func (g *Consumer) Join(ctx context.Context, topics []string) (*Member, error) {
	m := &Member{Consumer: g}
	joined, err := m.join(ctx, topics)
	if err != nil {
		return nil, err
	}
	m.id, m.generation = joined.MemberID, joined.Generation
	r := kmsg.NewPtrSyncGroupRequest()
	r.Group, r.MemberID, r.Generation, r.ProtocolType, r.Protocol = g.group, m.id, m.generation, joined.ProtocolType, joined.Protocol
	assignment := kmsg.NewConsumerMemberAssignment()
	for _, topic := range topics {
		t := kmsg.NewConsumerMemberAssignmentTopic()
		t.Topic = topic
		for p := range g.c.partitions[topic] {
			t.Partitions = append(t.Partitions, p)
		}
		assignment.Topics = append(assignment.Topics, t)
	}
	a := kmsg.NewSyncGroupRequestGroupAssignment()
	a.MemberID, a.MemberAssignment = m.id, assignment.AppendTo(nil)
	r.GroupAssignment = append(r.GroupAssignment, a)
	resp, err := g.c.request(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := kerr.ErrorForCode(resp.(*kmsg.SyncGroupResponse).ErrorCode); err != nil {
		return nil, fmt.Errorf("SyncGroup: %w", err)
	}
	return m, nil
}

// join asks twice: the broker hands out the member id first (KIP-394).
func (m *Member) join(ctx context.Context, topics []string) (*kmsg.JoinGroupResponse, error) {
	id := ""
	for range 2 {
		r := kmsg.NewPtrJoinGroupRequest()
		r.Group, r.MemberID, r.ProtocolType = m.group, id, "consumer"
		r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = sessionMillis, rebalanceMillis
		meta := kmsg.NewConsumerMemberMetadata()
		meta.Topics = topics
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = "range", meta.AppendTo(nil)
		r.Protocols = append(r.Protocols, p)
		resp, err := m.c.request(ctx, r)
		if err != nil {
			return nil, err
		}
		joined := resp.(*kmsg.JoinGroupResponse)
		err = kerr.ErrorForCode(joined.ErrorCode)
		if err == nil {
			return joined, nil
		}
		if !errors.Is(err, kerr.MemberIDRequired) {
			return nil, fmt.Errorf("JoinGroup: %w", err)
		}
		id = joined.MemberID
	}
	return nil, fmt.Errorf("JoinGroup: %w again", kerr.MemberIDRequired)
}

// Evict takes the member out of its group without its knowing, as the
// coordinator does when its session ends.
func (m *Member) Evict(ctx context.Context) error {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Group = m.group
	lm := kmsg.NewLeaveGroupRequestMember()
	lm.MemberID = m.id
	r.Members = append(r.Members, lm)
	resp, err := m.c.request(ctx, r)
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(resp.(*kmsg.LeaveGroupResponse).ErrorCode); err != nil {
		return fmt.Errorf("LeaveGroup: %w", err)
	}
	return nil
}

// Commit stores the next offset to read, as this member. A member that was
// evicted gets UNKNOWN_MEMBER_ID.
func (m *Member) Commit(ctx context.Context, topic string, partition int32, offset int64) error {
	return m.commit(ctx, topic, partition, offset, m.id, m.generation)
}

// RefuseCommit commits with a fault in the way, as Consumer.RefuseCommit.
func (m *Member) RefuseCommit(ctx context.Context, topic string, partition int32, offset int64) error {
	return m.refuse(ctx, topic, partition, offset, m.Commit)
}

// LoseCommitReply commits and loses the answer, as Consumer.LoseCommitReply.
func (m *Member) LoseCommitReply(ctx context.Context, topic string, partition int32, offset int64) error {
	return m.loseReply(ctx, topic, partition, offset, m.Commit)
}

type committer func(ctx context.Context, topic string, partition int32, offset int64) error

// refuse commits while the broker answers REBALANCE_IN_PROGRESS, and makes sure
// that it did and that nothing was stored.
func (g *Consumer) refuse(ctx context.Context, topic string, partition int32, offset int64, commit committer) error {
	return g.faulty(ctx, topic, partition, offset, commit, kerr.RebalanceInProgress, false)
}

// loseReply commits while the broker stores the offset and answers
// REQUEST_TIMED_OUT.
func (g *Consumer) loseReply(ctx context.Context, topic string, partition int32, offset int64, commit committer) error {
	return g.faulty(ctx, topic, partition, offset, commit, kerr.RequestTimedOut, true)
}

func (g *Consumer) faulty(ctx context.Context, topic string, partition int32, offset int64, commit committer, answer *kerr.Error, stored bool) error {
	before, err := g.Committed(ctx, topic, partition)
	if err != nil {
		return err
	}
	fault := g.c.broker.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Group: g.group, Err: answer, Count: 1})
	defer fault.Remove()
	if err := commit(ctx, topic, partition, offset); err != answer { //nolint:errorlint // kerr's values are compared by identity
		return fmt.Errorf("faulty offset commit: the broker answered %v", err) //nolint:errorlint // nil is possible and wrong here
	}
	after, err := g.Committed(ctx, topic, partition)
	if err != nil {
		return err
	}
	want := before
	if stored {
		want = offset
	}
	if fault.Hits() != 1 || after != want {
		return fmt.Errorf("faulty offset commit: %d faults, the group stands at %d instead of %d", fault.Hits(), after, want)
	}
	return nil
}
