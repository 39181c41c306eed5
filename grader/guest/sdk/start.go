//go:build wasip1

package sdk

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/guest/abi"
	"redeliver/grader/guest/host"
)

// The functions that a submission defines.
type (
	// Handler is Handle.
	Handler = func(context.Context, *sql.DB, *kgo.Record) error
	// KafkaHandler is Handle with the service kafka.
	KafkaHandler = func(context.Context, *sql.DB, *kgo.Client, *kgo.Record) error
	// BatchHandler is HandleBatch.
	BatchHandler = func(context.Context, *sql.DB, []*kgo.Record) error
	// OffsetFunc is StartOffset.
	OffsetFunc = func(ctx context.Context, db *sql.DB, topic string, partition int32) (int64, error)
	// RelayFunc is Relay.
	RelayFunc = func(context.Context, *sql.DB, *kgo.Client) error
)

// process is the state of this process. Its host is the grader, which takes a
// snapshot when the program has started and restores it for every new process.
var process struct {
	db      *sql.DB
	perform performer
}

// performer calls the candidate's function that a task asks for.
type performer func(context.Context, abi.Task) abi.Return

// Start is called at the end of the program's start, before the snapshot is
// taken, by a generated init function of the candidate's package. Another one,
// after it, may decode into the candidate's types (package warm). Its siblings
// StartKafka, StartBatch, StartOffsets and StartRelay do the same for the other
// entries.
func Start(h Handler) {
	start(nil, func(ctx context.Context, t abi.Task) abi.Return {
		return outcome(h(ctx, process.db, asRecord(t.Records[0])))
	})
}

// StartKafka is Start for a handler with a Kafka client.
func StartKafka(h KafkaHandler) {
	cl := new(kgo.Client)
	start(cl, func(ctx context.Context, t abi.Task) abi.Return {
		return outcome(h(ctx, process.db, cl, asRecord(t.Records[0])))
	})
}

// StartBatch is Start for the entry batch.
func StartBatch(h BatchHandler) {
	start(nil, func(ctx context.Context, t abi.Task) abi.Return {
		recs := make([]*kgo.Record, len(t.Records))
		for i, m := range t.Records {
			recs[i] = asRecord(m)
		}
		return outcome(h(ctx, process.db, recs))
	})
}

// StartOffsets is Start for the entry offsets.
func StartOffsets(at OffsetFunc, h Handler) {
	start(nil, func(ctx context.Context, t abi.Task) abi.Return {
		if t.Kind != abi.StartOffset {
			return outcome(h(ctx, process.db, asRecord(t.Records[0])))
		}
		offset, err := at(ctx, process.db, t.Topic, t.Partition)
		ret := outcome(err)
		ret.Offset = offset
		return ret
	})
}

// StartRelay is Start for the entry relay.
func StartRelay(h Handler, relay RelayFunc) {
	cl := new(kgo.Client)
	start(cl, func(ctx context.Context, t abi.Task) abi.Return {
		if t.Kind == abi.Relay {
			return outcome(relay(ctx, process.db, cl))
		}
		return outcome(h(ctx, process.db, asRecord(t.Records[0])))
	})
}

// StartRun is Start for a function that is given nothing but the database.
func StartRun(f func(ctx context.Context, db *sql.DB) error) {
	start(nil, func(ctx context.Context, _ abi.Task) abi.Return {
		return outcome(f(ctx, process.db))
	})
}

// StartPublish is StartRun for a function that is also given what it shall publish.
func StartPublish(f func(ctx context.Context, db *sql.DB, key string) error) {
	start(nil, func(ctx context.Context, t abi.Task) abi.Return {
		return outcome(f(ctx, process.db, t.Key))
	})
}

// atInit is how many goroutines there are before the candidate's packages are
// initialised: this package is initialised before they are.
var atInit = runtime.NumGoroutine()

// start warms the process up. Nothing is collected: a collection takes longer than
// all else here, would free little, and empties the allocator's caches, so that
// every size class would pay for its refill in the first delivery after each
// restore. The candidate's functions are not called: what they leave in variables
// would survive into every process.
func start(cl *kgo.Client, perform performer) {
	debug.SetGCPercent(50)
	process.perform = perform
	process.db = sql.OpenDB(&sqlDriver{})
	host.Quiet(atInit + 1) // the pool has one
	if err := warmUp(process.db, cl); err != nil {
		panic(fmt.Errorf("redeliver: warm up: %w", err))
	}
}

func asRecord(m abi.Record) *kgo.Record {
	rec := &kgo.Record{
		Key:       m.Key,
		Value:     m.Value,
		Timestamp: m.Timestamp,
		Topic:     m.Topic,
		Partition: m.Partition,
		Offset:    m.Offset,
	}
	for _, h := range m.Headers {
		rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return rec
}
