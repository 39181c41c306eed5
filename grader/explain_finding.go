package grader

import (
	"context"
	"fmt"

	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

// fingerprint tells findings apart. A handler that fails at every crash point
// after its COMMIT has one finding, not one for each point.
type fingerprint struct {
	kind      verdict.Kind
	invariant string
	class     string
}

// classOf groups schedules whose failures have one cause: a record that comes
// again because it was not committed comes again for whatever reason. What
// counts is what a schedule does, not which phase ran it.
func classOf(s schedule.Schedule) string {
	switch {
	case s.Jumps():
		return "time"
	case s.Has(schedule.Rebalance) || s.Set == schedule.Two || s.Phase == schedule.Cluster:
		return "concurrency"
	case s.Set == schedule.Copy || s.Set == schedule.Copies:
		return "copy"
	case len(s.Deviations) > 0:
		return "redelivery"
	default:
		return "undisturbed"
	}
}

func fingerprintOf(f failure, s schedule.Schedule) fingerprint {
	return fingerprint{f.kind, f.invariant, classOf(s)}
}

// retold is a story that a finding tells: another schedule that shows it too is
// no new finding.
type retold struct {
	kind      verdict.Kind
	invariant string
	name, key string
}

// storyOf groups the templates whose difference makes no other story: that
// nothing asks about a record is one, whoever handles it the second time.
func storyOf(f failure, s story) retold {
	name := s.name
	if name == "unguarded restart" {
		name = "unguarded"
	}
	return retold{f.kind, f.invariant, name, s.key}
}

// maxTries is how many schedules of one fingerprint are told before it counts as
// seen although each told a story that was known.
const maxTries = 3

// found is what the verdict's findings have in common.
type found struct {
	seen    map[fingerprint]bool
	tries   map[fingerprint]int
	stories map[retold]bool
	short   string              // cause of the first finding, for the summary
	known   map[string]knownRun // of the database under way
	outside int                 // schedules of which the model cannot tell
	runs    int                 // made for the sake of shorter and of passing schedules

	// For the comparison of databases: what each showed, which was looked at no
	// further than its happy path, and the findings, by token, of two instances.
	shown      map[shown]bool
	cutShort   map[string]bool
	concurrent map[string]bool
}

func newFound() found {
	return found{
		seen: map[fingerprint]bool{}, tries: map[fingerprint]int{}, stories: map[retold]bool{}, known: map[string]knownRun{},
		shown: map[shown]bool{}, cutShort: map[string]bool{}, concurrent: map[string]bool{},
	}
}

// add makes a finding of a failure, unless one like it is there already. What
// fails without any fault fails with each of them too, for the same reason.
func (x *explorer) add(ctx context.Context, phase string, r *result, f failure) error {
	if x.isSeen(f, r.schedule) || len(x.verdict.Findings) >= maxFindings {
		return nil
	}
	s, err := x.shrink(ctx, r.schedule, f)
	if err != nil {
		return err
	}
	print := fingerprintOf(f, s)
	if x.isSeen(f, s) {
		return nil
	}
	told, f, err := x.retell(ctx, r, s, f)
	if err != nil {
		return err
	}
	why := explain(told, f)
	if print.class != "undisturbed" && x.stories[storyOf(f, why)] && why.key != "" {
		x.tries[print]++
		x.seen[print] = x.tries[print] >= maxTries
		return nil
	}
	x.seen[print], x.stories[storyOf(f, why)] = true, true
	found := x.tell(phase, told, f, why)
	if found.PassingTwin, found.PassesWhen, err = x.twin(ctx, told); err != nil {
		return err
	}
	x.concurrent[found.Schedule] = print.class == "concurrency"
	x.verdict.Findings = append(x.verdict.Findings, found)
	if len(x.verdict.Findings) == 1 {
		x.short = why.short
		x.timer.firstResult()
		x.report(Progress{Stage: Exploring, Finding: &found})
	}
	return nil
}

// isSeen says that a finding like this one is there.
func (x *explorer) isSeen(f failure, s schedule.Schedule) bool {
	return x.seen[fingerprintOf(f, s)] || x.seen[fingerprintOf(f, schedule.Schedule{})]
}

// retell runs the schedule that a finding shows once more, with lines. Should the
// shorter one not fail any more, because finding lines takes time that the
// handler can see, the one that failed is shown.
func (x *explorer) retell(ctx context.Context, r *result, s schedule.Schedule, f failure) (*result, failure, error) {
	told, err := x.again(ctx, r, s)
	if err != nil {
		return nil, f, err
	}
	if same, ok := x.sameFailure(told, f); ok {
		return told, same, nil
	}
	if s.String() != r.schedule.String() {
		return x.retell(ctx, r, r.schedule, f)
	}
	if r.problem != nil && r.problem.wall {
		return r, f, nil
	}
	return nil, f, fmt.Errorf("schedule %q does not fail when it is run again", s)
}

// sameFailure finds in a result the failure that is like f; of several the one of
// the same object, or else the first.
func (x *explorer) sameFailure(r *result, f failure) (same failure, ok bool) {
	for _, g := range x.failures(r) {
		if g.kind != f.kind || g.invariant != f.invariant {
			continue
		}
		if g.object == f.object {
			return g, true
		}
		if !ok {
			same, ok = g, true
		}
	}
	return same, ok
}

// again runs a schedule once more, this time with the candidate's lines. When it
// is that of r, it must show the same, except for moments: to find the lines the
// guest reads its clock more often. That it does also proves that a schedule
// which the search for interleavings found can be written down.
func (x *explorer) again(ctx context.Context, r *result, s schedule.Schedule) (*result, error) {
	if r.positions && r.schedule.String() == s.String() {
		return r, nil
	}
	results, err := x.sub.runAll(ctx, urgent, []schedule.Schedule{s}, options{positions: true})
	if err != nil {
		return nil, err
	}
	told := results[0]
	if r.schedule.String() != s.String() || r.problem != nil && r.problem.wall {
		return told, nil
	}
	same := len(told.steps) == len(r.steps)
	for i := range min(len(told.steps), len(r.steps)) {
		same = same && told.steps[i].Lane == r.steps[i].Lane && told.steps[i].Event == r.steps[i].Event
	}
	if !same {
		return nil, fmt.Errorf("schedule %q shows something else when it is run again", s)
	}
	return told, nil
}
