package grader

import (
	"context"
	"slices"

	"redeliver/grader/schedule"
)

// twin finds the nearest schedule that passes, on the way from the failing one to
// the one without any fault: first one deviation less, then the last deviation
// elsewhere, then no fault at all. It returns the token and, for a sentence that
// begins with "It passes when", what is different.
func (x *explorer) twin(ctx context.Context, r *result) (token, when string, err error) {
	if x.replaying {
		return "", "", nil
	}
	s := r.schedule
	if len(s.Deviations) > 1 {
		for i := range slices.Backward(s.Deviations) {
			c := s
			c.Deviations = slices.Delete(slices.Clone(s.Deviations), i, i+1)
			if pass, err := x.passes(ctx, c); err != nil || pass {
				return x.sub.token(x.known[c.String()].schedule), without(r, s.Deviations[i]), err
			}
		}
	}
	if moved, ok := x.elsewhere(s); ok {
		when, err := x.elsewhereText(ctx, moved, s)
		return x.sub.token(moved), when, err
	}
	for _, c := range undisturbed(s) {
		if pass, err := x.passes(ctx, c); err != nil || pass {
			return x.sub.token(x.known[c.String()].schedule), undisturbedText(r, c), err
		}
	}
	return "", "", nil
}

// passes says that a schedule shows no failure, as far as is known.
func (x *explorer) passes(ctx context.Context, s schedule.Schedule) (bool, error) {
	k, ok, err := x.shows(ctx, s, maxShrinkRuns)
	return ok && k.passes(), err
}

// elsewhere is the known schedule that passes and differs from s only in where
// one deviation happens; the nearest, and of two the earlier.
func (x *explorer) elsewhere(s schedule.Schedule) (nearest schedule.Schedule, ok bool) {
	distance := schedule.MaxEffect
	for i, d := range s.Deviations {
		for at := max(0, d.At-maxApart); at <= d.At+maxApart; at++ {
			c := s
			c.Deviations = slices.Clone(s.Deviations)
			c.Deviations[i].At = at
			k, known := x.known[c.String()]
			if apart := max(at-d.At, d.At-at); known && k.passes() && apart < distance {
				nearest, ok, distance = k.schedule, true, apart
			}
		}
	}
	return nearest, ok
}

// maxApart is how far away a schedule still counts as near, in effects.
const maxApart = 64

// undisturbed lists the schedules without a fault that come nearest.
func undisturbed(s schedule.Schedule) []schedule.Schedule {
	plain := schedule.Schedule{Phase: schedule.HappyPath, Database: s.Database, Set: s.Set}
	one := plain
	one.Set = schedule.One
	switch s.Set {
	case schedule.Copy:
		protected := plain
		protected.Phase, protected.Set = schedule.ProducerDuplicate, schedule.CopyProtected
		return []schedule.Schedule{plain, protected, one}
	case schedule.Two:
		plain.Phase = schedule.TwoRecords
	case schedule.Copies:
		plain.Phase = schedule.Random
	case schedule.One, schedule.All, schedule.CopyProtected:
	}
	return []schedule.Schedule{plain, one}
}

func undisturbedText(r *result, passing schedule.Schedule) string {
	s := r.schedule
	switch {
	case passing.Set == schedule.CopyProtected:
		return "the producer is idempotent, so that its second attempt is not stored"
	case passing.Set != s.Set && len(s.Deviations) == 0:
		return "there is only one record"
	case len(s.Deviations) == 1:
		return without(r, s.Deviations[0])
	default:
		return "nothing fails and nobody comes in between"
	}
}

// without says that a deviation of a result does not happen, after "It passes
// when".
func without(r *result, d schedule.Deviation) string {
	call := "that call"
	if d.At < len(r.effects) {
		call = r.effects[d.At].label
	}
	switch d.Do {
	case schedule.Crash:
		return "the process does not die there"
	case schedule.Fail:
		return call + " does not fail"
	case schedule.Lose:
		return "the answer to " + call + " arrives"
	case schedule.Rebalance:
		return "the partition does not move"
	case schedule.Switch:
		return "the other instance does not come in between there"
	case schedule.JumpDay, schedule.JumpWeek, schedule.JumpExpiry:
		return "the time does not pass"
	case schedule.Rewind:
		return "the group is not put back"
	default:
		return "this does not happen to the group"
	}
}

// elsewhereText runs the passing schedule once more, for the candidate's lines at
// the place where its deviation happens.
func (x *explorer) elsewhereText(ctx context.Context, passing, failing schedule.Schedule) (string, error) {
	results, err := x.sub.runAll(ctx, urgent, []schedule.Schedule{passing}, options{positions: true})
	if err != nil {
		return "", err
	}
	r := results[0]
	i := 0
	for i < len(passing.Deviations)-1 && passing.Deviations[i] == failing.Deviations[i] {
		i++
	}
	d := passing.Deviations[i]
	if d.Do == schedule.Crash && len(passing.Deviations) == 1 && r.crash != nil {
		return "the process dies" + r.crash.place() + " instead", nil
	}
	if d.At >= len(r.effects) || passing.Phase == schedule.Cluster {
		return "it happens at another call of the handler", nil
	}
	label := r.effects[d.At].label
	switch d.Do {
	case schedule.Fail:
		return label + " fails instead", nil
	case schedule.Lose:
		return "the answer to " + label + " is lost instead", nil
	case schedule.Rebalance:
		if d.At > 0 {
			if before := lastLabelOf(r, "A", d.At); before != "" {
				return "the partition moves after " + before + " instead", nil
			}
		}
		return "the partition moves before the first call instead", nil
	case schedule.Switch:
		return "the other instance goes on " + between(r, d.At) + " instead", nil
	case schedule.Crash:
		return "the process dies before " + label + " instead", nil
	case schedule.JumpDay, schedule.JumpWeek, schedule.JumpExpiry:
		return "the time passes before " + label + " instead", nil
	default:
		return "it happens at another call of the handler", nil
	}
}

// lastLabelOf names the last of the effects before at that an instance performed.
func lastLabelOf(r *result, instance string, at int) string {
	for _, e := range slices.Backward(r.effects[:at]) {
		if e.instance == instance {
			return e.label
		}
	}
	return ""
}

// between says after which effect the instances change.
func between(r *result, at int) string {
	if at == 0 {
		return "before the first call"
	}
	return "after " + r.effects[at-1].label
}
