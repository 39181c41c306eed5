// Package grader judges a submission: it compiles it to WebAssembly, runs it in
// a sandbox as a consumer of an in-process Kafka cluster, injects faults, and
// looks into the database for what was done twice or not at all. A verdict is a
// function of source, exercise, seed and engine. The package knows no web and
// no database of ours.
package grader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"redeliver/exercises"
	"redeliver/grader/build"
	"redeliver/grader/cluster/bubble"
	"redeliver/grader/ledger"
	"redeliver/grader/sandbox"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

// Config is what the operator decides.
type Config struct {
	// Dir is a folder for the databases of schedules; it is made when missing.
	Dir string
	// Workers is how many schedules run at once; 0: one for each processor, at
	// most 4. It changes no verdict.
	Workers int
	// Computing limits what all schedules of a submission compute together, in
	// processor time; 0: 30 s.
	Computing time.Duration
	// Sandbox holds the limits of a submission; zero fields mean the defaults.
	Sandbox sandbox.Options
}

// Grader grades submissions. It may be used by several goroutines.
type Grader struct {
	cfg      Config
	compiler *build.Compiler
	forgets  bool // works without the memo, for a test
}

// New returns a grader that compiles with compiler.
func New(cfg Config, compiler *build.Compiler) (*Grader, error) {
	if cfg.Sandbox.HostCalls == 0 {
		cfg.Sandbox.HostCalls = 200 // a handler makes about ten
	}
	cfg.Computing = cmp.Or(cfg.Computing, mostComputing)
	if cfg.Workers == 0 {
		cfg.Workers = min(runtime.GOMAXPROCS(0), 4)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("grader: %w", err)
	}
	return &Grader{cfg: cfg, compiler: compiler}, nil
}

// Stage names what a grading is doing.
type Stage string

// The stages, in order.
const (
	Checking  Stage = "check"
	Building  Stage = "build"
	Loading   Stage = "load"
	Exploring Stage = "explore"
)

// Progress is one report of a grading under way.
type Progress struct {
	Stage    Stage
	Coverage *verdict.Coverage // a phase that has ended
	Finding  *verdict.Finding  // the first one
}

// Request asks for a verdict.
type Request struct {
	Exercise *exercises.Exercise
	Files    []exercises.File
	Seed     int64
	// Replay, when not empty, is the token of the one schedule to run.
	Replay string
	// Progress is called as the grading goes on, never twice at once. May be nil.
	Progress func(Progress)
}

// ReplayError says why a token cannot be replayed: one sentence for people.
type ReplayError struct{ Text string }

func (e *ReplayError) Error() string { return e.Text }

// SourceHash identifies a submission's files, whatever their order.
func SourceHash(files []exercises.File) string {
	return verdict.SourceHash(func(yield func(string, []byte) bool) {
		for _, f := range files {
			if !yield(f.Name, f.Content) {
				return
			}
		}
	})
}

// Grade judges a submission. What is wrong with the submission is the verdict;
// an error means that we could not find out, or, for a *ReplayError, that the
// token does not fit. A grading that finds itself not reproducible gives an
// inconclusive verdict.
func (g *Grader) Grade(ctx context.Context, req Request) (v verdict.Verdict, err error) {
	t := &timer{start: time.Now()}
	v = verdict.Verdict{
		Exercise: req.Exercise.Name(), ExerciseVersion: req.Exercise.Version, Engine: verdict.Engine,
		Findings: []verdict.Finding{}, Coverage: []verdict.Coverage{},
	}
	report := req.Progress
	if report == nil {
		report = func(Progress) {}
	}
	only, err := replayed(req)
	if err != nil {
		return v, err
	}
	if !CanGrade(req.Exercise) {
		v.Outcome, v.Summary = verdict.Inconclusive, noTag
		t.end(&v)
		return v, nil
	}
	report(Progress{Stage: Checking})
	findings := build.Check(req.Exercise.Signature(), req.Exercise.Editable, req.Files)
	t.lap(&v.Timings.Check)
	if len(findings) > 0 {
		return t.rejected(v, findings), nil
	}
	report(Progress{Stage: Building})
	built, findings, err := g.compiler.Build(ctx, req.Exercise.Signature(), req.Files)
	t.lap(&v.Timings.Build)
	if err != nil {
		return v, fmt.Errorf("build: %w", err)
	}
	if len(findings) > 0 {
		return t.rejected(v, findings), nil
	}
	report(Progress{Stage: Loading})
	sub, err := g.load(ctx, req, built.Wasm)
	t.lap(&v.Timings.Load)
	var wrong *ledger.SchemaError
	if errors.As(err, &wrong) {
		return t.rejected(v, []verdict.Finding{{Kind: verdict.Compile, File: schemaFile, Message: wrong.Text}}), nil
	} else if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, sub.close()) }()
	report(Progress{Stage: Exploring})
	x := &explorer{sub: sub, verdict: &v, timer: t, report: report}
	if only != nil {
		err = x.replay(ctx, *only)
	} else {
		err = x.explore(ctx)
	}
	// Whatever else went wrong meanwhile, that it computed for too long is true.
	if ctx.Err() == nil && errors.Is(err, errComputing) {
		x.endComputing()
		err = nil
	}
	v.HostCalls = sub.program.MostCalls()
	t.lap(&v.Timings.Explore)
	t.end(&v)
	return v, err
}

// CanGrade says whether this program can grade an exercise. Without the build tag
// synctests it cannot when the submission makes its Kafka clients itself.
func CanGrade(e *exercises.Exercise) bool { return bubble.Whole || !e.MakesClients() }

// noTag is why some exercises cannot be graded: the locks of the real Kafka clients
// would stop the virtual clock.
const noTag = "This server was built without the build tag synctests (go build -tags synctests): it cannot grade exercises in which the submission makes its Kafka clients itself."

// replayed reads the request's token and checks what it was made for.
func replayed(req Request) (*schedule.Schedule, error) {
	if req.Replay == "" {
		return nil, nil //nolint:nilnil // no token is neither a schedule nor an error
	}
	tok, err := schedule.ParseToken(req.Replay)
	switch {
	case errors.Is(err, schedule.ErrTokenVersion):
		return nil, &ReplayError{"The token was made by another version of Redeliver: it does not begin with rd1."}
	case err != nil:
		return nil, &ReplayError{"The token cannot be read: " + err.Error() + "."}
	case tok.Engine != verdict.Engine:
		return nil, &ReplayError{fmt.Sprintf("The engine has changed: the token was made by engine %s, this is engine %s.", tok.Engine, verdict.Engine)}
	case tok.Exercise != req.Exercise.Name() || tok.ExerciseHash != shortHash(req.Exercise):
		return nil, &ReplayError{fmt.Sprintf("The exercise has changed: the token belongs to %s as it was then.", tok.Exercise)}
	case tok.SourceHash != SourceHash(req.Files)[:16]:
		return nil, &ReplayError{"The source has changed: the token belongs to other files."}
	case len(req.Exercise.Databases) > 0 && !slices.Contains(req.Exercise.Databases, tok.Schedule.Database):
		return nil, &ReplayError{fmt.Sprintf("The token names the database %q, which the exercise has not.", tok.Schedule.Database)}
	case tok.Seed != req.Seed:
		return nil, &ReplayError{fmt.Sprintf("The token was made with seed %d; pass --seed %d.", tok.Seed, tok.Seed)}
	}
	return &tok.Schedule, nil
}

// shortHash is what a token keeps of an exercise's hash.
func shortHash(e *exercises.Exercise) string {
	return strings.TrimPrefix(e.Hash(), "sha256:")[:16]
}

// submission is a program that is loaded and ready to run schedules.
type submission struct {
	cfg      Config
	exercise *exercises.Exercise
	source   string // hash
	seed     int64
	schema   ledger.Schema
	start    time.Time // of every schedule, in virtual time
	events   []exercises.Event
	program  *sandbox.Program

	mu        sync.Mutex
	snapshots map[string]*life
	memo      *memo
	computing *computing
	workers   *workers
	beginning sync.WaitGroup // snapshots that are taken ahead
}

// life is the snapshot of one identity, taken once.
type life struct {
	once sync.Once
	snap *sandbox.Snapshot
	stop *sandbox.Stop
	err  error
}

// load prepares a submission: its program, and beside it what schedules need
// outside of the program. The error is a *ledger.SchemaError when a submitted
// schema is wrong.
func (g *Grader) load(ctx context.Context, req Request, wasm []byte) (_ *submission, err error) {
	s := &submission{
		cfg: g.cfg, exercise: req.Exercise, source: SourceHash(req.Files), seed: req.Seed, schema: schemaOf(req),
		start: sandbox.NewClock().Now().Add(time.Hour), snapshots: map[string]*life{}, memo: newMemo(), computing: &computing{limit: g.cfg.Computing}, workers: newWorkers(g.cfg.Workers),
	}
	if g.forgets {
		s.memo = nil
	}
	if s.events, err = req.Exercise.Events.Draw(req.Seed, s.start); err != nil {
		return nil, fmt.Errorf("draw events: %w", err)
	}
	if len(s.events) == 0 {
		return nil, errors.New("the exercise has no events")
	}
	var worldErr error
	var beside sync.WaitGroup
	beside.Go(func() { worldErr = s.makeWorlds(ctx, req.Replay == "") })
	options := g.cfg.Sandbox
	if n := req.Exercise.Limits.HostCalls; n > 0 {
		options.HostCalls = n
	}
	if req.Exercise.MakesClients() {
		options.HostCalls, options.CallTime = clientCalls, clientTime
	}
	if s.program, err = sandbox.Load(ctx, wasm, options); err != nil {
		err = fmt.Errorf("load: %w", err)
	}
	beside.Wait()
	if err := errors.Join(err, worldErr); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if req.Replay == "" {
		s.beginLives(ctx)
	}
	return s, nil
}

// makeWorlds makes the world of every worker, or of one. In a grading it also makes
// what the first schedules need there: while the program is loaded there is time.
func (s *submission) makeWorlds(ctx context.Context, all bool) error {
	n := 1
	if all {
		n = len(s.workers.all)
	}
	for k, w := range s.workers.all[len(s.workers.all)-n:] {
		var err error
		if w.world, err = newWorld(ctx, s); err != nil {
			return err
		}
		if !all || s.exercise.MakesClients() { // whose clusters are in a bubble of each schedule
			continue
		}
		for _, set := range firstSets(k == n-1) {
			if _, err := w.world.records(ctx, set); err != nil {
				return fmt.Errorf("make the records: %w", err)
			}
		}
	}
	return nil
}

// firstSets are those of the first schedules. The worker that is borrowed first runs
// one record, then again, while another one runs all.
func firstSets(first bool) []schedule.Set {
	if first {
		return []schedule.Set{schedule.One}
	}
	return []schedule.Set{schedule.All, schedule.One}
}

// beginLives takes the snapshots that every grading needs, in this order, while
// the first schedules run. Who needs one waits for it.
func (s *submission) beginLives(ctx context.Context) {
	s.beginning.Go(func() {
		for _, name := range []string{"A", "A2", "B"} {
			if _, stop, err := s.snapshot(ctx, name); err != nil || stop != nil {
				return // whoever asks for it is told
			}
		}
	})
}

// Limits of a function that runs for as long as the service does: its calls, most of
// which are polls that wait, and its computing time.
const (
	clientCalls = 3000
	clientTime  = 10 * time.Second
)

// schemaFile is the file of a submission that replaces the exercise's schema,
// where an exercise lets the candidate write it.
const schemaFile = "schema.sql"

func schemaOf(req Request) ledger.Schema {
	for _, f := range req.Files {
		if f.Name == schemaFile {
			return ledger.Schema{SQL: string(f.Content), Submitted: true}
		}
	}
	return ledger.Schema{SQL: req.Exercise.Schema}
}

// snapshot returns the state of a process that has just started. Each identity
// has its own seed: two processes with equal randomness would draw the same
// ids, and a handler that relies on that would look right.
func (s *submission) snapshot(ctx context.Context, name string) (*sandbox.Snapshot, *sandbox.Stop, error) {
	s.mu.Lock()
	l, ok := s.snapshots[name]
	if !ok {
		l = &life{}
		s.snapshots[name] = l
	}
	s.mu.Unlock()
	l.once.Do(func() {
		l.snap, l.stop, l.err = s.program.Snapshot(ctx, sandbox.Identity{Name: name, Seed: s.seed})
		if l.snap != nil {
			l.err = s.computing.add(l.snap.Computed())
		}
	})
	if l.err != nil {
		return nil, nil, fmt.Errorf("snapshot of %s: %w", name, l.err)
	}
	return l.snap, l.stop, nil
}

// eventsOf lists the logical events whose records are in a set.
func (s *submission) eventsOf(set *recordSet) []exercises.Event {
	var out []exercises.Event
	for _, e := range s.events {
		if _, ok := set.events[e.ID]; ok {
			out = append(out, e)
		}
	}
	return out
}

func (s *submission) token(sch schedule.Schedule) string {
	return schedule.Token{
		Engine: verdict.Engine, Exercise: s.exercise.Name(), ExerciseHash: shortHash(s.exercise),
		SourceHash: s.source[:16], Seed: s.seed, Schedule: sch,
	}.String()
}

func (s *submission) close() error {
	s.beginning.Wait()
	err := s.workers.close()
	if s.program != nil {
		err = errors.Join(err, s.program.Close(context.Background()))
	}
	return err
}

// timer fills in the timings.
type timer struct {
	start time.Time
	last  time.Time
	first time.Time // result
}

func (t *timer) lap(ms *int64) {
	now := time.Now()
	if t.last.IsZero() {
		t.last = t.start
	}
	*ms = now.Sub(t.last).Milliseconds()
	t.last = now
}

// firstResult marks the moment of the first finding.
func (t *timer) firstResult() { t.first = time.Now() }

func (t *timer) end(v *verdict.Verdict) {
	now := time.Now()
	if t.first.IsZero() {
		t.first = now
	}
	v.Timings.FirstResult = t.first.Sub(t.start).Milliseconds()
	v.Timings.Total = now.Sub(t.start).Milliseconds()
}

func (t *timer) rejected(v verdict.Verdict, findings []verdict.Finding) verdict.Verdict {
	v.Outcome, v.Findings = verdict.Rejected, findings
	v.Summary = rejectedSummary(findings)
	t.end(&v)
	return v
}
