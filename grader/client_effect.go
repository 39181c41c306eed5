package grader

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"redeliver/grader/guest/abi"
	"redeliver/grader/ledger"
	"redeliver/grader/trace"
)

// kafkaEffect is a call of a client that the submission made itself.
type kafkaEffect struct{ req abi.KafkaRequest }

func readKafka(q request) (kafkaEffect, error) {
	r := abi.NewReader(q.in)
	e := kafkaEffect{r.KafkaRequest()}
	if err := r.End(); err != nil {
		return kafkaEffect{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return e, nil
}

// counts says whether an effect has a number in a schedule: what comes to a broker or
// a database, or records of it. What a client only notes is none, and not a call
// that is waited for again.
func counts(e effect) bool {
	k, ok := e.(kafkaEffect)
	if !ok {
		return true
	}
	switch k.req.Call {
	case abi.PollRecords, abi.CommitOffsets, abi.CommitUncommitted, abi.CommitMarked, abi.ProduceRecord,
		abi.EndTransaction, abi.EndSession, abi.Close, abi.LeaveGroup:
		return true
	default:
		return false
	}
}

// commits says whether a call commits offsets.
func (e kafkaEffect) commits() bool {
	switch e.req.Call {
	case abi.CommitOffsets, abi.CommitUncommitted, abi.CommitMarked, abi.EndSession:
		return true
	default:
		return false
	}
}

// durable says whether the answer to a call can be lost after it was done.
func (e kafkaEffect) durable() bool {
	return e.fails()
}

// fails says whether the broker can answer a call with an error.
func (e kafkaEffect) fails() bool {
	switch e.req.Call {
	case abi.EndTransaction, abi.EndSession:
		return e.req.Commit
	case abi.Close, abi.LeaveGroup, abi.PollRecords:
		return false
	default:
		return counts(e)
	}
}

func (e kafkaEffect) position() abi.Position { return e.req.At }

func (e kafkaEffect) event() string {
	switch {
	case e.req.Call == abi.ProduceRecord:
		return trace.Send
	case e.req.Call == abi.EndTransaction || e.req.Call == abi.EndSession:
		return trace.Transaction
	case e.commits():
		return trace.CommitOffset
	default:
		return trace.Group
	}
}

const pollNoun = "the poll"

func (e kafkaEffect) noun() string {
	switch e.req.Call {
	case abi.PollRecords:
		return pollNoun
	case abi.CommitOffsets, abi.CommitUncommitted, abi.CommitMarked:
		return offsetCommit
	case abi.ProduceRecord:
		return "the produce to " + ledger.Shorten(e.req.Record.Topic, 80)
	case abi.EndTransaction, abi.EndSession:
		if e.req.Commit {
			return "the commit of the transaction"
		}
		return "the abort of the transaction"
	case abi.Close:
		return "Close"
	case abi.LeaveGroup:
		return "LeaveGroup"
	default:
		return "a call of the Kafka client"
	}
}

func (e kafkaEffect) text() string {
	switch e.req.Call {
	case abi.CommitOffsets:
		var parts []string
		for _, o := range e.req.Offsets {
			parts = append(parts, fmt.Sprintf("offset %d of %s", o.Offset, partition{o.Topic, o.Partition}))
		}
		return "Commits " + strings.Join(parts, ", ") + " to Kafka."
	case abi.CommitUncommitted:
		return "Commits the offsets of everything that was polled to Kafka."
	case abi.CommitMarked:
		return "Commits the offsets that were marked to Kafka."
	case abi.ProduceRecord:
		return produceEffect{rec: producedRecord(e.req.Record)}.text()
	case abi.EndTransaction:
		if e.req.Commit {
			return "Commits the transaction."
		}
		return "Aborts the transaction."
	case abi.EndSession:
		if e.req.Commit {
			return "Commits the transaction, and the offsets in it."
		}
		return "Aborts the transaction."
	case abi.Close:
		return "Closes the Kafka client."
	case abi.LeaveGroup:
		return "Leaves the group."
	default:
		return "Calls the Kafka client."
	}
}

// perform is no way to do it: clients take their time, see clientRun.
func (kafkaEffect) perform(context.Context, *world, string) (outcome, error) {
	return outcome{}, errors.New("a Kafka client outside of its entry")
}

func (kafkaEffect) fault(string) outcome { return outcome{} }

func (kafkaEffect) abandon(*world, string) error { return nil }

// place is the candidate's line after a noun.
func place(at abi.Position) string {
	if at.Line == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", at.File, at.Line)
}

// resultOf is the end of a step's text.
func resultOf(req abi.KafkaRequest, m abi.KafkaReply) string {
	switch {
	case m.Err.Kind != abi.NoError:
		return "error: " + errorText(m.Err)
	case req.Call == abi.EndSession && req.Commit && !m.Commit:
		return "aborted: committed is false"
	case req.Call == abi.ProduceRecord && len(m.Fetched) == 1:
		return fmt.Sprintf("%d/%d", m.Fetched[0].Partition, m.Fetched[0].Records[0].Record.Offset)
	default:
		return ""
	}
}

func errorText(e abi.Error) string {
	switch e.Kind {
	case abi.KafkaError:
		return kerr.TypedErrorForCode(int16(e.Code)).Message
	case abi.Canceled:
		return context.Canceled.Error()
	case abi.DeadlineExceeded:
		return context.DeadlineExceeded.Error()
	default:
		return ledger.Shorten(e.Text, 200)
	}
}
