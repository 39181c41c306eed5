// Package verdict is the contract between the grader, the command line, the
// web pages and the store: what is printed by `redeliver grade --json` and
// stored for a submission. It imports nothing of ours.
package verdict

// Outcome is what a grading ends with.
type Outcome string

// The outcomes. Inconclusive is never the candidate's failure: we could not
// find out, and the grading is ours to repeat.
const (
	Passed       Outcome = "passed"
	Failed       Outcome = "failed"
	Rejected     Outcome = "rejected"
	Inconclusive Outcome = "inconclusive"
)

// Kind classifies a finding.
type Kind string

// The kinds of findings. Duplicate to Leaked come from the invariants of an
// exercise or from the delivery itself, Crash to Output from the limits of the
// sandbox, Compile and Policy from the check before anything runs.
const (
	Duplicate  Kind = "duplicate"
	Lost       Kind = "lost"
	Misordered Kind = "misordered"
	Stuck      Kind = "stuck"
	Leaked     Kind = "leaked"
	Crash      Kind = "crash"
	Timeout    Kind = "timeout"
	Memory     Kind = "memory"
	Output     Kind = "output"
	Compile    Kind = "compile"
	Policy     Kind = "policy"
)

// The databases that schedules run against, as exercises and coverage name them.
const (
	SQLite        = "sqlite"
	ReadCommitted = "read-committed" // a model of PostgreSQL's default isolation
)

// Engine is the version of everything that can change a verdict for the same
// source, exercise and seed: guest, sandbox, ledger, phases. It stands in
// replay tokens and in the key of stored verdicts.
const Engine = "6"

// Verdict is the result of one grading.
type Verdict struct {
	Exercise        string     `json:"exercise"` // pack/slug
	ExerciseVersion string     `json:"exercise_version"`
	Engine          string     `json:"engine"`
	Outcome         Outcome    `json:"outcome"`
	Summary         string     `json:"summary"` // one sentence
	Findings        []Finding  `json:"findings"`
	Coverage        []Coverage `json:"coverage"`
	Schedules       int        `json:"schedules"`
	Timings         Timings    `json:"timings_ms"`
	// TraceHash covers the trace of every schedule that ran: "sha256:" and hex.
	TraceHash string `json:"trace_hash"`
	// Stdout and Stderr are what the submission printed in the first schedule,
	// each cut at the sandbox's limit.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	// HostCalls is the most calls of one delivery to the database, Kafka and the
	// other services. It is for those who check a pack, and no part of the contract.
	HostCalls int `json:"-"`
	// Replay is set when a token was replayed: the one schedule that ran.
	Replay *Replay `json:"replay,omitempty"`
}

// Replay is the whole trace of a schedule that was run again, whether it shows
// a violation or not.
type Replay struct {
	Schedule string `json:"schedule"`
	Trace    []Step `json:"trace"`
}

// Finding is one thing that is wrong with the submission.
type Finding struct {
	Kind      Kind   `json:"kind"`
	Invariant string `json:"invariant,omitempty"`
	Object    string `json:"object,omitempty"` // the payment, order, record that is wrong
	Phase     string `json:"phase,omitempty"`
	Database  string `json:"database,omitempty"`
	Message   string `json:"message"`
	// Explanation says how it came about, with the candidate's lines.
	Explanation string     `json:"explanation,omitempty"`
	Deliveries  []Delivery `json:"deliveries,omitempty"`
	// Schedule is the replay token of the schedule that shows it.
	Schedule    string `json:"schedule,omitempty"`
	Trace       []Step `json:"trace,omitempty"`
	PassingTwin string `json:"passing_twin,omitempty"`
	// PassesWhen says what is different in the passing twin, as the end of a
	// sentence that begins with "It passes when".
	PassesWhen string `json:"passes_when,omitempty"`
	// File, Line and Column place compile and policy findings and panics.
	// Column counts bytes from 1.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// NoOffset is the offset of a delivery that is a call without a record.
const NoOffset = -1

// Delivery is one time that a record was handed to the handler.
type Delivery struct {
	Offset   int64  `json:"offset"`   // NoOffset when nothing was consumed
	Attempt  int    `json:"attempt"`  // 1 is the first delivery of this offset
	Instance string `json:"instance"` // "A"; after a crash "A2", "A3"
	Ended    string `json:"ended"`    // "committed", "crashed before offset commit", …
}

// Step is one entry of a trace, in the order in which things happened.
type Step struct {
	Step int `json:"step"` // from 1
	// Lane is the instance that acted; empty for what happens to all of them.
	Lane string `json:"lane"`
	// Event is one of deliver, sql, redis, gateway, send, wait, commit-offset, transaction,
	// return, crash, restart, produce, fault, output, limit, leak, check, group.
	Event    string   `json:"event"`
	Text     string   `json:"text"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
	Rows     []string `json:"rows"` // row differences: "+charges(1, 'p-7f3', …)"
	Decisive bool     `json:"decisive"`
}

// Coverage says how much of a phase was looked at.
type Coverage struct {
	Phase     string `json:"phase"`
	Schedules int    `json:"schedules"`
	Failed    int    `json:"failed"`
	Complete  bool   `json:"complete"` // false: sampled, or not finished
	// LeftOut says why the phase makes no sense for the kind of exercise; nothing
	// ran then.
	LeftOut string `json:"left_out,omitempty"`
	// Database is set when an exercise has another one than plain SQLite, or two.
	Database string `json:"database,omitempty"`
	// Outside says why schedules ended at something that the model of a database
	// cannot tell. They are counted in Schedules and nowhere else.
	Outside []string `json:"outside,omitempty"`
	// Note says what the phase did beside what it does for every handler.
	Note string `json:"note,omitempty"`
}

// Timings are wall-clock milliseconds. FirstResult is the time from the start
// of the check to the first finding, or to the end when there was none.
type Timings struct {
	Queue       int64 `json:"queue"`
	Check       int64 `json:"check"`
	Build       int64 `json:"build"`
	Load        int64 `json:"load"`
	FirstResult int64 `json:"first_result"`
	Explore     int64 `json:"explore"`
	Total       int64 `json:"total"`
}

// ExitCode is the status with which `redeliver grade` ends.
func (v Verdict) ExitCode() int {
	switch v.Outcome {
	case Passed:
		return 0
	case Failed, Rejected:
		return 1
	default:
		return 3
	}
}
