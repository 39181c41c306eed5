package schedule

import (
	"math/rand/v2"
	"slices"
)

// The phases of verdict.md, in order.
const (
	HappyPath          = "happy-path"
	Redelivery         = "redelivery"
	ProducerDuplicate  = "producer-duplicate"
	CrashPoints        = "crash-points"
	Zombie             = "zombie"
	TransientErrors    = "transient-errors"
	LostReplies        = "lost-replies"
	TwoRecords         = "two-records"
	Interleavings      = "interleavings"
	DoubleCrash        = "double-crash"
	CrashAndInterleave = "crash-and-interleave"
	ClockJumps         = "clock-jumps"
	RewindPhase        = "rewind"
	Cluster            = "cluster"
	Random             = "random"
)

// Phases in the order in which they run: cheapest first, so that the first
// failure of a kind is its shortest story.
func Phases() []string {
	return []string{
		HappyPath, Redelivery, ProducerDuplicate, CrashPoints, Zombie, TransientErrors, LostReplies, TwoRecords,
		Interleavings, DoubleCrash, CrashAndInterleave, ClockJumps, RewindPhase, Cluster, Random,
	}
}

// Facts are what plans are made from: what earlier runs of this handler showed.
type Facts struct {
	// Effects of the run over the set One without deviations, the last of them
	// the offset commit. Durable ones can lose their reply.
	Effects []Effect
	// AllEffects is how many effects the run over the set All had.
	AllEffects int
	// Others are the effects of that run behind those of the first record, when
	// the records are of more than one kind: what the handler does with a record
	// that it cannot decode is not seen in a run with a good one. Empty when all
	// records are alike.
	Others []Effect
	// Seed of the random phase.
	Seed uint64
	// AfterCrash says for each crash point, in order, what the run showed.
	AfterCrash []Aftermath
	// AfterRebalance says for each zombie schedule, in order, how many effects
	// the run had in all.
	AfterRebalance []int
}

// Effect is one effect of a run.
type Effect struct{ Durable bool }

// Aftermath is a run with one crash: what was durable at the crash, and how many
// effects the whole run had.
type Aftermath struct {
	State   [32]byte
	Effects int
}

// Plan lists the schedules of a phase, except those of Interleavings, which are
// found one by one, see dpor.go. complete says that the plan covers what the
// phase promises; false means sampled.
func Plan(phase, database string, f Facts) (plan []Schedule, complete bool) {
	last := len(f.Effects) - 1
	var sets []Schedule
	complete = true
	switch phase {
	case HappyPath: // twice the same: it must give the same trace twice
		sets = []Schedule{on(One), on(One), on(All)}
	case Redelivery: // to the same process, to a fresh one
		sets = []Schedule{on(One, Deviation{last, Fail}), on(One, Deviation{last, Fail}, Deviation{last + 1, Crash})}
	case ProducerDuplicate:
		sets = []Schedule{on(Copy), on(CopyProtected)}
	case CrashPoints:
		sets = append(each(0, last+1, func(at int) Schedule { return on(One, Deviation{at, Crash}) }), f.others(Crash)...)
	case Zombie:
		sets = each(0, last, func(at int) Schedule { return on(One, Deviation{at, Rebalance}) })
	case TransientErrors:
		sets = append(each(0, last, func(at int) Schedule { return on(One, Deviation{at, Fail}) }), f.others(Fail)...)
	case LostReplies:
		for at, e := range f.Effects {
			if e.Durable {
				sets = append(sets, on(One, Deviation{at, Lose}))
			}
		}
		sets = append(sets, f.others(Lose)...)
	case TwoRecords: // one preemption
		sets = append([]Schedule{on(Two)}, each(1, last, func(at int) Schedule { return on(Two, Deviation{at, Switch}) })...)
	case DoubleCrash:
		sets, complete = doubleCrashes(f)
	case CrashAndInterleave:
		sets, complete = crashesBesideZombies(f)
	case ClockJumps:
		sets = clockJumps(last)
	case RewindPhase:
		sets = []Schedule{
			on(One, Deviation{last + 1, Rewind}),
			on(One, Deviation{last + 1, JumpDay}, Deviation{last + 1, Rewind}),
			on(One, Deviation{last + 1, JumpWeek}, Deviation{last + 1, Rewind}),
			on(All, Deviation{f.AllEffects, Rewind}),
		}
	case Cluster: // paused before its first and before its last call
		for _, scenario := range Scenarios() {
			sets = append(sets, on(All, Deviation{max(last, 1), scenario}))
			if scenario == Evicted || scenario == SessionEnds {
				sets = append(sets, on(All, Deviation{1, scenario}))
			}
		}
	case Random:
		sets, complete = random(f), false
	}
	for i := range sets {
		sets[i].Phase, sets[i].Database = phase, database
	}
	return sets, complete
}

func on(set Set, d ...Deviation) Schedule { return Schedule{Set: set, Deviations: d} }

func each(from, to int, f func(at int) Schedule) []Schedule {
	var all []Schedule
	for at := from; at <= to; at++ {
		all = append(all, f(at))
	}
	return all
}

// others does something at each effect of the records behind the first one. Only
// a durable effect has an answer to lose.
func (f Facts) others(do Action) (all []Schedule) {
	for i, e := range f.Others {
		if do != Lose || e.Durable {
			all = append(all, on(All, Deviation{len(f.Effects) + i, do}))
		}
	}
	return all
}

// maxCombined bounds the schedules of the phases with two faults.
const maxCombined = 24

// doubleCrashes crashes the recovery at each of its points, once for each
// distinct durable state after the first crash: equal states have equal futures,
// because only a fresh process follows.
func doubleCrashes(f Facts) (all []Schedule, complete bool) {
	seen := map[[32]byte]bool{}
	for at, a := range f.AfterCrash {
		if seen[a.State] {
			continue
		}
		seen[a.State] = true
		for second := at + 1; second < a.Effects; second++ {
			all = append(all, on(One, Deviation{at, Crash}, Deviation{second, Crash}))
		}
	}
	return cut(all)
}

// crashesBesideZombies crashes the second instance while the first is paused;
// then either the next process goes on, or the paused one.
func crashesBesideZombies(f Facts) (all []Schedule, complete bool) {
	own := len(f.Effects)
	for at, total := range f.AfterRebalance {
		for second := at + 1; second < at+max(total-own, 0)+1; second++ {
			all = append(all,
				on(One, Deviation{at, Rebalance}, Deviation{second, Crash}),
				on(One, Deviation{at, Rebalance}, Deviation{second, Crash}, Deviation{second, Switch}))
		}
	}
	return cut(all)
}

// cut keeps maxCombined schedules, spread evenly over all.
func cut(all []Schedule) (kept []Schedule, complete bool) {
	if len(all) <= maxCombined {
		return all, true
	}
	for i := range maxCombined {
		kept = append(kept, all[i*len(all)/maxCombined])
	}
	return kept, false
}

// clockJumps lets time pass where a record comes again, and between any two
// effects.
func clockJumps(last int) []Schedule {
	var all []Schedule
	for _, jump := range []Action{JumpDay, JumpWeek} {
		all = append(all,
			on(One, Deviation{last, Fail}, Deviation{last + 1, jump}),
			on(Copy, Deviation{last + 1, jump}))
	}
	// An attempt that came to nothing, and the next one a day later.
	all = append(all, on(One, Deviation{max(last-1, 0), JumpDay}, Deviation{max(last-1, 0), Crash}))
	return append(all, each(1, last, func(at int) Schedule { return on(One, Deviation{at, JumpWeek}) })...)
}

// randomSchedules is how many the random phase runs.
const randomSchedules = 24

// random mixes up to three deviations over several records. It is a net below
// the phases that enumerate.
func random(f Facts) []Schedule {
	r := rand.New(rand.NewPCG(f.Seed, 0x72616e646f6d)) //nolint:gosec // it must repeat
	own := len(f.Effects)
	var all []Schedule
	for range randomSchedules {
		s := on([]Set{All, Copies, Copies, Two}[r.IntN(4)])
		for range 1 + r.IntN(3) {
			d := Deviation{r.IntN(3 * own), []Action{Crash, Crash, Fail, Lose, Rebalance, Switch, JumpDay}[r.IntN(7)]}
			if d.Do == Rebalance && (s.Set == Two || s.Has(Rebalance)) {
				d.Do = Switch
			}
			if !slices.Contains(s.Deviations, d) {
				s.Deviations = append(s.Deviations, d)
			}
		}
		slices.SortFunc(s.Deviations, Deviation.compare)
		all = append(all, s)
	}
	return all
}
