// Package schedule is what can happen to a consumer, as data: which records are
// in the log and where the run departs from "keep going, nothing fails". It
// runs nothing.
package schedule

import (
	"errors"
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
	All           Set = "all"             // every logical event once, in one partition
	Copy          Set = "copy"            // the first event, acknowledgement lost, idempotence off: twice in the log
	CopyProtected Set = "copy-idempotent" // the same with idempotence on: once in the log
	Two           Set = "two"             // the first two events, each in a partition of its own
	Copies        Set = "copies"          // every logical event, the first one twice
)

// Action is what a deviation does.
type Action string

// The actions. An effect is a call of the handler to the database, or the
// consumer's offset commit.
const (
	// Crash ends the process that is about to perform the effect. Between two
	// records it ends it after the last effect.
	Crash Action = "crash"
	// Fail answers the effect with an error; nothing is done. An offset commit
	// is refused by the broker, and the record comes again to the same process.
	Fail Action = "fail"
	// Lose performs the effect and answers with an error. It applies to what
	// outlasts a lost connection: COMMIT, a write outside a transaction, the
	// offset commit.
	Lose Action = "lose"
	// Rebalance moves the partition of the instance that is about to perform the
	// effect to another instance, which runs until it is done; then the first
	// one goes on and its offset commit is refused.
	Rebalance Action = "rebalance"
	// Switch lets the other instance go on.
	Switch Action = "switch"
	// JumpDay and JumpWeek move the clock by 25 hours and by 8 days: past a
	// retention of a day, and past the retention of a topic.
	JumpDay  Action = "jump-25h"
	JumpWeek Action = "jump-8d"
	// JumpExpiry moves the clock past the expiry of the keys that the handler has
	// set in Redis.
	JumpExpiry Action = "jump-expiry"
	// The scenarios of the phase cluster, played by real members of a group in
	// virtual time; At is the effect of A's first delivery, from 1, before which it
	// is paused. Package grader/cluster/members has the scripts.
	Evicted      Action = "evicted-while-processing"
	SessionEnds  Action = "session-timeout"
	FencedCommit Action = "fenced-commit"
	EagerMove    Action = "eager-rebalance"
	Cooperative  Action = "cooperative-rebalance"
	MemberCrash  Action = "crash-of-a-member"
	LostAnswer   Action = "lost-commit-answer"
	// Split makes the next poll take one record only: what comes again comes in
	// other batches than before. It does nothing where records come one by one.
	Split Action = "split"
	// Reassign takes the partitions of an instance with nothing in hand and gives
	// them back: it asks where to start.
	Reassign Action = "reassign"
	// Stall lets a process take ten seconds before an effect, and Join starts a second
	// instance meanwhile. They are for submissions that make their clients themselves:
	// those go on in the background.
	Stall Action = "stall"
	Join  Action = "join"
	// Rewind puts the group back to the first offset after everything has been
	// committed.
	Rewind Action = "rewind"
)

// actions in the order in which several at one effect happen.
func actions() []Action {
	return append([]Action{JumpDay, JumpWeek, JumpExpiry, Rewind, Reassign, Rebalance, Join, Stall, Crash, Split, Fail, Lose, Switch}, Scenarios()...)
}

// Scenarios are the actions of the phase cluster.
func Scenarios() []Action {
	return []Action{Evicted, SessionEnds, FencedCommit, EagerMove, Cooperative, MemberCrash, LostAnswer}
}

// Deviation is one departure. Effects are counted over the whole schedule, all
// instances together, from 0.
type Deviation struct {
	At int
	Do Action
}

func (d Deviation) compare(other Deviation) int {
	if d.At != other.At {
		return d.At - other.At
	}
	return slices.Index(actions(), d.Do) - slices.Index(actions(), other.Do)
}

// Schedule is a whole run. Deleting a deviation always leaves a schedule that
// can run.
type Schedule struct {
	Phase      string
	Database   string
	Set        Set
	Deviations []Deviation // in order, no two equal
}

// At lists the deviations at an effect, in order.
func (s Schedule) At(effect int) []Deviation {
	var at []Deviation
	for _, d := range s.Deviations {
		if d.At == effect {
			at = append(at, d)
		}
	}
	return at
}

// Jumps says whether time passes in the schedule.
func (s Schedule) Jumps() bool { return s.Has(JumpDay) || s.Has(JumpWeek) || s.Has(JumpExpiry) }

// Has says whether a deviation of that kind is in the schedule.
func (s Schedule) Has(do Action) bool {
	return slices.ContainsFunc(s.Deviations, func(d Deviation) bool { return d.Do == do })
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
	MaxDeviations = 64
)

// Parse reads the choices that String wrote.
func Parse(text string) (Schedule, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > MaxDeviations+1 {
		return Schedule{}, fmt.Errorf("parse schedule: %d parts", len(fields))
	}
	s := Schedule{Set: Set(fields[0])}
	if !slices.Contains([]Set{One, All, Copy, CopyProtected, Two, Copies}, s.Set) {
		return Schedule{}, fmt.Errorf("parse schedule: no set of records is called %q", fields[0])
	}
	for _, f := range fields[1:] {
		do, at, _ := strings.Cut(f, "@")
		n, err := strconv.Atoi(at)
		if err != nil || n < 0 || n > MaxEffect || !slices.Contains(actions(), Action(do)) {
			return Schedule{}, fmt.Errorf("parse schedule: %q is no deviation", f)
		}
		s.Deviations = append(s.Deviations, Deviation{n, Action(do)})
	}
	for i := 1; i < len(s.Deviations); i++ {
		if s.Deviations[i-1].compare(s.Deviations[i]) >= 0 {
			return Schedule{}, errors.New("parse schedule: the deviations are not in order")
		}
	}
	return s, nil
}
