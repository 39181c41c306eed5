// Package scene is what a lab shows, as plain data. It holds names and figures;
// the words for them are the view's.
package scene

// Scene is a lab after an action.
type Scene struct {
	Settings []Setting
	// Apply is the action of the form with the settings.
	Apply string
	// Buttons are the other actions, those that are not possible now among them:
	// a page whose buttons come and go is hard to read.
	Buttons []Button
	// Account is nil in a lab without money.
	Account *Account
	Story   []Event // the newest last
	Logs    []Log
	// Producers are the lives of producers, the newest last.
	Producers []Producer
	Readers   []Reader
	Instances []Instance
	Tables    []Table
	Facts     []Fact
	Runs      []Run // the newest first
}

// Cents is an amount of money in hundredths of a euro.
type Cents int64

// Account is what the consumer debits.
type Account struct{ Opening, Price, Balance Cents }

// Setting is something to choose from.
type Setting struct {
	Name    string
	Options []string
	Chosen  string
}

// Button is an action.
type Button struct {
	Action string
	Off    bool // not possible now
}

// Event is a step that was made.
type Event struct {
	ID     string // of its words
	Places []any  // names and values in turn; Cents are written as money
	// Lane is who acted: "producer", "consumer", or the name of an instance; after
	// a crash "A2". It is empty for Kafka and the database.
	Lane     string
	Kind     Kind
	Again    bool // a second time
	Decisive bool
}

// Kind is how an event is drawn.
type Kind string

// The kinds.
const (
	Here  Kind = ""      // concerns its lane alone
	To    Kind = "to"    // from the lane to Kafka
	From  Kind = "from"  // from Kafka to the lane
	Query Kind = "query" // a statement for the database or the cache
	Fault Kind = "fault" // done to the lane by whoever uses the lab
	Crash Kind = "crash"
	Start Kind = "start" // a new process
)

// Log is a partition.
type Log struct {
	Topic   string
	Records []Record
}

// Record is an entry of a log with what its batch says of its producer; ids and
// numbers are -1 where that is nothing.
type Record struct {
	Offset     int64
	Key, Value string
	PID        int64
	Epoch      int16
	Sequence   int32
	// State is "" or "copy" (the event stands in the log before), "open",
	// "committed", "aborted" (its transaction), "commit-marker", "abort-marker".
	State string
}

// Producer is one life of a producer.
type Producer struct {
	PID   int64 // -1 without idempotence
	Epoch int16
	Next  int32  // the next sequence; -1 without idempotence
	State string // "running", "expecting" (an answer), "ended"
}

// Reader is what a consumer with an isolation level sees of a topic.
type Reader struct {
	Isolation string // as it is configured
	Keys      []string
	End       int64 // how far it can read
}

// Instance is a process of the service, with the lines of its handler.
type Instance struct {
	Name  string
	State string // "running", "waiting" (owns no partition), "evicted" (and does not know), "done", "crashed", "paused", "fenced"
	Code  []Line
	// Step says whether its next line can be run now.
	Step bool
}

// Line is a line of a handler.
type Line struct {
	Text       string
	Done, Next bool
}

// Table is a table of the consumer's database, or the cache.
type Table struct {
	Name    string
	Columns []string
	Rows    [][]string
}

// Fact is a figure with a name.
type Fact struct {
	Name  string
	Value int64
}

// Run is what came of a configuration.
type Run struct {
	Settings []Setting // Chosen is what it ran with
	Sent     int       // purchases, or records
	Debits   int
	Balance  Cents
	// Outcome is "once", "twice" or "lost" in a lab that asks for a prediction, and
	// Predicted what was said before, or "".
	Outcome, Predicted string
}
