//go:build wasip1

package sdk

import (
	"context"
	"database/sql"
	"runtime"
	"runtime/debug"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/guest/abi"
)

// Handler is the function of the entry "handler".
type Handler = func(context.Context, *sql.DB, *kgo.Record) error

// process is the state of this process. Its host is the grader, which takes a
// snapshot when the program has started and restores it for every new process.
var process struct {
	db        *sql.DB
	handler   Handler
	positions positions
}

// Start is called at the end of the program's start, before the snapshot is
// taken, by a generated init function of the candidate's package. Another one,
// after it, may decode into the candidate's types (package warm).
//
// The order matters. A collection empties the allocator's caches, and every
// size class pays for its refill in the first delivery after each restore: so
// collect first, warm up afterwards, and never collect again before the
// snapshot. The candidate's handler is not called: what it leaves in variables
// would survive into every process.
func Start(h Handler) {
	debug.SetGCPercent(50)
	runtime.GC()
	process.handler = h
	process.positions.lines = map[uintptr]abi.Position{}
	process.db = sql.OpenDB(&sqlDriver{})
	warmUp(process.db)
}

// handle asks for one record, lets the candidate's function process it and
// tells the host how it ended. A panic is not recovered: it ends the process,
// as it would a real consumer, and Go's runtime writes it to standard error.
//
//go:wasmexport handle
func handle() {
	r := call(abi.OpRecord, nil)
	m := r.Record()
	if err := r.End(); err != nil {
		panic(broken(err))
	}
	process.positions.off = m.NoPositions
	ctx := context.Background()
	if !m.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, m.Deadline)
		defer cancel()
	}
	ret := outcome(process.handler(ctx, process.db, asRecord(m)))
	call(abi.OpReturn, func(b []byte) []byte { return abi.AppendReturn(b, ret) })
}

func outcome(err error) abi.Return {
	if err == nil {
		return abi.Return{}
	}
	return abi.Return{Failed: true, Text: err.Error()}
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

// drain lets goroutines run that the handler left behind: database/sql leaves
// two for each transaction. The host calls of a goroutine of the candidate's
// show up here, after the return.
//
//go:wasmexport drain
func drain() {
	for range 2 {
		runtime.Gosched()
	}
}
