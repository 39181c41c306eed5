package abi_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/guest/abi"
)

// message is one kind of message, written and read without knowing its type.
type message struct {
	name  string
	value any
	bytes []byte
	read  func(*abi.Reader) any
}

// of pairs a message with the function that reads it.
func of[T any](name string, v T, write func([]byte, T) []byte, read func(*abi.Reader) T) message {
	return message{name, v, write(nil, v), func(r *abi.Reader) any { return read(r) }}
}

func messages() []message {
	at := abi.Position{File: "handler.go", Line: 31}
	utc := time.Date(2024, 2, 29, 13, 14, 15, 999999999, time.UTC)
	values := []driver.Value{
		nil, int64(math.MinInt64), int64(math.MaxInt64), 0.5, math.Inf(-1), "", "Zoë\x00", []byte(nil),
		[]byte{},
		[]byte{0, 255},
		false, true,
		utc, utc.In(time.FixedZone("CET", 3600)),
		time.Time{},
		time.Date(-500, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	var args []driver.NamedValue
	for i, v := range values {
		args = append(args, driver.NamedValue{Name: strings.Repeat("n", i%2), Ordinal: i + 1, Value: v})
	}
	list := []message{
		of("uint", uint64(math.MaxUint64), abi.AppendUint, (*abi.Reader).Uint),
		of("int", int64(math.MinInt64), abi.AppendInt, (*abi.Reader).Int),
		of("position", at, abi.AppendPosition, (*abi.Reader).Position),
		of("no position", abi.Position{}, abi.AppendPosition, (*abi.Reader).Position),
		of("empty record", abi.Record{}, abi.AppendRecord, (*abi.Reader).Record),
		of("record", abi.Record{
			Topic: "payments", Partition: -1, Offset: math.MaxInt64, Key: []byte{}, Value: []byte("{}"),
			Headers:   []abi.Header{{Key: "event-id", Value: []byte("e")}, {Key: "event-id"}, {Value: []byte{}}},
			Timestamp: utc,
		}, abi.AppendRecord, (*abi.Reader).Record),
		of("task with a record", abi.Task{
			Records: []abi.Record{{Topic: "payments"}}, Deadline: utc.Add(time.Minute), NoPositions: true,
		}, abi.AppendTask, (*abi.Reader).Task),
		of("task with a batch", abi.Task{Kind: abi.HandleBatch, Records: make([]abi.Record, 3)}, abi.AppendTask, (*abi.Reader).Task),
		of("task for an offset", abi.Task{Kind: abi.StartOffset, Topic: "t", Partition: 2}, abi.AppendTask, (*abi.Reader).Task),
		of("task of a producer", abi.Task{Kind: abi.Publish, Key: "o-1"}, abi.AppendTask, (*abi.Reader).Task),
		of("task of a relay", abi.Task{Kind: abi.Relay}, abi.AppendTask, (*abi.Reader).Task),
		of("returned an offset", abi.Return{Offset: math.MinInt64}, abi.AppendReturn, (*abi.Reader).Return),
		of("produce", abi.Produce{At: at, Record: abi.Record{Topic: "receipts", Key: []byte("k")}}, abi.AppendProduce, (*abi.Reader).Produce),
		of("produce reply", abi.ProduceReply{Partition: 3, Offset: 7}, abi.AppendProduceReply, (*abi.Reader).ProduceReply),
		of("produce error", abi.ProduceReply{Err: abi.Error{Kind: abi.KafkaError, Code: -1}}, abi.AppendProduceReply, (*abi.Reader).ProduceReply),
		of("redis request", abi.RedisRequest{At: at, Tx: true, Commands: [][]string{{"SET", "k", ""}, {"PING"}}}, abi.AppendRedisRequest, (*abi.Reader).RedisRequest),
		of("redis reply", abi.RedisReply{Discarded: "EXECABORT", Values: []abi.RedisValue{
			{},
			{Kind: abi.RedisInt, Int: math.MinInt64},
			{Kind: abi.RedisText, Text: "x"},
			{Kind: abi.RedisError, Text: "ERR"},
			{Kind: abi.RedisList, List: []abi.RedisValue{{}, {Kind: abi.RedisList}}},
		}}, abi.AppendRedisReply, (*abi.Reader).RedisReply),
		of("redis reply that was lost", abi.RedisReply{Lost: "i/o timeout"}, abi.AppendRedisReply, (*abi.Reader).RedisReply),
		of("charge", abi.Charge{At: at, Account: "a", Amount: -1, Key: "k"}, abi.AppendCharge, (*abi.Reader).Charge),
		of("charge reply", abi.ChargeReply{Result: abi.NoAnswer, Text: "i/o timeout"}, abi.AppendChargeReply, (*abi.Reader).ChargeReply),
		of("kafka request", abi.KafkaRequest{
			At: at, Client: 3, Call: abi.ProduceRecord, Ticket: 9, Max: -1, Deadline: utc, Commit: true, Over: true,
			Record:   abi.Record{Topic: "t", Value: []byte("v")},
			Settings: []abi.KafkaSetting{{Option: abi.HasLost}, {Option: abi.FetchMaxPartitionBytes, Ints: []int64{1}}, {Option: abi.ConsumeResetOffset, Ints: []int64{-2, 0}, Texts: []string{"", "x"}}},
			Offsets:  []abi.KafkaOffset{{Topic: "t", Partition: 1, Epoch: -1, Offset: math.MaxInt64}},
		}, abi.AppendKafkaRequest, (*abi.Reader).KafkaRequest),
		of("kafka reply", abi.KafkaReply{
			State: abi.KafkaCallback, Ticket: 1, Stop: true, Client: 2, Kind: abi.Lost,
			Err: abi.Error{Kind: abi.ClientError, Code: 47, Text: "a: b", Name: "ErrAborting"}, Commit: true,
			Fetched: []abi.KafkaFetch{{
				Topic: "t", Partition: 2, Err: abi.Error{Kind: abi.KafkaError, Code: 1}, High: 3, LastStable: 2, LogStart: 1,
				Records: []abi.KafkaRecord{{Record: abi.Record{Offset: 7}, Attrs: 16, Epoch: -1}},
			}},
			Offsets: []abi.KafkaOffset{{Topic: "t"}},
		}, abi.AppendKafkaReply, (*abi.Reader).KafkaReply),
		of("returned nil", abi.Return{}, abi.AppendReturn, (*abi.Reader).Return),
		of("returned an error without text", abi.Return{Failed: true}, abi.AppendReturn, (*abi.Reader).Return),
		of("returned an error", abi.Return{Failed: true, Text: "no"}, abi.AppendReturn, (*abi.Reader).Return),
		of("statement", abi.Statement{Conn: 8, At: at, SQL: "SELECT ?", Args: args}, abi.AppendStatement, (*abi.Reader).Statement),
		of("statement without arguments", abi.Statement{SQL: "x"}, abi.AppendStatement, (*abi.Reader).Statement),
		of("begin", abi.Begin{Conn: 1, At: at, ReadOnly: true}, abi.AppendBegin, (*abi.Reader).Begin),
		of("end", abi.End{Conn: 2, At: at}, abi.AppendEnd, (*abi.Reader).EndRequest),
		of("exec reply", abi.ExecReply{RowsAffected: 3, LastInsertID: -1}, abi.AppendExecReply, (*abi.Reader).ExecReply),
		of("exec error", abi.ExecReply{Err: abi.Error{Kind: abi.BadConn}}, abi.AppendExecReply, (*abi.Reader).ExecReply),
		of("query reply", abi.QueryReply{
			Columns: []abi.Column{{Name: "id", Type: "INTEGER"}, {}},
			Rows:    [][]driver.Value{{int64(1), nil}, {"a", []byte{}}},
			Late:    abi.Error{Kind: abi.SQLiteError, Code: 5, Text: "database is locked (5) (SQLITE_BUSY)"},
		}, abi.AppendQueryReply, (*abi.Reader).QueryReply),
		of("empty query reply", abi.QueryReply{}, abi.AppendQueryReply, (*abi.Reader).QueryReply),
		of("query error", abi.QueryReply{Err: abi.Error{Kind: abi.OtherError, Text: "x"}}, abi.AppendQueryReply, (*abi.Reader).QueryReply),
	}
	for i, v := range values {
		list = append(list, of(fmt.Sprintf("value %d %T", i, v), v, abi.AppendValue, (*abi.Reader).Value))
	}
	for _, e := range []abi.Error{
		{},
		{Kind: abi.SQLiteError, Code: 2067, Text: "UNIQUE"},
		{Kind: abi.Canceled},
		{Kind: abi.DeadlineExceeded},
		{Kind: abi.BadConn},
		{Kind: abi.OtherError},
		{Kind: abi.KafkaError, Code: 7},
	} {
		list = append(list, of(fmt.Sprintf("error %d", e.Kind), e, abi.AppendError, (*abi.Reader).Error))
	}
	return list
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	for _, m := range messages() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			r := abi.NewReader(m.bytes)
			got := m.read(r)
			if err := r.End(); err != nil {
				t.Fatal(err)
			}
			sameZone := cmp.Comparer(func(a, b time.Time) bool {
				return a.Equal(b) && a.Format(time.RFC3339Nano+" MST") == b.Format(time.RFC3339Nano+" MST")
			})
			if d := cmp.Diff(m.value, got, sameZone); d != "" {
				t.Errorf("written (-) and read (+):\n%s", d)
			}
		})
	}
}

func TestShortAndLongMessagesAreMistakes(t *testing.T) {
	t.Parallel()
	for _, m := range messages() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for n := range m.bytes {
				r := abi.NewReader(m.bytes[:n])
				m.read(r)
				if r.Err() == nil {
					t.Errorf("%d of %d bytes were enough", n, len(m.bytes))
				}
			}
			r := abi.NewReader(append(m.bytes[:len(m.bytes):len(m.bytes)], 0))
			m.read(r)
			if r.End() == nil {
				t.Error("a byte too many was not noticed")
			}
		})
	}
}

func TestHostileBytesAreMistakes(t *testing.T) {
	t.Parallel()
	huge := abi.AppendUint(nil, math.MaxUint64)
	for name, c := range map[string]struct {
		bytes []byte
		read  func(*abi.Reader)
	}{
		"EndlessVarint":           {[]byte(strings.Repeat("\xff", 20)), func(r *abi.Reader) { r.Uint() }},
		"HugeString":              {huge, func(r *abi.Reader) { _ = r.String() }},
		"HugeBytes":               {huge, func(r *abi.Reader) { r.Bytes() }},
		"HugeCount":               {huge, func(r *abi.Reader) { r.Count() }},
		"CountAboveTheBytesLeft":  {[]byte{3, 0, 0}, func(r *abi.Reader) { r.Count() }},
		"UnknownTag":              {[]byte{200}, func(r *abi.Reader) { r.Value() }},
		"UnknownErrorKind":        {[]byte{200}, func(r *abi.Reader) { r.Error() }},
		"BoolOfTwo":               {[]byte{2}, func(r *abi.Reader) { r.Bool() }},
		"LineAboveInt32":          {abi.AppendUint([]byte{0}, 1<<40), func(r *abi.Reader) { r.Position() }},
		"NanosecondsAboveASecond": {append(abi.AppendUint(abi.AppendInt(nil, 0), 1e9), 0), func(r *abi.Reader) { r.Time() }},
		"UnknownZone":             {[]byte{0, 0, 9}, func(r *abi.Reader) { r.Time() }},
		"OffsetOfYears":           {abi.AppendInt([]byte{0, 0, 1, 0}, 1<<40), func(r *abi.Reader) { r.Time() }},
		"PartitionAboveInt32":     {abi.AppendInt([]byte{0}, 1<<40), func(r *abi.Reader) { r.Record() }},
		"RowsWithoutColumns":      {[]byte{0, 0, 5, 0, 0, 0, 0, 0}, func(r *abi.Reader) { r.QueryReply() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := abi.NewReader(c.bytes)
			c.read(r)
			if r.Err() == nil {
				t.Fatal("no mistake was found")
			}
			first := r.Err()
			if r.Uint() != 0 || r.Int() != 0 || r.String() != "" || r.Bytes() != nil || r.Value() != nil || r.Count() != 0 || r.Bool() || !r.Time().IsZero() {
				t.Error("a value was read after the mistake")
			}
			if !errors.Is(r.End(), first) {
				t.Errorf("the first mistake was %v, now it is %v", first, r.End())
			}
		})
	}
}

func TestReadValuesDoNotShareMemory(t *testing.T) {
	t.Parallel()
	b := abi.AppendBytes(nil, []byte("abc"))
	got := abi.NewReader(b).Bytes()
	clear(b)
	if string(got) != "abc" {
		t.Errorf("got %q after the message was overwritten", got)
	}
}

func TestZonesDoNotDependOnTheMachine(t *testing.T) {
	t.Parallel()
	local := time.Date(2024, 2, 29, 1, 2, 3, 0, time.FixedZone("", 0))
	got := abi.NewReader(abi.AppendTime(nil, local)).Time()
	if got.Location() != time.Local || !got.Equal(local) {
		t.Errorf("an offset of nothing is in %v", got.Location())
	}
	named := local.In(time.FixedZone("WET", 0))
	if name, _ := abi.NewReader(abi.AppendTime(nil, named)).Time().Zone(); name != "WET" {
		t.Errorf("the zone WET became %s", name)
	}
}

// coded is what the real driver's errors look like from outside.
type coded struct{}

func (coded) Error() string { return "locked" }
func (coded) Code() int     { return 5 }

func TestErrorOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want abi.Error
	}{
		"Nil":      {nil, abi.Error{}},
		"SQLite":   {fmt.Errorf("wrapped: %w", coded{}), abi.Error{Kind: abi.SQLiteError, Code: 5, Text: "locked"}},
		"Canceled": {context.Canceled, abi.Error{Kind: abi.Canceled}},
		"Deadline": {context.DeadlineExceeded, abi.Error{Kind: abi.DeadlineExceeded}},
		"BadConn":  {driver.ErrBadConn, abi.Error{Kind: abi.BadConn}},
		"Other":    {errors.New("x"), abi.Error{Kind: abi.OtherError, Text: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := abi.ErrorOf(c.err); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAppendValueRefusesOtherTypes(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an int was written, which database/sql never passes to a driver")
		}
	}()
	abi.AppendValue(nil, 1)
}

// FuzzReader feeds arbitrary bytes to every kind of message. None may panic, or
// return more elements than there are bytes; and what was read without a mistake
// is written and read again as the same.
func FuzzReader(f *testing.F) {
	kinds := messages()
	for _, m := range kinds {
		f.Add(m.bytes)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, m := range kinds {
			m.read(abi.NewReader(b))
		}
		r := abi.NewReader(b)
		s := r.Statement()
		if len(s.Args) > len(b) {
			t.Errorf("%d arguments in %d bytes", len(s.Args), len(b))
		}
		if r.End() != nil {
			return
		}
		again := abi.NewReader(abi.AppendStatement(nil, s))
		same := cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
		if d := cmp.Diff(s, again.Statement(), same); d != "" || again.End() != nil {
			t.Errorf("%v\n%s", again.End(), d)
		}
	})
}
