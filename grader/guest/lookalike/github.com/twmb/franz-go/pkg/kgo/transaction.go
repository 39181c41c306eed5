//go:build wasip1

package kgo

import (
	"context"

	"redeliver/grader/guest/abi"
)

// TransactionEndTry says how to end a transaction.
type TransactionEndTry bool

// The ends of a transaction.
const (
	TryAbort  TransactionEndTry = false
	TryCommit TransactionEndTry = true
)

// BeginTransaction lets the client produce, in a transaction.
func (cl *Client) BeginTransaction() error {
	err := asError(cl.call(context.Background(), abi.KafkaRequest{Call: abi.BeginTransaction}).Err)
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.producing = cl.producing || err == nil
	return err
}

// EndTransaction commits or aborts the transaction. It does not flush.
func (cl *Client) EndTransaction(ctx context.Context, commit TransactionEndTry) error {
	cl.mu.Lock()
	cl.producing = false
	cl.mu.Unlock()
	return asError(cl.call(ctx, abi.KafkaRequest{Call: abi.EndTransaction, Commit: bool(commit)}).Err)
}

// GroupTransactSession is a client that consumes in a group and produces in
// transactions which commit the offsets, too.
type GroupTransactSession struct{ cl *Client }

// NewGroupTransactSession makes such a client.
func NewGroupTransactSession(opts ...Opt) (*GroupTransactSession, error) {
	cl, err := connect(abi.NewSession, opts)
	if err != nil {
		return nil, err
	}
	return &GroupTransactSession{cl}, nil
}

// Client is the session's client.
func (s *GroupTransactSession) Client() *Client { return s.cl }

// Close is Client.Close.
func (s *GroupTransactSession) Close() { s.cl.Close() }

// AllowRebalance is Client.AllowRebalance.
func (s *GroupTransactSession) AllowRebalance() { s.cl.AllowRebalance() }

// CloseAllowingRebalance is Client.CloseAllowingRebalance.
func (s *GroupTransactSession) CloseAllowingRebalance() { s.cl.CloseAllowingRebalance() }

// PollFetches is Client.PollFetches.
func (s *GroupTransactSession) PollFetches(ctx context.Context) Fetches { return s.cl.PollFetches(ctx) }

// PollRecords is Client.PollRecords.
func (s *GroupTransactSession) PollRecords(ctx context.Context, maxPollRecords int) Fetches {
	return s.cl.PollRecords(ctx, maxPollRecords)
}

// ProduceSync is Client.ProduceSync.
func (s *GroupTransactSession) ProduceSync(ctx context.Context, rs ...*Record) ProduceResults {
	return s.cl.ProduceSync(ctx, rs...)
}

// Produce is Client.Produce.
func (s *GroupTransactSession) Produce(ctx context.Context, r *Record, promise func(*Record, error)) {
	s.cl.Produce(ctx, r, promise)
}

// TryProduce is Client.TryProduce.
func (s *GroupTransactSession) TryProduce(ctx context.Context, r *Record, promise func(*Record, error)) {
	s.cl.TryProduce(ctx, r, promise)
}

// Begin is Client.BeginTransaction.
func (s *GroupTransactSession) Begin() error { return s.cl.BeginTransaction() }

// End ends the transaction. It commits only if commit is true, no partition was
// revoked since Begin, and the offsets could be committed; otherwise it aborts and
// the session reads again from the committed offsets.
func (s *GroupTransactSession) End(ctx context.Context, commit TransactionEndTry) (committed bool, err error) {
	if commit == TryCommit {
		err = s.cl.Flush(ctx)
	} else {
		err = s.cl.AbortBufferedRecords(ctx)
	}
	if err != nil {
		return false, err
	}
	s.cl.mu.Lock()
	s.cl.producing = false
	s.cl.mu.Unlock()
	reply := s.cl.call(ctx, abi.KafkaRequest{Call: abi.EndSession, Commit: bool(commit)})
	return reply.Commit, asError(reply.Err)
}
