package grader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"redeliver/grader/schedule"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// maxFindings bounds how many findings a verdict lists.
const maxFindings = 10

// explorer runs the phases of one grading and collects what they show.
type explorer struct {
	sub     *submission
	verdict *verdict.Verdict
	timer   *timer
	report  func(Progress)

	seen map[fingerprint]bool
}

// fingerprint tells findings apart. A handler that fails at every crash point
// after its COMMIT has one finding, not one for each point.
type fingerprint struct {
	kind      verdict.Kind
	invariant string
	class     string
}

// classOf groups phases whose failures have one cause: a record that comes again
// because it was not committed comes again for whatever reason.
func classOf(phase string) string {
	switch phase {
	case schedule.Redelivery, schedule.CrashPoints:
		return "redelivery"
	default:
		return phase
	}
}

// explore runs every phase to its end, also after a failure, so that the verdict
// lists each distinct one. Only a handler that does not get through one record
// undisturbed is not looked at further: every schedule would end the same way.
func (x *explorer) explore(ctx context.Context) error {
	x.seen = map[fingerprint]bool{}
	hash := trace.NewHash()
	effects := 0
	for _, phase := range x.phases() {
		results, err := x.runPhase(ctx, phase, effects)
		if err != nil {
			return err
		}
		for _, r := range results {
			addTo(hash, phase, r)
		}
		if phase == schedule.HappyPath {
			effects = len(results[0].effects)
			x.verdict.Stdout, x.verdict.Stderr = string(results[0].stdout), string(results[0].stderr)
			if len(results) > 1 {
				if why := notReproducible(results[0], results[1]); why != "" {
					x.verdict.Outcome, x.verdict.Summary = verdict.Inconclusive, why
					return nil
				}
			}
		}
		x.collect(phase, results)
		if phase == schedule.HappyPath && results[0].problem != nil {
			break
		}
	}
	x.verdict.TraceHash = hash.String()
	x.conclude()
	return nil
}

// runPhase runs the schedules of a phase. The happy path begins alone: when the
// handler does not get through one record undisturbed, all else ends likewise.
func (x *explorer) runPhase(ctx context.Context, phase string, effects int) ([]*result, error) {
	plan := schedule.Plan(phase, x.database(), effects)
	if phase != schedule.HappyPath {
		return x.runAll(ctx, plan)
	}
	first, err := x.runAll(ctx, plan[:1])
	if err != nil || first[0].problem != nil {
		return first, err
	}
	rest, err := x.runAll(ctx, plan[1:])
	return append(first, rest...), err
}

// phases are those that the exercise asks for, in the order of the contract. The
// happy path is always there: the others are planned from it.
func (x *explorer) phases() []string {
	return slices.DeleteFunc(schedule.Phases(), func(p string) bool {
		return p != schedule.HappyPath && x.sub.exercise.Phases != nil && !slices.Contains(x.sub.exercise.Phases, p)
	})
}

func (x *explorer) database() string {
	if len(x.sub.exercise.Databases) > 0 {
		return x.sub.exercise.Databases[0]
	}
	return "sqlite"
}

// addTo takes a result into the verdict's hash. Where a limit of real time cut
// a run off is chance; that it did is not.
func addTo(hash *trace.Hash, phase string, r *result) {
	steps := r.steps
	if r.problem != nil && r.problem.wall {
		steps = []verdict.Step{{Event: trace.Limit, Text: r.problem.text}}
	}
	hash.Add(phase+" "+r.schedule.String(), steps)
}

// notReproducible compares two runs of one schedule.
func notReproducible(a, b *result) string {
	if a.problem != nil && b.problem != nil && a.problem.wall && b.problem.wall {
		return ""
	}
	for i := range max(len(a.steps), len(b.steps)) {
		if i >= len(a.steps) || i >= len(b.steps) || !sameStep(a.steps[i], b.steps[i]) {
			return fmt.Sprintf("The same schedule, run twice, gave two different traces (step %d). Nothing can be concluded from that; the grading will be repeated.", i+1)
		}
	}
	return ""
}

func sameStep(a, b verdict.Step) bool {
	return a.Lane == b.Lane && a.Event == b.Event && a.Text == b.Text && a.Line == b.Line && slices.Equal(a.Rows, b.Rows)
}

// runAll runs schedules on the workers and returns the results in the order of
// the schedules, whichever ended first.
func (x *explorer) runAll(ctx context.Context, plan []schedule.Schedule) ([]*result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]*result, len(plan))
	errs := make([]error, max(1, min(x.sub.cfg.Workers, len(plan))))
	next := make(chan int, len(plan))
	for i := range plan {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for n := range errs {
		wg.Go(func() {
			errs[n] = x.work(ctx, n, plan, results, next)
			if errs[n] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	return results, errors.Join(errs...)
}

// work runs schedules in world number n until there are no more.
func (x *explorer) work(ctx context.Context, n int, plan []schedule.Schedule, results []*result, next <-chan int) error {
	w, err := x.sub.world(ctx, n)
	if err != nil {
		return err
	}
	for i := range next {
		if results[i], err = w.run(ctx, plan[i]); err != nil {
			return err
		}
		if p := results[i].problem; p != nil && p.wall {
			// A limit of real time on a busy machine: believed when it repeats.
			if results[i], err = w.run(ctx, plan[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// world returns worker n's world, made on first use. Workers ask for different n.
func (s *submission) world(ctx context.Context, n int) (*world, error) {
	s.mu.Lock()
	for len(s.worlds) <= n {
		s.worlds = append(s.worlds, nil)
	}
	w := s.worlds[n]
	s.mu.Unlock()
	if w != nil {
		return w, nil
	}
	w, err := newWorld(ctx, s)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.worlds[n] = w
	s.mu.Unlock()
	return w, nil
}

// collect takes a phase's results into the verdict.
func (x *explorer) collect(phase string, results []*result) {
	c := verdict.Coverage{Phase: phase, Schedules: len(results), Complete: true}
	for _, r := range results {
		failures := x.failures(r)
		if len(failures) > 0 {
			c.Failed++
		}
		for _, f := range failures {
			x.add(phase, r, f, results)
		}
	}
	x.verdict.Schedules += len(results)
	x.verdict.Coverage = append(x.verdict.Coverage, c)
	x.report(Progress{Stage: Exploring, Coverage: &c})
}

// failure is one thing that a schedule showed, before it is told.
type failure struct {
	kind      verdict.Kind
	invariant string
	object    string
	field     string // of events.yaml, whose value the object is
	message   string
	file      string
	line      int
}

func (x *explorer) failures(r *result) []failure {
	if p := r.problem; p != nil {
		return []failure{{kind: p.kind, object: p.object, message: p.text, file: p.file, line: p.line}}
	}
	var out []failure
	for _, v := range r.violations {
		out = append(out, failure{
			kind: verdict.Kind(v.Kind), invariant: v.Invariant, object: v.Object, field: x.fieldOf(v.Invariant), message: v.Message["en"],
		})
	}
	return out
}

func (x *explorer) fieldOf(invariant string) string {
	for _, i := range x.sub.exercise.Invariants {
		if i.Name == invariant {
			return i.Object
		}
	}
	return ""
}

// add makes a finding of a failure, unless one like it is there already. What
// fails without any fault fails with each of them too, for the same reason.
func (x *explorer) add(phase string, r *result, f failure, siblings []*result) {
	print := fingerprint{f.kind, f.invariant, classOf(phase)}
	undisturbed := print
	undisturbed.class = classOf(schedule.HappyPath)
	if x.seen[print] || x.seen[undisturbed] || len(x.verdict.Findings) >= maxFindings {
		return
	}
	x.seen[print] = true
	found := x.tell(phase, r, f)
	found.PassingTwin = x.twin(r, siblings)
	x.verdict.Findings = append(x.verdict.Findings, found)
	if len(x.verdict.Findings) == 1 {
		x.timer.firstResult()
		x.report(Progress{Stage: Exploring, Finding: &found})
	}
}

// twin is the token of the nearest schedule that passes: the one of the same
// phase whose fault lies closest, or else the one without any fault.
func (x *explorer) twin(r *result, siblings []*result) string {
	best, distance := "", -1
	for _, s := range siblings {
		if s == r || len(x.failures(s)) > 0 {
			continue
		}
		if d := apart(r.schedule, s.schedule); distance < 0 || d < distance {
			best, distance = x.sub.token(s.schedule), d
		}
	}
	if best == "" && !x.failsUndisturbed() {
		best = x.sub.token(schedule.Schedule{Phase: schedule.HappyPath, Database: r.schedule.Database, Set: schedule.One})
	}
	return best
}

func (x *explorer) failsUndisturbed() bool {
	return len(x.verdict.Coverage) == 0 || x.verdict.Coverage[0].Failed > 0
}

func apart(a, b schedule.Schedule) int {
	if len(a.Deviations) == 0 || len(b.Deviations) == 0 {
		return schedule.MaxEffect
	}
	d := a.Deviations[0].At - b.Deviations[0].At
	return max(d, -d)
}

// replay runs the one schedule of a token. Its verdict says what that schedule
// shows, and its coverage that no other ran.
func (x *explorer) replay(ctx context.Context, s schedule.Schedule) error {
	x.seen = map[fingerprint]bool{}
	results, err := x.runAll(ctx, []schedule.Schedule{s})
	if err != nil {
		return err
	}
	r := results[0]
	hash := trace.NewHash()
	addTo(hash, s.Phase, r)
	x.verdict.TraceHash = hash.String()
	x.verdict.Stdout, x.verdict.Stderr = string(r.stdout), string(r.stderr)
	x.collect(s.Phase, results)
	x.verdict.Coverage[0].Complete = false
	x.verdict.Replay = &verdict.Replay{Schedule: x.sub.token(s), Trace: r.steps}
	x.conclude()
	return nil
}

// conclude sets outcome and summary from the findings.
func (x *explorer) conclude() {
	v := x.verdict
	if len(v.Findings) > 0 {
		v.Outcome, v.Summary = verdict.Failed, summaryOf(v.Findings[0])
		return
	}
	v.Outcome, v.Summary = verdict.Passed, passedSummary(*v)
}
