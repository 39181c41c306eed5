package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"redeliver/grader/verdict"
)

// Timeline is a trace laid out in lanes: the first instance, then Kafka and the
// database, then the other instances. It holds everything that a drawing needs.
type Timeline struct {
	Lanes []Lane `json:"lanes"`
	Rows  []Row  `json:"rows"` // one for each step, in order
}

// Lane is an instance over all its lives, or Kafka and the database.
type Lane struct {
	// Name is that of the instance's first process; Middle for Kafka and the
	// database.
	Name string `json:"name"`
	// Lives are its processes in order: A, A2, A3. Empty for the middle.
	Lives []string `json:"lives,omitempty"`
}

// Middle is the name of the lane of what is no instance.
const Middle = ""

// Row is one step of a timeline.
type Row struct {
	Step  verdict.Step `json:"step"`
	Lane  int          `json:"lane"` // index in Timeline.Lanes
	Arrow Arrow        `json:"arrow,omitempty"`
	// Fault: the grader did something to the process or to Kafka, or the process
	// was ended.
	Fault bool `json:"fault,omitempty"`
	// Again: a record was delivered once more.
	Again bool `json:"again,omitempty"`
	// Waits: another instance holds a lock; the call waits for it, or the database
	// has answered so.
	Waits bool `json:"waits,omitempty"`
	// Fold is 0 for a row that is shown; rows with the same number above it
	// follow each other and are shown as one.
	Fold int `json:"fold,omitempty"`
	// Lines say for each lane whether its process lives before and after the
	// step. The middle lane always does.
	Lines []Line `json:"lines"`
}

// Arrow is who turns to whom in a step.
type Arrow string

// The arrows.
const (
	ToMiddle   Arrow = "to-middle"   // a call to the database, an offset commit
	FromMiddle Arrow = "from-middle" // a delivery
	NoArrow    Arrow = ""            // it concerns one lane
)

// Line is a lane's process around a step.
type Line struct {
	Before bool `json:"before"`
	After  bool `json:"after"`
}

// NewTimeline lays out a trace.
func NewTimeline(steps []verdict.Step) Timeline {
	t := Timeline{Lanes: lanesOf(steps), Rows: make([]Row, 0, len(steps))}
	for _, s := range steps {
		t.Rows = append(t.Rows, t.row(s))
	}
	t.live()
	t.fold()
	return t
}

// LaneOf takes the number from the name of a process: A2 runs where A ran.
func LaneOf(process string) string { return strings.TrimRight(process, "0123456789") }

// lanesOf finds the instances, in the order of their names.
func lanesOf(steps []verdict.Step) []Lane {
	var lanes []Lane
	for _, s := range steps {
		name := LaneOf(s.Lane)
		if name == Middle {
			continue
		}
		i := slices.IndexFunc(lanes, func(l Lane) bool { return l.Name == name })
		if i < 0 {
			i = len(lanes)
			lanes = append(lanes, Lane{Name: name})
		}
		if !slices.Contains(lanes[i].Lives, s.Lane) {
			lanes[i].Lives = append(lanes[i].Lives, s.Lane)
		}
	}
	slices.SortStableFunc(lanes, func(a, b Lane) int { return strings.Compare(a.Name, b.Name) })
	return slices.Insert(lanes, min(1, len(lanes)), Lane{Name: Middle})
}

func (t *Timeline) row(s verdict.Step) Row {
	r := Row{Step: s, Fault: isFault(s.Event), Again: isAgain(s), Waits: isLockWait(s)}
	r.Lane = slices.IndexFunc(t.Lanes, func(l Lane) bool { return l.Name == LaneOf(s.Lane) })
	if s.Lane == Middle {
		return r
	}
	switch s.Event {
	case Deliver:
		r.Arrow = FromMiddle
	case SQL, Send, Redis, Charge, Wait, CommitOffset, Transaction, Fault, Leak:
		r.Arrow = ToMiddle
	}
	return r
}

// isFault tells what was done to the submission from what it did.
func isFault(event string) bool {
	return event == Fault || event == Crash || event == Limit || event == Leak
}

// isAgain recognises a second delivery by the words that the grader writes for
// one, in scenarios with and without group membership.
func isAgain(s verdict.Step) bool {
	return s.Event == Deliver && strings.Contains(s.Text, " again")
}

func isLockWait(s verdict.Step) bool {
	return s.Event == Wait || s.Event == SQL && strings.Contains(s.Text, "SQLITE_BUSY")
}

// live draws the line of each process: from its first step, or its restart, to
// its death.
func (t *Timeline) live() {
	alive := make([]bool, len(t.Lanes))
	for i, l := range t.Lanes {
		alive[i] = l.Name == Middle
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		r.Lines = make([]Line, len(t.Lanes))
		for lane := range t.Lanes {
			r.Lines[lane].Before = alive[lane]
		}
		if t.Lanes[r.Lane].Name != Middle {
			alive[r.Lane] = r.Step.Event != Crash && r.Step.Event != Limit
		}
		for lane := range t.Lanes {
			r.Lines[lane].After = alive[lane]
		}
	}
}

// JSON writes the timeline of a trace as indented JSON, for programs.
func JSON(steps []verdict.Step) ([]byte, error) {
	b, err := json.MarshalIndent(NewTimeline(steps), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode timeline: %w", err)
	}
	return append(b, '\n'), nil
}
