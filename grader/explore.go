package grader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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

	found
	database  string // of the schedules under way
	replaying bool   // one schedule, so there is nothing to compare it with
	hash      *trace.Hash
	plans     schedule.Facts // what the phases so far have shown
}

// explore looks at the submission on every database that the exercise names: it
// must hold on each.
func (x *explorer) explore(ctx context.Context) error {
	err := x.exploreDatabases(ctx)
	if errors.Is(err, errUnlike) {
		x.verdict.Outcome, x.verdict.Summary = verdict.Inconclusive,
			"The handler, run twice with the same records and answers, did two different things. Nothing can be concluded from that; the grading will be repeated."
		return nil
	}
	return err
}

func (x *explorer) exploreDatabases(ctx context.Context) error {
	x.found, x.hash = newFound(), trace.NewHash()
	for _, name := range x.sub.databases() {
		x.database, x.known, x.plans = name, map[string]knownRun{}, x.whatIsKnown()
		if err := x.explorePhases(ctx); err != nil || x.verdict.Outcome == verdict.Inconclusive {
			return err
		}
	}
	x.compareDatabases()
	x.verdict.TraceHash = x.hash.String()
	x.conclude()
	return nil
}

// explorePhases runs every phase to its end, also after a failure, so that the verdict
// lists each distinct one. Only a handler that does not get through one record
// undisturbed is not looked at further: every schedule would end the same way.
//
// The schedules of several phases run at once, so that no worker waits for the
// last one of a phase; they are looked at phase by phase.
func (x *explorer) explorePhases(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	phases := x.phases()
	begun := make([]*begunPhase, len(phases))
	for i, phase := range phases {
		for k := i; k < len(phases); k++ {
			if begun[k] == nil && plannable(phases, k, i) {
				begun[k] = x.begin(ctx, &running, phases[k], rank(k))
			}
		}
		if why := leftOut(x.sub.exercise.Entry, x.sub.exercise.Produces())[phase]; why != "" {
			c := x.coverageOf(phase)
			c.LeftOut = why
			x.verdict.Coverage = append(x.verdict.Coverage, c)
			x.report(Progress{Stage: Exploring, Coverage: &c})
			continue
		}
		results, complete, err := begun[i].wait()
		if err != nil {
			return err
		}
		for _, r := range results {
			addTo(x.hash, phase, r)
		}
		x.learn(phase, results)
		if phase == schedule.HappyPath && len(results) > 1 {
			if why := notReproducible(results[0], results[1]); why != "" {
				x.verdict.Outcome, x.verdict.Summary = verdict.Inconclusive, why
				return nil
			}
		}
		if err := x.collect(ctx, phase, results, complete); err != nil {
			return err
		}
		if phase == schedule.HappyPath && results[0].over() {
			x.cutShort[x.database] = true
			break
		}
	}
	return nil
}

// whatIsKnown is what the exercise says about plans.
func (x *explorer) whatIsKnown() schedule.Facts {
	e := x.sub.exercise
	_, without := leftOut(e.Entry, e.Produces())[schedule.ProducerDuplicate]
	return schedule.Facts{
		Batches: e.Entry == "batch", Clients: e.MakesClients(), Called: e.IsCalled(), OwnOffsets: e.Entry == "offsets", Seed: x.exerciseSeed(),
		NoCopies: without || e.Phases != nil && !slices.Contains(e.Phases, schedule.ProducerDuplicate),
	}
}

// exerciseSeed is fixed for a version of an exercise: the random phase runs the
// same schedules for everybody.
func (x *explorer) exerciseSeed() uint64 {
	n, err := strconv.ParseUint(shortHash(x.sub.exercise), 16, 64)
	if err != nil {
		return 0 // a hash is hexadecimal
	}
	return n
}

// learn keeps what later phases are planned from.
func (x *explorer) learn(phase string, results []*result) {
	switch phase {
	case schedule.HappyPath:
		if x.database == x.sub.databases()[0] {
			x.verdict.Stdout, x.verdict.Stderr = string(results[0].stdout), string(results[0].stderr)
		}
		for _, e := range results[0].effects {
			x.plans.Effects = append(x.plans.Effects, schedule.Effect{Durable: e.durable, Sure: e.sure})
		}
		x.plans.Expires = slices.ContainsFunc(results, func(r *result) bool { return r.expires })
		other := results[len(results)-1]
		x.plans.Commit, x.plans.OtherEffects, x.plans.OtherCommit = results[0].commit(), len(other.effects), other.commit()
		if own := len(x.plans.Effects); !x.plans.Batches && other.problem == nil && own < len(other.effects) && x.kinds() > 1 {
			for _, e := range other.effects[own:] {
				x.plans.Others = append(x.plans.Others, schedule.Effect{Durable: e.durable})
			}
		}
	case schedule.CrashPoints:
		for _, r := range results[:min(len(results), len(x.plans.Effects)+1)] { // those over the base with nothing but the crash
			a := schedule.Aftermath{Effects: len(r.effects)}
			if r.crash != nil {
				a.State = r.crash.state
			}
			x.plans.AfterCrash = append(x.plans.AfterCrash, a)
		}
	case schedule.Zombie:
		for _, r := range results {
			x.plans.AfterRebalance = append(x.plans.AfterRebalance, len(r.effects))
		}
	}
}

// kinds is how many kinds of records the exercise has: those whose values are
// written alike in events.yaml are of one kind.
func (x *explorer) kinds() int {
	values := map[string]bool{}
	for _, t := range x.sub.exercise.Events.Templates {
		values[t.Value] = true
	}
	return len(values)
}

// addTo takes a result into the verdict's hash. Where a limit of real time cut
// a run off is chance; that it did is not.
func addTo(hash *trace.Hash, phase string, r *result) {
	steps := r.steps
	if r.problem != nil && r.problem.wall {
		steps = []verdict.Step{{Event: trace.Limit, Text: r.problem.text}}
	}
	name := phase + " " + r.schedule.String()
	if r.schedule.Database != verdict.SQLite {
		name = r.schedule.Database + " " + name
	}
	hash.Add(name, steps)
}

// notReproducible compares two runs of one schedule. One that a limit of real time
// has cut off is compared as far as it came: who computes for about as long as a limit
// allows meets it in one run and not in the other, which is no hole of ours.
func notReproducible(a, b *result) string {
	n := max(len(a.steps), len(b.steps))
	for _, r := range []*result{a, b} {
		if r.problem != nil && r.problem.wall {
			n = min(n, max(0, len(r.steps)-2)) // the limit, and the statement that met it
		}
	}
	for i := range n {
		if i >= len(a.steps) || i >= len(b.steps) || !sameStep(a.steps[i], b.steps[i]) {
			return fmt.Sprintf("The same schedule, run twice, gave two different traces (step %d). Nothing can be concluded from that; the grading will be repeated.", i+1)
		}
	}
	return ""
}

func sameStep(a, b verdict.Step) bool {
	return a.Lane == b.Lane && a.Event == b.Event && a.Text == b.Text && a.Line == b.Line && slices.Equal(a.Rows, b.Rows)
}

// plannable says that phase k of phases can be planned when the first n have been
// looked at. The happy path is the first of them, and all others are planned from
// it; some from another one too, when that is there.
func plannable(phases []string, k, n int) bool {
	from := map[string]string{schedule.DoubleCrash: schedule.CrashPoints, schedule.CrashAndInterleave: schedule.Zombie}[phases[k]]
	return k == 0 || n > max(0, slices.Index(phases, from))
}

// begunPhase is a phase whose schedules run, or have run.
type begunPhase struct {
	phaseRun
	done     chan struct{}
	results  []*result
	complete bool
	err      error
}

// begin lets the schedules of a phase run; one that is left out has none.
func (x *explorer) begin(ctx context.Context, running *sync.WaitGroup, phase string, r rank) *begunPhase {
	b := &begunPhase{done: make(chan struct{}), phaseRun: phaseRun{x.sub, phase, x.database, r, x.plans}}
	if leftOut(x.sub.exercise.Entry, x.sub.exercise.Produces())[phase] != "" {
		close(b.done)
		return b
	}
	running.Go(func() {
		defer close(b.done)
		b.results, b.complete, b.err = b.run(ctx)
	})
	return b
}

func (b *begunPhase) wait() (results []*result, complete bool, err error) {
	<-b.done
	return b.results, b.complete, b.err
}

// phaseRun is what a phase needs to run: nothing of the verdict's.
type phaseRun struct {
	sub      *submission
	phase    string
	database string
	rank     rank
	plans    schedule.Facts
}

// run runs the schedules of a phase. The happy path begins alone: when the
// handler does not get through one record undisturbed, all else ends likewise.
func (p phaseRun) run(ctx context.Context) (results []*result, complete bool, err error) {
	if p.phase == schedule.Interleavings {
		return p.interleave(ctx)
	}
	plan, complete := schedule.Plan(p.phase, p.database, p.plans)
	if p.phase != schedule.HappyPath {
		results, err = p.sub.runAll(ctx, p.rank, plan, options{})
		return results, complete, err
	}
	// What it does twice is compared, so it must run twice.
	first, err := p.sub.runAll(ctx, p.rank, plan[:1], options{live: true})
	if err != nil || first[0].problem != nil {
		return first, complete, err
	}
	rest, err := p.sub.runAll(ctx, p.rank, plan[1:], options{live: true})
	return append(first, rest...), complete, err
}

// maxInterleavings bounds the search for one pair of records. The largest that
// was seen for a handler of usual size is below a hundred.
const maxInterleavings = 150

// interleave searches the interleavings of two instances that hold the same
// record, and of two that hold two records, side by side.
func (p phaseRun) interleave(ctx context.Context) (results []*result, complete bool, err error) {
	bases := interleavingBases(p.database)
	found := make([][]*result, len(bases))
	all := make([]bool, len(bases))
	err = p.sub.parallel(ctx, p.rank, len(bases), func(ctx context.Context, w *world, i int) error {
		var err error
		found[i], all[i], err = search(ctx, w, bases[i])
		return err
	})
	return slices.Concat(found...), !slices.Contains(all, false), err
}

// interleavingBases are the schedules whose orders are searched: two instances
// with the same record in hand, and with a record each.
func interleavingBases(database string) []schedule.Schedule {
	return []schedule.Schedule{
		{Phase: schedule.Interleavings, Database: database, Set: schedule.One, Deviations: []schedule.Deviation{{At: 0, Do: schedule.Rebalance}}},
		{Phase: schedule.Interleavings, Database: database, Set: schedule.Two},
	}
}

// search runs one schedule for each class of interleavings.
func search(ctx context.Context, w *world, base schedule.Schedule) (found []*result, complete bool, err error) {
	first := 0
	if base.Has(schedule.Rebalance) {
		first = 1 // B has just joined, and goes on unless told otherwise
	}
	runs := 0
	var r *result
	complete = true
	schedule.Search(func(choose schedule.Choose) ([]schedule.Step, bool) {
		if runs++; runs > maxInterleavings {
			complete = false
			return nil, true
		}
		if r, err = w.run(ctx, base, options{choose: choose}); err != nil {
			return nil, true
		}
		return r.lanes(), false
	}, func(steps []schedule.Step) {
		r.schedule.Deviations = slices.Concat(base.Deviations, schedule.Switches(steps, first))
		if len(r.schedule.Deviations) <= schedule.MaxDeviations {
			found = append(found, r)
		}
	})
	return found, complete, err
}

// phases are those that the exercise asks for, in the order of the contract. The
// happy path is always there: the others are planned from it.
func (x *explorer) phases() []string {
	return slices.DeleteFunc(schedule.Phases(), func(p string) bool {
		return p != schedule.HappyPath && x.sub.exercise.Phases != nil && !slices.Contains(x.sub.exercise.Phases, p)
	})
}

// runAll runs schedules on the workers and returns the results in the order of
// the schedules, whichever ended first.
func (s *submission) runAll(ctx context.Context, r rank, plan []schedule.Schedule, o options) ([]*result, error) {
	results := make([]*result, len(plan))
	err := s.parallel(ctx, r, len(plan), func(ctx context.Context, w *world, i int) (err error) {
		if results[i], err = w.run(ctx, plan[i], o); err != nil {
			return err
		}
		if p := results[i].problem; p != nil && p.wall {
			// A limit of computing time, on whatever machine: believed when it repeats.
			results[i], err = w.run(ctx, plan[i], o)
		}
		return err
	})
	return results, err
}

// coverageOf begins the coverage of a phase; it names the database where there is
// something to tell apart.
func (x *explorer) coverageOf(phase string) verdict.Coverage {
	c := verdict.Coverage{Phase: phase}
	if !slices.Equal(x.sub.databases(), []string{verdict.SQLite}) {
		c.Database = x.database
	}
	return c
}

// collect takes a phase's results into the verdict.
func (x *explorer) collect(ctx context.Context, phase string, results []*result, complete bool) error {
	c := x.coverageOf(phase)
	c.Schedules, c.Complete, c.Note = len(results), complete, x.note(phase)
	x.remember(results)
	for _, r := range results {
		if r.outside != "" {
			c.Complete = false
			x.outside++
			if !slices.Contains(c.Outside, r.outside) {
				c.Outside = append(c.Outside, r.outside)
			}
			continue
		}
		failures := x.failures(r)
		if len(failures) > 0 {
			c.Failed++
		}
		for _, f := range failures {
			x.sees(f)
			if err := x.add(ctx, phase, r, f); err != nil {
				return err
			}
		}
	}
	x.verdict.Schedules += len(results)
	x.verdict.Coverage = append(x.verdict.Coverage, c)
	x.report(Progress{Stage: Exploring, Coverage: &c})
	return nil
}

// note says what a phase did beside what it does for every handler.
func (x *explorer) note(phase string) string {
	if phase == schedule.ClockJumps && x.plans.Expires {
		return "also past the expiry of the keys that the handler set in Redis, before a record comes again and while an instance stands still"
	}
	return ""
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

// replay runs the one schedule of a token. Its verdict says what that schedule
// shows, and its coverage that no other ran.
func (x *explorer) replay(ctx context.Context, s schedule.Schedule) error {
	x.found, x.replaying, x.database = newFound(), true, s.Database
	x.verdict.Replay = &verdict.Replay{Schedule: x.sub.token(s), Trace: []verdict.Step{}}
	results, err := x.sub.runAll(ctx, urgent, []schedule.Schedule{s}, options{positions: true, live: true})
	if err != nil {
		return err
	}
	r := results[0]
	hash := trace.NewHash()
	addTo(hash, s.Phase, r)
	x.verdict.TraceHash = hash.String()
	x.verdict.Stdout, x.verdict.Stderr = string(r.stdout), string(r.stderr)
	if err := x.collect(ctx, s.Phase, results, false); err != nil {
		return err
	}
	x.verdict.Replay.Trace = r.steps
	x.conclude()
	if r.outside != "" {
		x.verdict.Outcome, x.verdict.Summary = verdict.Inconclusive, "Nothing can be concluded from this schedule: "+r.outside+"."
	}
	return nil
}

// conclude sets outcome and summary from the findings.
func (x *explorer) conclude() {
	v := x.verdict
	if len(v.Findings) > 0 {
		v.Outcome, v.Summary = verdict.Failed, summaryOf(v.Findings[0].Message, x.short)
		return
	}
	v.Outcome, v.Summary = verdict.Passed, passedSummary(*v, x.outside)
}
