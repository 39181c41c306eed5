// Package jobs grades submissions in the background with River, on SQLite or on
// PostgreSQL. A submission and its job are written in one transaction, a verdict
// and the job's completion in another; nothing is lost in between.
package jobs

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"

	"redeliver/exercises"
	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/webhook"
)

// Grader judges submissions.
type Grader interface {
	// Grade judges the files of one submission and reports progress as it goes.
	// An error is ours, and the grading is repeated; what is wrong with the
	// submission stands in the verdict. With Request.Replay it runs that schedule
	// alone, or returns a *ChangedError.
	Grade(ctx context.Context, r Request, progress func(Progress)) (verdict.Verdict, error)
	// Preparing says in a sentence what has to happen before anything can be
	// graded, and is empty when the grader is ready.
	Preparing() string
}

// Request is what a Grader needs to know about a submission.
type Request struct {
	Exercise string // pack/slug
	Files    []exercises.File
	Seed     int64
	// Replay, when not empty, is the token of the one schedule to run.
	Replay string
}

// Progress is a step of a grading. It is stored as JSON and shown while the
// grading runs.
type Progress struct {
	// Stage is preparing, check, build, load or explore; this package adds
	// started and again, at the beginning of the first and of a later attempt.
	Stage    string            `json:"stage"`
	Coverage *verdict.Coverage `json:"coverage,omitempty"` // a phase that has ended
	Finding  *verdict.Finding  `json:"finding,omitempty"`  // the first one
}

// The stages that this package writes, and the one in which a submission runs.
const (
	StageStarted = "started"
	StageAgain   = "again"
	StageExplore = "explore"
)

// maxAttempts is how often a submission or a regrading is tried: one grading and two
// repetitions. What has no result then is inconclusive.
const maxAttempts = 3

// Config holds what differs between a server, a worker and a test. Zero values
// mean the defaults that are named here.
type Config struct {
	Workers      int                   // gradings at once; 0: this process only hands in
	JobTimeout   time.Duration         // of one grading; 60 s
	SoftStop     time.Duration         // for running gradings when the process stops; 10 s
	KeepBrowsers time.Duration         // after the last thing a browser wrote; 180 days
	Metrics      prometheus.Registerer // where the figures go; may be nil
	Webhooks     *webhook.Sender       // of what is told to other programs; nil: it sends nothing
	BasePath     string                // what stands before the paths in it: "/redeliver", or ""
	Now          func() time.Time
	Log          *slog.Logger
}

func (c Config) withDefaults() Config {
	c.JobTimeout = cmp.Or(c.JobTimeout, time.Minute)
	c.SoftStop = cmp.Or(c.SoftStop, 10*time.Second)
	c.KeepBrowsers = cmp.Or(c.KeepBrowsers, 180*24*time.Hour)
	if c.Webhooks == nil {
		c.Webhooks = webhook.New(webhook.Policy{}, nil)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Queue takes submissions and grades them.
type Queue struct {
	st       *store.Store
	cfg      Config
	grader   Grader // nil in a process that only hands in
	client   *river.Client[*sql.Tx]
	listener *pgxpool.Pool // nil on SQLite
	watch    watch
	replays  replays
	checks   turns
	metrics  metrics
	sender   *webhook.Sender
	pauses   []time.Duration // between the attempts to send

	pastAfter atomic.Int64 // the candidate after which the next upkeep looks for those to delete

	name      string        // of this process, in the jobs that it runs
	stopping  chan struct{} // closed by the first Stop
	stopOnce  sync.Once
	waiting   sync.WaitGroup // the goroutine that waits for the compiler
	hiding    chan struct{}  // closed when the last job of this process has ended
	minding   sync.WaitGroup // the goroutine that looks for dead workers
	mu        sync.Mutex
	isWorking bool // client.Start was called
}

// New prepares a queue on a migrated store. The grader is used only if
// cfg.Workers is above zero.
func New(ctx context.Context, st *store.Store, g Grader, cfg Config) (*Queue, error) {
	q := &Queue{st: st, cfg: cfg.withDefaults(), name: rand.Text(), stopping: make(chan struct{}), hiding: make(chan struct{}), replays: newReplays(), checks: newTurns(maxWaitingChecks)}
	if cfg.Workers > 0 {
		q.grader = g
	}
	q.sender, q.pauses = q.cfg.Webhooks, webhookPauses
	var err error
	if q.metrics, err = newMetrics(q, cfg.Metrics); err != nil {
		return nil, fmt.Errorf("open job queue: %w", err)
	}
	driver, listener, err := openDriver(ctx, st)
	if err != nil {
		return nil, fmt.Errorf("open job queue: %w", err)
	}
	q.listener = listener
	if q.client, err = river.NewClient(driver, q.riverConfig()); err != nil {
		q.closeListener()
		return nil, fmt.Errorf("open job queue: %w", err)
	}
	return q, nil
}

func (q *Queue) riverConfig() *river.Config {
	rc := &river.Config{
		ID:         q.name,
		Logger:     q.cfg.Log,
		JobTimeout: q.cfg.JobTimeout,
		// Above JobTimeout, or a slow grading would be started a second time
		// while it runs.
		RescueStuckJobsAfter: q.cfg.JobTimeout + 30*time.Second,
		SoftStopTimeout:      q.cfg.SoftStop,
		FetchPollInterval:    time.Second,
	}
	if q.grader == nil {
		return rc
	}
	rc.Workers = river.NewWorkers()
	river.AddWorker(rc.Workers, &gradeWorker{q: q})
	river.AddWorker(rc.Workers, &regradeWorker{q: q})
	river.AddWorker(rc.Workers, &upkeepWorker{q: q})
	river.AddWorker(rc.Workers, &webhookWorker{q: q})
	rc.Queues = map[string]river.QueueConfig{
		river.QueueDefault: {MaxWorkers: q.cfg.Workers},
		upkeepQueue:        {MaxWorkers: 1},
		webhookQueue:       {MaxWorkers: webhookWorkers},
	}
	rc.PeriodicJobs = []*river.PeriodicJob{river.NewPeriodicJob(
		river.PeriodicInterval(time.Minute),
		func() (river.JobArgs, *river.InsertOpts) { return upkeepArgs{}, nil },
		&river.PeriodicJobOpts{RunOnStart: true},
	)}
	return rc
}

// Preparing says in a sentence what this process has to do before it can grade;
// it is empty when it can, and when it only hands in.
func (q *Queue) Preparing() string {
	if q.grader == nil {
		return ""
	}
	return q.grader.Preparing()
}

// Start begins to grade. Until the grader is ready it waits in the background:
// the clock of a grading must not run while the compiler is being prepared. On
// SQLite it first takes back the jobs of a process that was killed.
func (q *Queue) Start(ctx context.Context) error {
	if q.st.Dialect == store.SQLite {
		if err := reclaim(ctx, q.st.Write); err != nil {
			return err
		}
	}
	if q.grader == nil {
		return nil
	}
	if q.grader.Preparing() == "" {
		return q.work(ctx)
	}
	q.waiting.Go(func() { q.workWhenReady(ctx) })
	return nil
}

// workWhenReady asks the grader, which has no other way to tell, several times
// a second. A start that fails is tried again: nobody is there to be told.
func (q *Queue) workWhenReady(ctx context.Context) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.stopping:
			return
		case <-tick.C:
		}
		if q.grader.Preparing() != "" {
			continue
		}
		err := q.work(ctx)
		if err == nil {
			return
		}
		q.cfg.Log.ErrorContext(ctx, "start grading", slog.Any("error", err))
	}
}

func (q *Queue) work(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-q.stopping:
		return nil
	default:
	}
	// River works until Stop, also when the context that started it has ended:
	// only so is a running grading given its time to finish.
	ctx = context.WithoutCancel(ctx)
	life := &sign{st: q.st, name: q.name, within: aliveTime}
	if q.st.Dialect == store.Postgres {
		if err := life.show(ctx); err != nil {
			return err
		}
	}
	if err := q.client.Start(ctx); err != nil {
		return errors.Join(fmt.Errorf("start jobs: %w", err), life.hide(ctx))
	}
	if q.st.Dialect == store.Postgres {
		q.minding.Go(func() { q.mindDead(ctx, life) })
	}
	q.isWorking = true
	return nil
}

// Stop waits for running gradings, cancels them after the soft-stop time and
// returns when all have ended. A grading that is ended this way runs again at
// the next start, and this does not count as an attempt. A second call is fine.
func (q *Queue) Stop(ctx context.Context) error {
	q.stopOnce.Do(func() { close(q.stopping) })
	q.waiting.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	var err error
	if q.isWorking {
		err = q.client.Stop(ctx)
		q.isWorking = false
		close(q.hiding)
		q.minding.Wait()
	}
	q.closeListener()
	if err != nil {
		return fmt.Errorf("stop jobs: %w", err)
	}
	return nil
}

func (q *Queue) closeListener() {
	if q.listener != nil {
		q.listener.Close()
		q.listener = nil
	}
}
