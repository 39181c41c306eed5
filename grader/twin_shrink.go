package grader

import (
	"context"
	"slices"

	"redeliver/grader/schedule"
)

// maxShrinkRuns bounds the runs that a grading makes for shorter schedules, and
// maxShrinkRunsEach those for one failure, so that the first ones leave some.
const (
	maxShrinkRuns     = 60
	maxShrinkRunsEach = 15
)

// knownRun is what a schedule showed.
type knownRun struct {
	schedule schedule.Schedule
	failures []failure
	outside  bool // the model cannot tell
}

func (k knownRun) passes() bool { return len(k.failures) == 0 && !k.outside }

// remember keeps what schedules showed, so that none runs twice.
func (x *explorer) remember(results []*result) {
	for _, r := range results {
		if _, ok := x.known[r.schedule.String()]; !ok {
			x.known[r.schedule.String()] = knownRun{r.schedule, x.failures(r), r.outside != ""}
		}
	}
}

// shows says what a schedule shows; it runs only when it never has and limit
// allows it, else ok is false.
func (x *explorer) shows(ctx context.Context, s schedule.Schedule, limit int) (k knownRun, ok bool, err error) {
	if k, ok := x.known[s.String()]; ok {
		return k, true, nil
	}
	if x.runs >= min(limit, maxShrinkRuns) {
		return knownRun{}, false, nil
	}
	x.runs++
	try := s
	try.Phase = schedule.Random // where a fault that does not come about is no error
	results, err := x.sub.runAll(ctx, urgent, []schedule.Schedule{try}, options{})
	if err != nil {
		return knownRun{}, false, err
	}
	x.remember(results) // in the phase that it ran in: its token must run again
	return x.known[s.String()], true, nil
}

// shrink deletes what a failure does not need, one thing at a time, until each
// deletion would make it go away. Phases that enumerate single faults need none.
func (x *explorer) shrink(ctx context.Context, s schedule.Schedule, f failure) (schedule.Schedule, error) {
	if x.replaying || !shrinks(s.Phase) {
		return s, nil
	}
	limit := x.runs + maxShrinkRunsEach
	shortest, complete := s, true
	for again := true; again; {
		again, complete = false, true
		for _, c := range x.smaller(shortest) {
			k, ok, err := x.shows(ctx, c, limit)
			if err != nil {
				return s, err
			}
			complete = complete && ok
			if ok && hasLike(k.failures, f, c.Set == shortest.Set) {
				shortest, again = c, true
				break
			}
		}
	}
	if !complete && len(shortest.Deviations) == 1 && len(s.Deviations) != 1 {
		return s, nil // it may be a fault that never came about
	}
	return shortest, nil
}

func shrinks(phase string) bool {
	return slices.Contains([]string{
		schedule.Interleavings, schedule.DoubleCrash, schedule.CrashAndInterleave, schedule.ClockJumps, schedule.RewindPhase, schedule.Random,
	}, phase)
}

// hasLike says that one of the failures is of the same kind and invariant, and
// of the same object when the records are the same.
func hasLike(all []failure, f failure, sameRecords bool) bool {
	return slices.ContainsFunc(all, func(g failure) bool {
		return g.kind == f.kind && g.invariant == f.invariant && (g.object == f.object || !sameRecords)
	})
}

// smaller lists the schedules that are one step shorter: fewer records, one
// deviation less, one switch less in another way of writing.
func (x *explorer) smaller(s schedule.Schedule) []schedule.Schedule {
	var all []schedule.Schedule
	for _, set := range smallerSets(s) {
		c := s
		c.Set = set
		if set == schedule.One {
			all = append(all, x.fromFirst(c))
		}
		all = append(all, c)
	}
	for i := range s.Deviations {
		c := s
		c.Deviations = slices.Delete(slices.Clone(s.Deviations), i, i+1)
		all = append(all, c)
	}
	if folded, ok := fold(s); ok {
		all = append(all, folded)
	}
	return append(all, x.onePlace(s)...)
}

// onePlace lists, for a schedule of several records and one deviation, the known
// schedules of one record with that deviation.
func (x *explorer) onePlace(s schedule.Schedule) []schedule.Schedule {
	if s.Set == schedule.One || s.Set == schedule.Two || len(s.Deviations) != 1 {
		return nil
	}
	var all []schedule.Schedule
	for at := range len(x.plans.Effects) + 2 {
		c := s
		c.Set, c.Deviations = schedule.One, []schedule.Deviation{{At: at, Do: s.Deviations[0].Do}}
		if _, ok := x.known[c.String()]; ok {
			all = append(all, c)
		}
	}
	return all
}

func smallerSets(s schedule.Schedule) []schedule.Set {
	switch {
	case s.Set == schedule.Copies:
		return []schedule.Set{schedule.One, schedule.Copy, schedule.All}
	case s.Set == schedule.Two && s.Has(schedule.Switch):
		return nil // one instance is left, which nobody can switch from
	case s.Set == schedule.All || s.Set == schedule.Two || s.Set == schedule.Copy:
		return []schedule.Set{schedule.One}
	default:
		return nil
	}
}

// fromFirst moves deviations at a later record to the same place of the first
// one, counted in the calls of an undisturbed record.
func (x *explorer) fromFirst(s schedule.Schedule) schedule.Schedule {
	own := len(x.plans.Effects)
	if own == 0 || len(s.Deviations) == 0 {
		return s
	}
	back := s.Deviations[0].At / own * own
	s.Deviations = slices.Clone(s.Deviations)
	for i := range s.Deviations {
		s.Deviations[i].At -= back
	}
	return s
}

// fold writes "the partition moves at once, A goes on to its effect k all the
// same" as "the partition moves before effect k".
func fold(s schedule.Schedule) (folded schedule.Schedule, ok bool) {
	d := s.Deviations
	if len(d) < 2 || d[0].Do != schedule.Rebalance || d[1].Do != schedule.Switch || d[1].At != d[0].At {
		return s, false
	}
	s.Deviations = nil
	if len(d) > 2 {
		if d[2].Do != schedule.Switch {
			return s, false
		}
		s.Deviations = append(s.Deviations, schedule.Deviation{At: d[2].At, Do: schedule.Rebalance})
		s.Deviations = append(s.Deviations, d[3:]...)
		return s, true
	}
	return s, false
}
