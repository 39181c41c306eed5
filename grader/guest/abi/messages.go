package abi

import (
	"context"
	"database/sql/driver"
	"errors"
	"math"
	"time"
)

// Position is the candidate's line that caused an effect: the base name of the
// file and the line from 1. The zero Position means that no line of the
// candidate was on the stack, as when database/sql cleans up by itself.
type Position struct {
	File string
	Line int
}

// AppendPosition appends p.
func AppendPosition(b []byte, p Position) []byte {
	return AppendUint(AppendString(b, p.File), uint64(p.Line))
}

// Position reads what AppendPosition wrote.
func (r *Reader) Position() Position {
	file, line := r.String(), r.Uint()
	if line > math.MaxInt32 {
		r.fail(errMalformed)
		return Position{}
	}
	return Position{file, int(line)}
}

// Header is a header of a record.
type Header struct {
	Key   string
	Value []byte
}

// Record is what the host delivers to the handler.
type Record struct {
	Topic     string
	Partition int32
	Offset    int64
	Key       []byte // nil when the record has none
	Value     []byte
	Headers   []Header
	Timestamp time.Time
}

// AppendRecord appends rec.
func AppendRecord(b []byte, rec Record) []byte {
	b = AppendString(b, rec.Topic)
	b = AppendInt(b, int64(rec.Partition))
	b = AppendInt(b, rec.Offset)
	b = AppendBytes(b, rec.Key)
	b = AppendBytes(b, rec.Value)
	b = AppendUint(b, uint64(len(rec.Headers)))
	for _, h := range rec.Headers {
		b = AppendBytes(AppendString(b, h.Key), h.Value)
	}
	return AppendTime(b, rec.Timestamp)
}

// Record reads what AppendRecord wrote.
func (r *Reader) Record() Record {
	rec := Record{
		Topic:     r.String(),
		Partition: int32(r.int(math.MinInt32, math.MaxInt32)),
		Offset:    r.Int(),
		Key:       r.Bytes(),
		Value:     r.Bytes(),
	}
	for range r.Count() {
		rec.Headers = append(rec.Headers, Header{r.String(), r.Bytes()})
	}
	rec.Timestamp = r.Time()
	return rec
}

// TaskKind says which of the submission's functions the process calls.
type TaskKind byte

// The tasks.
const (
	Handle      TaskKind = iota // with one record
	HandleBatch                 // with one or more records of a partition
	StartOffset                 // with a topic and a partition
	Relay
	Run     // runs until its context ends
	Publish // with what is to be published
	taskKinds
)

// Task is what the host asks the process to do next.
type Task struct {
	Kind      TaskKind
	Records   []Record
	Topic     string // StartOffset only
	Partition int32  // StartOffset only
	Key       string // Publish only
	// Deadline is when the function's context ends, in virtual time; the zero
	// time means never.
	Deadline time.Time
	// NoPositions leaves the Position of every effect zero. To find them takes
	// a third of the time of a delivery.
	NoPositions bool
}

// AppendTask appends t.
func AppendTask(b []byte, t Task) []byte {
	b = append(b, byte(t.Kind))
	b = AppendUint(b, uint64(len(t.Records)))
	for _, rec := range t.Records {
		b = AppendRecord(b, rec)
	}
	b = AppendInt(AppendString(b, t.Topic), int64(t.Partition))
	b = AppendString(b, t.Key)
	return AppendBool(AppendTime(b, t.Deadline), t.NoPositions)
}

// Task reads what AppendTask wrote.
func (r *Reader) Task() Task {
	t := Task{Kind: TaskKind(r.byte())}
	if t.Kind >= taskKinds {
		r.fail(errMalformed)
	}
	for range r.Count() {
		t.Records = append(t.Records, r.Record())
	}
	if t.Kind == Handle && len(t.Records) != 1 || t.Kind == HandleBatch && len(t.Records) == 0 {
		r.fail(errMalformed)
	}
	t.Topic, t.Partition, t.Key = r.String(), int32(r.int(math.MinInt32, math.MaxInt32)), r.String()
	t.Deadline, t.NoPositions = r.Time(), r.Bool()
	return t
}

// Return is how the submission's function ended. An error may have an empty
// text, so the text alone does not say whether there was one.
type Return struct {
	Failed bool
	Text   string
	Offset int64 // what StartOffset answered
}

// AppendReturn appends ret.
func AppendReturn(b []byte, ret Return) []byte {
	return AppendInt(AppendString(AppendBool(b, ret.Failed), ret.Text), ret.Offset)
}

// Return reads what AppendReturn wrote.
func (r *Reader) Return() Return { return Return{r.Bool(), r.String(), r.Int()} }

// Statement is SQL on a connection. OpPrepare has no arguments.
type Statement struct {
	Conn uint64
	At   Position
	SQL  string
	Args []driver.NamedValue // in order of Ordinal, from 1
}

// AppendStatement appends s. The ordinals are the places in Args.
func AppendStatement(b []byte, s Statement) []byte {
	b = AppendPosition(AppendUint(b, s.Conn), s.At)
	b = AppendString(b, s.SQL)
	b = AppendUint(b, uint64(len(s.Args)))
	for _, a := range s.Args {
		b = AppendValue(AppendString(b, a.Name), a.Value)
	}
	return b
}

// Statement reads what AppendStatement wrote.
func (r *Reader) Statement() Statement {
	s := Statement{Conn: r.Uint(), At: r.Position(), SQL: r.String()}
	for i := range r.Count() {
		s.Args = append(s.Args, driver.NamedValue{Name: r.String(), Ordinal: i + 1, Value: r.Value()})
	}
	return s
}

// Begin starts a transaction. The driver that we imitate ignores the isolation
// level, so it is not sent.
type Begin struct {
	Conn     uint64
	At       Position
	ReadOnly bool
}

// AppendBegin appends m.
func AppendBegin(b []byte, m Begin) []byte {
	return AppendBool(AppendPosition(AppendUint(b, m.Conn), m.At), m.ReadOnly)
}

// Begin reads what AppendBegin wrote.
func (r *Reader) Begin() Begin { return Begin{r.Uint(), r.Position(), r.Bool()} }

// End ends a transaction or a connection.
type End struct {
	Conn uint64
	At   Position
}

// AppendEnd appends m.
func AppendEnd(b []byte, m End) []byte { return AppendPosition(AppendUint(b, m.Conn), m.At) }

// EndRequest reads what AppendEnd wrote.
func (r *Reader) EndRequest() End { return End{r.Uint(), r.Position()} }

// ErrorKind says which Go error a reply stands for.
type ErrorKind byte

// The kinds of errors.
const (
	NoError          ErrorKind = iota
	SQLiteError                // a *sqlite.Error of the real driver
	Canceled                   // context.Canceled
	DeadlineExceeded           // context.DeadlineExceeded
	BadConn                    // driver.ErrBadConn
	KafkaError                 // a *kerr.Error, which the code identifies
	OtherError                 // an error of which only the text is known
	ClientError                // an error of package kgo, or one that wraps an error of package kerr
)

// Error is an error in a reply.
type Error struct {
	Kind ErrorKind
	// Code is of SQLiteError the extended result code; of KafkaError, and of a
	// ClientError that wraps one, the error code of the protocol.
	Code int
	Text string // SQLiteError, OtherError and ClientError only
	Name string // ClientError: the variable of package kgo, or ""
}

// ErrorOf translates an error of the real driver. An error with a method
// Code() int is SQLite's.
func ErrorOf(err error) Error {
	var coded interface {
		error
		Code() int
	}
	switch {
	case err == nil:
		return Error{}
	case errors.As(err, &coded):
		return Error{Kind: SQLiteError, Code: coded.Code(), Text: coded.Error()}
	case errors.Is(err, context.Canceled):
		return Error{Kind: Canceled}
	case errors.Is(err, context.DeadlineExceeded):
		return Error{Kind: DeadlineExceeded}
	case errors.Is(err, driver.ErrBadConn):
		return Error{Kind: BadConn}
	default:
		return Error{Kind: OtherError, Text: err.Error()}
	}
}

// AppendError appends e.
func AppendError(b []byte, e Error) []byte {
	b = append(b, byte(e.Kind))
	switch e.Kind {
	case SQLiteError:
		return AppendString(AppendInt(b, int64(e.Code)), e.Text)
	case KafkaError:
		return AppendInt(b, int64(e.Code))
	case OtherError:
		return AppendString(b, e.Text)
	case ClientError:
		return AppendString(AppendString(AppendInt(b, int64(e.Code)), e.Text), e.Name)
	default:
		return b
	}
}

// Error reads what AppendError wrote.
func (r *Reader) Error() Error {
	e := Error{Kind: ErrorKind(r.byte())}
	switch e.Kind {
	case NoError, Canceled, DeadlineExceeded, BadConn:
	case SQLiteError:
		e.Code = int(r.int(math.MinInt32, math.MaxInt32))
		e.Text = r.String()
	case KafkaError:
		e.Code = int(r.int(math.MinInt16, math.MaxInt16))
	case OtherError:
		e.Text = r.String()
	case ClientError:
		e.Code = int(r.int(math.MinInt16, math.MaxInt16))
		e.Text, e.Name = r.String(), r.String()
	default:
		r.fail(errMalformed)
		return Error{}
	}
	return e
}

// ExecReply is what a statement without rows answers. The numbers are sent
// only when there is no error.
type ExecReply struct {
	Err          Error
	RowsAffected int64
	LastInsertID int64
}

// AppendExecReply appends m.
func AppendExecReply(b []byte, m ExecReply) []byte {
	b = AppendError(b, m.Err)
	if m.Err.Kind != NoError {
		return b
	}
	return AppendInt(AppendInt(b, m.RowsAffected), m.LastInsertID)
}

// ExecReply reads what AppendExecReply wrote.
func (r *Reader) ExecReply() ExecReply {
	m := ExecReply{Err: r.Error()}
	if m.Err.Kind == NoError {
		m.RowsAffected = r.Int()
		m.LastInsertID = r.Int()
	}
	return m
}

// Column is a column of a result: its name, and the declared type in upper
// case as the real driver reports it, or "".
type Column struct{ Name, Type string }

// QueryReply is a whole result. Columns and rows are sent only when there is
// no error; each row has one value per column.
type QueryReply struct {
	Err     Error // of the query itself
	Columns []Column
	Rows    [][]driver.Value
	// Late is the error that comes after the last row, from Rows.Err.
	Late Error
}

// AppendQueryReply appends m.
func AppendQueryReply(b []byte, m QueryReply) []byte {
	b = AppendError(b, m.Err)
	if m.Err.Kind != NoError {
		return b
	}
	b = AppendUint(b, uint64(len(m.Columns)))
	for _, c := range m.Columns {
		b = AppendString(AppendString(b, c.Name), c.Type)
	}
	b = AppendUint(b, uint64(len(m.Rows)))
	for _, row := range m.Rows {
		for _, v := range row {
			b = AppendValue(b, v)
		}
	}
	return AppendError(b, m.Late)
}

// QueryReply reads what AppendQueryReply wrote.
func (r *Reader) QueryReply() QueryReply {
	m := QueryReply{Err: r.Error()}
	if m.Err.Kind != NoError {
		return m
	}
	for range r.Count() {
		m.Columns = append(m.Columns, Column{r.String(), r.String()})
	}
	rows := r.Count()
	if rows > 0 && len(m.Columns) == 0 { // they would take no bytes
		r.fail(errMalformed)
	}
	for i := 0; i < rows && r.err == nil; i++ {
		row := make([]driver.Value, len(m.Columns))
		for c := range row {
			row[c] = r.Value()
		}
		m.Rows = append(m.Rows, row)
	}
	m.Late = r.Error()
	return m
}

// Produce sends one record to a topic. The host chooses the partition; Offset is
// not used.
type Produce struct {
	At     Position
	Record Record
}

// AppendProduce appends m.
func AppendProduce(b []byte, m Produce) []byte {
	return AppendRecord(AppendPosition(b, m.At), m.Record)
}

// Produce reads what AppendProduce wrote.
func (r *Reader) Produce() Produce { return Produce{r.Position(), r.Record()} }

// ProduceReply says where the record is in the log. The numbers are sent only
// when there is no error.
type ProduceReply struct {
	Err       Error
	Partition int32
	Offset    int64
}

// AppendProduceReply appends m.
func AppendProduceReply(b []byte, m ProduceReply) []byte {
	b = AppendError(b, m.Err)
	if m.Err.Kind != NoError {
		return b
	}
	return AppendInt(AppendInt(b, int64(m.Partition)), m.Offset)
}

// ProduceReply reads what AppendProduceReply wrote.
func (r *Reader) ProduceReply() ProduceReply {
	m := ProduceReply{Err: r.Error()}
	if m.Err.Kind == NoError {
		m.Partition = int32(r.int(math.MinInt32, math.MaxInt32))
		m.Offset = r.Int()
	}
	return m
}
