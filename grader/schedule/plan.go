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

// Facts are what plans are made from: what is known of the exercise, and what
// earlier runs of this handler showed.
type Facts struct {
	// Batches says that several records of a partition come at once: phases with
	// one fault then run over the set All instead of One.
	Batches bool
	// OwnOffsets says that nobody commits to Kafka.
	OwnOffsets bool
	// Clients says that the submission makes its Kafka clients itself.
	Clients bool
	// Called says that it consumes nothing: an event is a call, and nobody shares the
	// work.
	Called bool
	// NoCopies says that a producer's copy counts as a new record, because
	// nothing in it could tell.
	NoCopies bool
	// Effects of the run over Base without deviations. Durable ones can lose
	// their reply.
	Effects []Effect
	// Commit is the place of the first offset commit among Effects; -1 without.
	Commit int
	// OtherEffects and OtherCommit are the same, their number only, of the last
	// run of the happy path: over the set All, and over One for batches.
	OtherEffects, OtherCommit int
	// Others are the effects of that run behind those of the first record, when
	// the records are of more than one kind: what the handler does with a record
	// that it cannot decode is not seen in a run with a good one. Empty when all
	// records are alike.
	Others []Effect
	// Expires says that the handler sets keys in Redis that expire while a record
	// can still come again.
	Expires bool
	// Seed of the random phase.
	Seed uint64
	// AfterCrash says for each crash point, in order, what the run showed.
	AfterCrash []Aftermath
	// AfterRebalance says for each zombie schedule, in order, how many effects
	// the run had in all.
	AfterRebalance []int
}

// Effect is one effect of a run.
type Effect struct {
	Durable bool
	Sure    bool // nothing can answer it with an error
}

// Aftermath is a run with one crash: what was durable at the crash, and how many
// effects the whole run had.
type Aftermath struct {
	State   [32]byte
	Effects int
}

// Base is the set over which the phases with one fault run.
func (f Facts) Base() Set {
	if f.Batches {
		return All
	}
	return One
}

// Plan lists the schedules of a phase, except those of Interleavings, which are
// found one by one, see dpor.go. complete says that the plan covers what the
// phase promises; false means sampled.
func Plan(phase, database string, f Facts) (plan []Schedule, complete bool) {
	last, base := len(f.Effects)-1, f.Base()
	var sets []Schedule
	complete = true
	if f.Clients {
		sets, complete = planClients(phase, f)
		return named(sets, phase, database), complete
	}
	switch phase {
	case HappyPath: // twice the same: it must give the same trace twice
		other := All
		if f.Batches {
			other = One
		}
		sets = []Schedule{on(base), on(base), on(other)}
	case Redelivery:
		sets = redeliveries(f)
	case ProducerDuplicate:
		sets = []Schedule{on(Copy), on(CopyProtected)}
	case CrashPoints:
		sets = each(0, last+1, func(at int) Schedule { return on(base, Deviation{at, Crash}) })
		if f.Batches { // and what comes again comes in other batches
			sets = append(sets, each(0, last, func(at int) Schedule { return on(base, Deviation{at, Crash}, Deviation{at, Split}) })...)
		}
		sets = append(sets, f.others(Crash)...)
	case Zombie:
		sets = each(0, last, func(at int) Schedule { return on(base, Deviation{at, Rebalance}) })
	case TransientErrors:
		sets = append(each(0, last, func(at int) Schedule { return on(base, Deviation{at, Fail}) }), f.others(Fail)...)
	case LostReplies:
		for at, e := range f.Effects {
			if e.Durable {
				sets = append(sets, on(base, Deviation{at, Lose}))
			}
		}
		sets = append(sets, f.others(Lose)...)
	case TwoRecords: // one preemption
		sets = append([]Schedule{on(Two)}, each(1, f.ofOne()-1, func(at int) Schedule { return on(Two, Deviation{at, Switch}) })...)
	case DoubleCrash:
		sets, complete = doubleCrashes(f)
	case CrashAndInterleave:
		sets, complete = crashesBesideZombies(f)
	case ClockJumps:
		sets = clockJumps(f)
	case RewindPhase:
		sets = []Schedule{
			on(base, Deviation{last + 1, Rewind}),
			on(base, Deviation{last + 1, JumpDay}, Deviation{last + 1, Rewind}),
			on(base, Deviation{last + 1, JumpWeek}, Deviation{last + 1, Rewind}),
		}
		if !f.Batches {
			sets = append(sets, on(All, Deviation{f.OtherEffects, Rewind}))
		}
	case Cluster: // paused before its first and before its last call
		for _, scenario := range Scenarios() {
			sets = append(sets, on(All, Deviation{max(f.ofOne()-1, 1), scenario}))
			if scenario == Evicted || scenario == SessionEnds {
				sets = append(sets, on(All, Deviation{1, scenario}))
			}
		}
	case Random:
		sets, complete = random(f), false
	}
	return named(sets, phase, database), complete
}

func named(sets []Schedule, phase, database string) []Schedule {
	for i := range sets {
		sets[i].Phase, sets[i].Database = phase, database
	}
	return sets
}

// ofOne is the number of effects of a run over One.
func (f Facts) ofOne() int {
	if f.Batches {
		return f.OtherEffects
	}
	return len(f.Effects)
}

// redeliveries lets records come again to the same process and to a fresh one.
func redeliveries(f Facts) []Schedule {
	last, base := len(f.Effects)-1, f.Base()
	if f.OwnOffsets {
		return []Schedule{on(base, Deviation{last + 1, Reassign}), on(base, Deviation{last + 1, Crash})}
	}
	again := Deviation{f.Commit, Fail}
	sets := []Schedule{on(base, again), on(base, again, Deviation{f.Commit + 1, Crash})}
	if f.Batches { // in smaller batches, and in a larger one than at first
		sets = append(sets, on(base, again, Deviation{f.Commit + 1, Split}), on(base, Deviation{0, Split}, Deviation{f.OtherCommit, Fail}))
	}
	return sets
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
			all = append(all, on(f.Base(), Deviation{at, Crash}, Deviation{second, Crash}))
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
				on(f.Base(), Deviation{at, Rebalance}, Deviation{second, Crash}),
				on(f.Base(), Deviation{at, Rebalance}, Deviation{second, Crash}, Deviation{second, Switch}))
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
// effects. Where keys expire, it lets an instance stand still for as long while
// another one takes its partition: a lease ends before the work does.
func clockJumps(f Facts) []Schedule {
	last, base := len(f.Effects)-1, f.Base()
	var all []Schedule
	jumps := []Action{JumpDay, JumpWeek}
	if f.Expires {
		jumps = []Action{JumpExpiry, JumpDay, JumpWeek}
	}
	for _, jump := range jumps {
		if f.OwnOffsets {
			all = append(all, on(base, Deviation{last + 1, jump}, Deviation{last + 1, Crash}))
		} else {
			all = append(all, on(base, Deviation{f.Commit, Fail}, Deviation{f.Commit + 1, jump}))
		}
		if !f.NoCopies {
			all = append(all, on(Copy, Deviation{f.ofOne(), jump}))
		}
	}
	// An attempt that came to nothing, and the next one a day later.
	before := max(last-1, 0)
	all = append(all, on(base, Deviation{before, JumpDay}, Deviation{before, Crash}))
	if f.Expires {
		all = append(all, on(base, Deviation{before, JumpExpiry}, Deviation{before, Crash}))
		all = append(all, each(1, last, func(at int) Schedule {
			return on(base, Deviation{at, JumpExpiry}, Deviation{at, Rebalance})
		})...)
	}
	return append(all, each(1, last, func(at int) Schedule { return on(base, Deviation{at, JumpWeek}) })...)
}

// randomSchedules is how many the random phase runs.
const randomSchedules = 24

// random mixes up to three deviations over several records. It is a net below
// the phases that enumerate.
func random(f Facts) []Schedule {
	r := rand.New(rand.NewPCG(f.Seed, 0x72616e646f6d)) //nolint:gosec // it must repeat
	own := f.ofOne()
	var all []Schedule
	for range randomSchedules {
		s := on([]Set{All, Copies, Copies, Two}[r.IntN(4)])
		if f.NoCopies && s.Set == Copies {
			s.Set = All
		}
		for range 1 + r.IntN(3) {
			d := Deviation{r.IntN(3 * own), []Action{Crash, Crash, Fail, Lose, Rebalance, Switch, JumpDay}[r.IntN(7)]}
			if d.Do == Rebalance && (s.Set == Two || s.Has(Rebalance)) {
				d.Do = Switch
			}
			s = s.with(d)
		}
		all = append(all, s)
	}
	return all
}

// with adds a deviation, in its place, unless it is there.
func (s Schedule) with(d Deviation) Schedule {
	if !slices.Contains(s.Deviations, d) {
		s.Deviations = append(slices.Clone(s.Deviations), d)
		slices.SortFunc(s.Deviations, Deviation.compare)
	}
	return s
}
