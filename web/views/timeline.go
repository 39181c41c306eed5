package views

import (
	"fmt"
	"strconv"
	"strings"

	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// Timeline is the model of a trace as a picture, a table and files.
type Timeline struct {
	Lanes  []string // names; trace.Middle stands for Kafka and the database
	Blocks []TimelineBlock
	// Run is the replay token of the schedule, Twin that of the nearest one that
	// passes; empty without.
	Run  string
	Twin string
}

// TimelineBlock is one row, or rows that are folded into one.
type TimelineBlock struct {
	Folded bool
	Text   string // "3 steps of A", when folded
	Lines  []trace.Line
	Rows   []TimelineRow
}

// TimelineRow is one step of a trace.
type TimelineRow struct {
	trace.Row
	Link SourceLink
}

// timeline lays out a trace. Links lead into source.
func (t *text) timeline(steps []verdict.Step, source Source) Timeline {
	laid := trace.NewTimeline(steps)
	var tl Timeline
	for _, l := range laid.Lanes {
		tl.Lanes = append(tl.Lanes, l.Name)
	}
	for _, b := range laid.Blocks() {
		block := TimelineBlock{Folded: b.Folded}
		for _, r := range b.Rows {
			block.Rows = append(block.Rows, TimelineRow{Row: r, Link: source.Link(r.Step.File, r.Step.Line)})
		}
		if b.Folded {
			block.Text = t.count("timeline.folded", len(b.Rows), "Name", b.Rows[0].Step.Lane)
			block.Lines = around(b.Rows)
		}
		tl.Blocks = append(tl.Blocks, block)
	}
	return tl
}

// around is the lines of a fold: as they come in and as they go out.
func around(rows []trace.Row) []trace.Line {
	first, last := rows[0].Lines, rows[len(rows)-1].Lines
	lines := make([]trace.Line, len(first))
	for i := range lines {
		lines[i] = trace.Line{Before: first[i].Before, After: last[i].After}
	}
	return lines
}

// Rows lists all rows, folded or not.
func (tl Timeline) Rows() (rows []TimelineRow) {
	for _, b := range tl.Blocks {
		rows = append(rows, b.Rows...)
	}
	return rows
}

// middle is the index of the lane of Kafka and the database.
func (tl Timeline) middle() int {
	for i, name := range tl.Lanes {
		if name == trace.Middle {
			return i
		}
	}
	return 0
}

// The picture has no fixed width: places across it are parts of it, places down
// it are pixels. So it needs neither a script nor a style of its own to fit.

// laneX is where a lane stands.
func (tl Timeline) laneX(lane int) string {
	return fmt.Sprintf("%.4g%%", (float64(lane)+0.5)*100/float64(len(tl.Lanes)))
}

// headY is where the sign of a step stands: beside the first line of its text.
const headY = "18"

// Shapes around their own point, as paths.
const (
	shapeRight      = "M-9 -5 L-1 0 L-9 5"
	shapeLeft       = "M9 -5 L1 0 L9 5"
	shapeRightOfDot = "M-15 -5 L-7 0 L-15 5"
	shapeLeftOfDot  = "M15 -5 L7 0 L15 5"
	shapeCross      = "M-7 -7 L7 7 M7 -7 L-7 7"
	shapeDiamond    = "M0 -8 L8 0 L0 8 L-8 0 Z"
	shapeFlash      = "M2 -9 L-6 2 L-1 2 L-3 9 L6 -3 L1 -3 Z"
)

// tip is the tip of an arrow from one lane to another. An arrow from the middle
// ends before the dot of the step.
func tip(from, to int, a trace.Arrow) string {
	switch {
	case a == trace.FromMiddle && from < to:
		return shapeRightOfDot
	case a == trace.FromMiddle:
		return shapeLeftOfDot
	case from < to:
		return shapeRight
	default:
		return shapeLeft
	}
}

// sign is the shape that marks what a step is, and its class; no shape for an
// ordinary step, which is a dot.
func sign(r TimelineRow) (shape, class string) {
	switch {
	case r.Step.Event == trace.Crash:
		return shapeCross, "tl-crash"
	case r.Fault:
		return shapeFlash, "tl-flash"
	case r.Step.Decisive:
		return shapeDiamond, "tl-diamond"
	default:
		return "", "tl-dot"
	}
}

func signShape(r TimelineRow) string { shape, _ := sign(r); return shape }

func signClass(r TimelineRow) string { _, class := sign(r); return class }

// laneClass gives each instance a colour; the middle has none.
func (tl Timeline) laneClass(lane int) string {
	if tl.Lanes[lane] == trace.Middle {
		return "tl-middle"
	}
	if lane > tl.middle() {
		lane-- // the middle is no instance
	}
	return "tl-lane-" + strconv.Itoa(lane%3)
}

// startsLife says that a process begins in a step which is not the lane's first.
func (r TimelineRow) startsLife() bool {
	// The first process of a lane is called like the lane, which the head says.
	return r.Step.Event == trace.Restart && trace.LaneOf(r.Step.Lane) != r.Step.Lane
}

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
