package exercises

import "time"

// Events is events.yaml: what is produced in a run. It describes logical
// events, such as one payment; how often each reaches the handler, and whether
// the producer sends a copy of it, is the grader's business.
//
//	fields:                      # drawn for each event, from the run's seed
//	  payment_id: {pattern: "p-###", distinct: true}
//	  account:    {pattern: "acc-##", distinct: true}
//	  amount:     {between: [1000, 9900], step: 100}
//	  event_id:   {uuid: v4}
//	  sent_at:    {time: "-1m", every: "1s"}
//	topics:
//	  - {name: payments, partitions: 1}
//	outputs:                     # topics that the submission may produce to, when it has a Kafka client
//	  - {name: receipts, partitions: 1}
//	events:                      # in the order in which they are produced
//	  - {topic: payments, key: "{account}", headers: {event-id: "{event_id}"}, value: '{"payment_id":"{payment_id}"}'}
//	  - {topic: payments, key: "{account}", …, same: {account: 1}, with: {amount: 4900}}
//	id: event_id                 # the field that tells logical events apart; default: event-1, event-2, …
//	object: payment_id           # the field that violations name
//	timestamp: sent_at           # the record's time; default: the start of the run
//	setup:                       # run for each event after schema.sql
//	  - INSERT INTO accounts (id, balance) VALUES (:account, 50000) ON CONFLICT DO NOTHING
//	expected:                    # the columns of the table "expected", one row per event
//	  payment_id: "{payment_id}"
//	  amount: "{amount}"
//
// Where the submission's function is called and consumes nothing, there are no topics
// but outputs, and an event has a key only: what the function is given.
//
// A field is one of: pattern (# stands for a digit or a consonant), between
// with an optional step (a whole number), uuid: v4, and time (RFC 3339 in UTC,
// as a distance from the start of the run; every adds that much per event).
// distinct: true means that no two events get the same value. An event may
// take a field's value from an earlier event (same, counted from 1) or have it
// fixed (with). In key, headers and value, {field} stands for the value; other
// braces stand for themselves.
type Events struct {
	Topics    []Topic // none when each event is a call
	Outputs   []Topic // the submission's; none of them is in Topics
	Fields    []Field // by name
	Templates []Template
	ID        string // name of a field, or ""
	Object    string // name of a field, or ""
	Timestamp string // name of a time field, or ""
	SetupSQL  []string
	Columns   []Column // of the table "expected" after event_id, by name
}

// Topic is created before the first event. An output is empty then.
type Topic struct {
	Name       string
	Partitions int32
}

// FieldKind says how a field's values are drawn.
type FieldKind string

// The kinds of fields.
const (
	PatternField FieldKind = "pattern"
	NumberField  FieldKind = "between"
	UUIDField    FieldKind = "uuid"
	TimeField    FieldKind = "time"
)

// Field is one value of an event. Values are text, those of a NumberField
// int64.
type Field struct {
	Name     string
	Kind     FieldKind
	Distinct bool
	Pattern  string
	Min, Max int64 // both can be drawn
	Step     int64 // at least 1
	Offset   time.Duration
	Every    time.Duration
}

// Template is one logical event before its fields are drawn.
type Template struct {
	Topic     string
	Partition int32
	Key       string
	Value     string
	Headers   []HeaderTemplate // by name
	With      map[string]any   // by field: text or int64
	Same      map[string]int   // by field: the event, from 1, whose value it takes
}

// HeaderTemplate is one header of a record.
type HeaderTemplate struct{ Name, Value string }

// Column is one column of the table "expected".
type Column struct {
	Name  string
	Type  string // TEXT or INTEGER
	Value any    // int64, or text with {field} placeholders
}

// Event is one logical event of a run.
type Event struct {
	ID        string // event_id in the tables sent, delivered and expected
	Topic     string
	Partition int32
	Key       []byte
	Value     []byte
	Headers   []Header
	Fields    map[string]any // by name: text or int64
	Object    string         // what violations call it: the value of Events.Object
	Timestamp time.Time
}

// Header is one header of a record.
type Header struct {
	Key   string
	Value []byte
}

func (e Events) field(name string) (Field, bool) {
	for _, field := range e.Fields {
		if field.Name == name {
			return field, true
		}
	}
	return Field{}, false
}

func (e Events) hasField(name string) bool {
	_, ok := e.field(name)
	return ok
}
