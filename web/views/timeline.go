package views

import (
	"slices"
	"strings"

	"redeliver/grader/verdict"
)

// Timeline is a trace laid out in lanes: the first instance, then Kafka and the
// database, then the other instances.
type Timeline struct {
	Lanes []string // names of the lanes; middleLane stands for Kafka and the database
	Rows  []TimelineRow
}

// middleLane is the lane of what is no instance.
const middleLane = ""

// TimelineRow is one step of a trace.
type TimelineRow struct {
	verdict.Step
	Lane string // the name in Timeline.Lanes
	// Process is the name of the process if it is not the lane's first: "A2" is
	// what runs in lane A after a crash.
	Process string
	Fault   bool
	Link    SourceLink
}

// NewTimeline lays out a trace. Links lead into source.
func NewTimeline(trace []verdict.Step, source Source) Timeline {
	var tl Timeline
	var instances []string
	for _, step := range trace {
		lane := laneOf(step.Lane)
		if lane != middleLane && !slices.Contains(instances, lane) {
			instances = append(instances, lane)
		}
		row := TimelineRow{Step: step, Lane: lane, Fault: isFault(step.Event), Link: source.Link(step.File, step.Line)}
		if step.Lane != lane {
			row.Process = step.Lane
		}
		tl.Rows = append(tl.Rows, row)
	}
	slices.Sort(instances)
	tl.Lanes = slices.Insert(instances, min(1, len(instances)), middleLane)
	return tl
}

// laneOf takes the number from the name of a process: A2 runs where A ran.
func laneOf(process string) string { return strings.TrimRight(process, "0123456789") }

// isFault tells what the grader did to the process or to Kafka from what the
// submission did.
func isFault(event string) bool { return event == "crash" || event == "fault" || event == "limit" }

// rowClass tells an added row difference from a removed and a changed one.
func rowClass(difference string) string {
	switch {
	case strings.HasPrefix(difference, "+"):
		return "added"
	case strings.HasPrefix(difference, "-"), strings.HasPrefix(difference, "−"):
		return "removed"
	default:
		return "changed"
	}
}
