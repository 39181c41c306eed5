package grader

import (
	"context"
	"fmt"

	"redeliver/grader/guest/abi"
	"redeliver/grader/schedule"
)

// entry is how the harness and a submission work together in one schedule: which
// function an instance calls next, and what follows when it has returned.
type entry interface {
	// next is what an instance with nothing in hand does; nil: nothing is left.
	next(ctx context.Context, r *run, l *lane) (*work, error)
	// returned hears of a call that returned nil, or an error when failed, and
	// says what the instance does next: committing, or idle.
	returned(r *run, l *lane, w *work, failed bool) laneState
	// started hears of an instance that begins a life with empty memory, or whose
	// partitions were assigned anew.
	started(l *lane)
	// settle is asked when no instance has anything left: an instance for which
	// there is more after all, or nil.
	settle(r *run) *lane
}

// consumerEntry is the entry whose submissions poll and commit by themselves.
const consumerEntry = "consumer"

// producerEntry is the entry whose submissions consume nothing and are called.
const producerEntry = "producer"

// newEntry returns the entry of an exercise, for one schedule.
func newEntry(name string) (entry, error) {
	switch name {
	case "handler":
		return records{}, nil
	case "batch":
		return batches{}, nil
	case "offsets":
		return &offsets{places: map[*lane]map[partition]int64{}, asked: map[partition]int{}}, nil
	case "relay":
		return &relay{}, nil
	default:
		return nil, fmt.Errorf("the harness does not run the entry %q", name)
	}
}

// leftOut says which phases make no sense for an entry, and why.
func leftOut(entry string, produces bool) map[string]string {
	switch {
	case entry == consumerEntry:
		return map[string]string{
			schedule.TwoRecords:         noShare,
			schedule.Interleavings:      noShare,
			schedule.CrashAndInterleave: noShare,
			schedule.ClockJumps:         "a jump of the clock is no event for a consumer: its time passes by itself",
			schedule.RewindPhase:        "nobody moves the offsets of a group that has members",
		}
	case entry == producerEntry:
		return map[string]string{
			schedule.ProducerDuplicate:  "nothing is consumed: every copy is one that the submission sends",
			schedule.TwoRecords:         noTwoCalls,
			schedule.Interleavings:      noTwoCalls,
			schedule.CrashAndInterleave: noTwoCalls,
			schedule.ClockJumps:         "an event is asked for until its caller has heard of it, and not days later",
			schedule.RewindPhase:        "nothing is consumed, so there are no offsets to move",
			schedule.Cluster:            "nothing is consumed, so there is no group",
		}
	case entry == "offsets":
		return map[string]string{
			schedule.ProducerDuplicate: "a copy that the producer sends has an offset of its own, and without an id nothing tells it from a new record",
			schedule.RewindPhase:       "nobody reads the offsets that are committed to Kafka",
			schedule.Cluster:           "its scenarios are about offset commits, and nothing is committed to Kafka; zombie and interleavings move the partition while a record is in hand",
		}
	case entry == "relay" || produces:
		return map[string]string{schedule.Cluster: "its members have a broker and a clock of their own, which a submission that produces does not reach; zombie and interleavings move the partition while a record is in hand"}
	default:
		return nil
	}
}

// noShare is why a consumer's effects are not interleaved with another's.
const noShare = "members of a group hold a partition one after the other; where two hold it for a moment is looked at in zombie and cluster"

// noTwoCalls is why a producer's effects are not interleaved with another's.
const noTwoCalls = "the caller asks one process at a time; where two are at work on one event is looked at in zombie"

// records is the entry handler: one record after the other, the offset of each is
// committed to Kafka.
type records struct{}

func (records) next(ctx context.Context, r *run, l *lane) (*work, error) {
	recs, err := r.fetch(ctx, l, 1)
	return r.handle(abi.Handle, l, recs), err
}

func (records) returned(_ *run, _ *lane, _ *work, failed bool) laneState {
	if failed {
		return idle
	}
	return committing
}

func (records) started(*lane) {}

func (records) settle(*run) *lane { return nil }

// batches is the entry batch: a poll returns several records of a partition, and
// the offset after the last one is committed. What comes again may come in other
// batches: a batch is no unit in Kafka but what one fetch returned.
type batches struct{ records }

// maxBatch is how many records a poll returns at most.
const maxBatch = 100

func (batches) next(ctx context.Context, r *run, l *lane) (*work, error) {
	most := maxBatch
	if d, ok := r.due(schedule.Split); ok {
		r.fire(d)
		most = 1
	}
	recs, err := r.fetch(ctx, l, most)
	return r.handle(abi.HandleBatch, l, recs), err
}
