// Package schedule is what can happen to a consumer, as data: which records are
// in the log and where the run departs from "keep going, nothing fails". It
// runs nothing.
package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Set names the records of a schedule: a cluster is made for each set once.
type Set string

// The sets.
const (
	One           Set = "one"             // the first logical event
	All           Set = "all"             // every logical event once
	Copy          Set = "copy"            // the first event, acknowledgement lost, idempotence off: twice in the log
	CopyProtected Set = "copy-idempotent" // the same with idempotence on: once in the log
)

// Action is what a deviation does.
type Action string

// The actions. They happen before effect number At of the run, or instead of it.
const (
	// Crash ends the process before the effect. At the number of effects of
	// the whole run it ends the process after the last one.
	Crash Action = "crash"
	// LoseCommit lets the effect, an offset commit, fail at the broker: nothing
	// is stored, the process lives on and reads from the committed offset.
	LoseCommit Action = "lose-commit"
)

// Deviation is one departure. Effects are counted over the whole schedule from
// 0: each SQL call, each BEGIN, COMMIT and ROLLBACK, each offset commit.
type Deviation struct {
	At int
	Do Action
}

// Schedule is a whole run. Deleting a deviation always leaves a schedule that
// can run.
type Schedule struct {
	Phase      string
	Database   string
	Set        Set
	Deviations []Deviation
}

// The phases of verdict.md that this package can plan.
const (
	HappyPath         = "happy-path"
	Redelivery        = "redelivery"
	ProducerDuplicate = "producer-duplicate"
	CrashPoints       = "crash-points"
)

// Phases in the order in which they run: cheapest first, so that the first
// failure of a kind is its shortest story.
func Phases() []string {
	return []string{HappyPath, Redelivery, ProducerDuplicate, CrashPoints}
}

// Plan lists the schedules of a phase for a handler whose run over the set One
// has effects effects, the last of them the offset commit. The happy path is
// the same schedule twice and must give the same trace twice.
func Plan(phase, database string, effects int) []Schedule {
	s := func(set Set, d ...Deviation) Schedule {
		return Schedule{Phase: phase, Database: database, Set: set, Deviations: d}
	}
	switch phase {
	case HappyPath:
		return []Schedule{s(One), s(One), s(All)}
	case Redelivery:
		last := effects - 1
		return []Schedule{
			s(One, Deviation{last, LoseCommit}),                             // to the same process
			s(One, Deviation{last, LoseCommit}, Deviation{last + 1, Crash}), // to a fresh one
		}
	case ProducerDuplicate:
		return []Schedule{s(Copy), s(CopyProtected)}
	case CrashPoints:
		var all []Schedule
		for at := range effects + 1 {
			all = append(all, s(One, Deviation{at, Crash}))
		}
		return all
	default:
		return nil
	}
}

// At returns the deviation at an effect, if there is one.
func (s Schedule) At(effect int) (Deviation, bool) {
	for _, d := range s.Deviations {
		if d.At == effect {
			return d, true
		}
	}
	return Deviation{}, false
}

// String writes the choices: "one crash@5". Parse reads it.
func (s Schedule) String() string {
	parts := []string{string(s.Set)}
	for _, d := range s.Deviations {
		parts = append(parts, string(d.Do)+"@"+strconv.Itoa(d.At))
	}
	return strings.Join(parts, " ")
}

// MaxEffect and MaxDeviations bound what a token may ask for.
const (
	MaxEffect     = 10_000
	MaxDeviations = 16
)

// Parse reads the choices that String wrote. Deviations are in order of At and
// no effect has two.
func Parse(text string) (Schedule, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > MaxDeviations+1 {
		return Schedule{}, fmt.Errorf("parse schedule: %d parts", len(fields))
	}
	s := Schedule{Set: Set(fields[0])}
	if !slices.Contains([]Set{One, All, Copy, CopyProtected}, s.Set) {
		return Schedule{}, fmt.Errorf("parse schedule: no set of records is called %q", fields[0])
	}
	for _, f := range fields[1:] {
		do, at, _ := strings.Cut(f, "@")
		n, err := strconv.Atoi(at)
		if err != nil || n < 0 || n > MaxEffect || !slices.Contains([]Action{Crash, LoseCommit}, Action(do)) {
			return Schedule{}, fmt.Errorf("parse schedule: %q is no deviation", f)
		}
		s.Deviations = append(s.Deviations, Deviation{n, Action(do)})
	}
	byEffect := func(a, b Deviation) int { return cmp.Compare(a.At, b.At) }
	if !slices.IsSortedFunc(s.Deviations, byEffect) ||
		len(slices.CompactFunc(slices.Clone(s.Deviations), func(a, b Deviation) bool { return a.At == b.At })) != len(s.Deviations) {
		return Schedule{}, fmt.Errorf("parse schedule: the deviations are not in order")
	}
	return s, nil
}
