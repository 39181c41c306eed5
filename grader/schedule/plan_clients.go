package schedule

import "math/rand/v2"

// planClients is Plan for submissions that make their Kafka clients themselves. What
// goes wrong in the middle of a batch needs several records, so faults that are over
// at once are planned over the set All; those in which minutes pass, over One.
func planClients(phase string, f Facts) (sets []Schedule, complete bool) {
	last, one := len(f.Effects)-1, f.OtherEffects-1
	complete = true
	switch phase {
	case HappyPath: // twice the same: it must give the same trace twice
		sets = []Schedule{on(All), on(All), on(One)}
	case Redelivery:
		if f.Commit < 0 {
			break // it commits by itself, at a time of its own
		}
		again := Deviation{f.Commit, Fail}
		sets = []Schedule{on(All, again), on(All, again, Deviation{f.Commit + 1, Crash})}
	case ProducerDuplicate:
		sets = []Schedule{on(Copy), on(CopyProtected)}
	case CrashPoints: // at once, and after a while in which the client went on by itself
		sets = each(0, last, func(at int) Schedule { return on(All, Deviation{at, Crash}) })
		sets = append(sets, each(1, one, func(at int) Schedule { return on(One, Deviation{at, Stall}, Deviation{at, Crash}) })...)
	case Zombie:
		sets = each(0, one, func(at int) Schedule { return on(One, Deviation{at, Rebalance}) })
	case TransientErrors:
		for at, e := range f.Effects {
			if !e.Sure {
				sets = append(sets, on(All, Deviation{at, Fail}))
			}
		}
	case LostReplies:
		for at, e := range f.Effects {
			if e.Durable {
				sets = append(sets, on(All, Deviation{at, Lose}))
			}
		}
	case Cluster:
		sets = append(each(0, one, func(at int) Schedule { return on(One, Deviation{at, Join}) }),
			each(1, one, func(at int) Schedule { return on(One, Deviation{at, Evicted}) })...)
		sets = append(sets, on(Two))
		sets = append(sets, each(1, one, func(at int) Schedule { return on(Two, Deviation{at, Crash}) })...)
	case DoubleCrash:
		for first := range max(one+1, 0) {
			for second := first + 1; second <= first+one; second++ {
				sets = append(sets, on(One, Deviation{first, Crash}, Deviation{second, Crash}))
			}
		}
		sets, complete = cut(sets)
	case Random:
		sets, complete = randomClients(f), false
	}
	return sets, complete
}

// randomClientSchedules is how many the random phase runs.
const randomClientSchedules = 12

// randomClients mixes up to three deviations over several records.
func randomClients(f Facts) []Schedule {
	r := rand.New(rand.NewPCG(f.Seed, 0x636c69656e7473)) //nolint:gosec // it must repeat
	var all []Schedule
	for range randomClientSchedules {
		s := on([]Set{All, Copies, Two}[r.IntN(3)])
		if f.NoCopies && s.Set == Copies || f.Called {
			s.Set = All
		}
		second := false
		for range 1 + r.IntN(3) {
			d := Deviation{r.IntN(len(f.Effects) + 1), []Action{Crash, Crash, Fail, Lose, Rebalance, Join, Stall}[r.IntN(7)]}
			if d.Do == Join && f.Called {
				d.Do = Stall
			}
			if d.Do == Rebalance || d.Do == Join {
				if second || s.Set == Two {
					d.Do = Stall
				}
				second = true
			}
			s = s.with(d)
		}
		all = append(all, s)
	}
	return all
}
