package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/db"
	"redeliver/web/store/storetest"
)

const exercise = "core/charge-once"

// fakeGrader judges with a function. It imitates neither a compiler nor time.
type fakeGrader struct {
	grade     func(ctx context.Context, r Request, progress func(Progress)) (verdict.Verdict, error)
	preparing atomic.Bool
}

func (f *fakeGrader) Grade(ctx context.Context, r Request, progress func(Progress)) (verdict.Verdict, error) {
	return f.grade(ctx, r, progress)
}

func (f *fakeGrader) Preparing() string {
	if f.preparing.Load() {
		return "Preparing the compiler."
	}
	return ""
}

func verdictOf(o verdict.Outcome) verdict.Verdict {
	return verdict.Verdict{Exercise: exercise, ExerciseVersion: "1.0.0", Engine: verdict.Engine, Outcome: o, Summary: string(o)}
}

func passes(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
	return verdictOf(verdict.Passed), nil
}

// clock is the time of a queue in a test.
type clock struct{ atomic.Int64 }

func (c *clock) now() time.Time          { return time.UnixMilli(c.Load()) }
func (c *clock) advance(d time.Duration) { c.Add(d.Milliseconds()) }

type testBundle struct {
	st      *store.Store
	queue   *Queue
	grader  *fakeGrader
	clock   *clock
	figures *prometheus.Registry
	events  <-chan *river.Event // a grading was completed, failed or cancelled
}

type gradeFunc = func(context.Context, Request, func(Progress)) (verdict.Verdict, error)

// setup makes a queue on an empty database; the test starts it.
func setup(t *testing.T, pathOrURL string, grade gradeFunc) *testBundle {
	t.Helper()
	b := &testBundle{st: storetest.Open(t, pathOrURL, Migrate), grader: &fakeGrader{grade: grade}, clock: &clock{}, figures: prometheus.NewRegistry()}
	b.clock.advance(1000 * time.Hour)
	q, err := New(t.Context(), b.st, b.grader, Config{
		Workers: 2, SoftStop: 100 * time.Millisecond, Now: b.clock.now, Log: slog.New(slog.DiscardHandler), Metrics: b.figures,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.queue = q
	events, cancel := q.client.Subscribe(river.EventKindJobCompleted, river.EventKindJobFailed, river.EventKindJobCancelled)
	t.Cleanup(cancel)
	b.events = events
	t.Cleanup(func() { b.stop(t) })
	return b
}

func (b *testBundle) start(t *testing.T) {
	t.Helper()
	if err := b.queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (b *testBundle) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
	defer cancel()
	if err := b.queue.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// next returns the next event about a grading.
func (b *testBundle) next(t *testing.T) *river.Event {
	t.Helper()
	return b.ended(t, gradeArgs{}.Kind())
}

// ended returns the next event about a job of a kind.
func (b *testBundle) ended(t *testing.T, kind string) *river.Event {
	t.Helper()
	for {
		select {
		case e := <-b.events:
			if e.Job.Kind == kind {
				return e
			}
		case <-time.After(30 * time.Second): // against hanging
			t.Fatalf("no event about a job of the kind %s", kind)
		}
	}
}

func handIn(token, source string) Submission {
	return Submission{
		Browser: store.BrowserOf(token), Exercise: exercise, ExerciseVersion: "1.0.0", Seed: 1,
		Files: []store.File{{Name: "handler.go", Content: []byte(source)}},
	}
}

// submit hands in and wants the given answer.
func (b *testBundle) submit(t *testing.T, s Submission, want Answer) (publicID string) {
	t.Helper()
	// Its author has seen every version.
	if newest, err := b.st.NewestDraft(t.Context(), s.Browser, s.Exercise); err == nil {
		s.Base = newest.Version
	}
	r, err := b.queue.Submit(t.Context(), s)
	if err != nil || r.Answer != want {
		t.Fatalf("answer %+v, want %s, err %v", r, want, err)
	}
	return r.PublicID
}

func (b *testBundle) submission(t *testing.T, token, publicID string) store.Submission {
	t.Helper()
	s, err := b.st.Submission(t.Context(), store.BrowserOf(token), publicID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (b *testBundle) count(t *testing.T, query string) (n int) {
	t.Helper()
	if err := b.st.Read.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMigrateFromSeveralServersAtOnce(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t) // one process owns a SQLite file
	storetest.Open(t, address, func(context.Context, *store.Store) error { return nil })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			st, err := store.Open(t.Context(), address)
			if err == nil {
				err = errors.Join(Migrate(t.Context(), st), st.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestGrading(t *testing.T) {
	t.Parallel()

	t.Run("VerdictAndCompletionTogether", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			requests := make(chan Request, 1)
			b := setup(t, pathOrURL, func(_ context.Context, r Request, progress func(Progress)) (verdict.Verdict, error) {
				requests <- r
				progress(Progress{Stage: "build"})
				progress(Progress{Stage: "explore", Coverage: &verdict.Coverage{Phase: "happy-path", Schedules: 2, Complete: true}})
				progress(Progress{Stage: "explore", Finding: &verdict.Finding{Kind: verdict.Duplicate, Trace: []verdict.Step{{Step: 1}}}})
				return verdictOf(verdict.Failed), nil
			})
			publicID := b.submit(t, handIn("ada", "package handler"), Created)
			b.clock.advance(3 * time.Second)
			b.start(t)
			if e := b.next(t); e.Job.State != rivertype.JobStateCompleted {
				t.Fatalf("event %s", e.Kind)
			}
			if r := <-requests; r.Exercise != exercise || r.Seed != 1 || string(r.Files[0].Content) != "package handler" {
				t.Errorf("request %+v", r)
			}
			s := b.submission(t, "ada", publicID)
			if s.State != store.Graded || s.Verdict.Outcome != verdict.Failed || s.Attempt != 1 || s.Verdict.Timings.Queue != 3000 {
				t.Errorf("submission %+v", s)
			}
			steps, err := b.st.Steps(t.Context(), s.ID)
			if err != nil || len(steps) != 4 {
				t.Fatalf("steps %+v, err %v", steps, err)
			}
			first, err1 := DecodeProgress(steps[0].Data)
			phase, err2 := DecodeProgress(steps[2].Data)
			finding, err3 := DecodeProgress(steps[3].Data)
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			if first.Stage != StageStarted || phase.Coverage.Schedules != 2 || finding.Finding.Kind != verdict.Duplicate || len(finding.Finding.Trace) != 1 {
				t.Errorf("%+v, %+v, %+v", first, phase, finding)
			}
		})
	})

	t.Run("ChangesAreTold", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			publicID := b.submit(t, handIn("ada", "package handler"), Created)
			id := b.submission(t, "ada", publicID).ID
			changes, stop := b.queue.Watch(id)
			b.start(t)
			for b.submission(t, "ada", publicID).State == store.Queued {
				select {
				case <-changes:
				case <-time.After(30 * time.Second):
					t.Fatal("nobody told")
				}
			}
			stop()
			stop() // harmless
			if n := len(b.queue.watch.watchers); n != 0 {
				t.Errorf("%d watchers left", n)
			}
		})
	})

	t.Run("WaitsForTheCompiler", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			b.grader.preparing.Store(true)
			b.start(t)
			publicID := b.submit(t, handIn("ada", "package handler"), Created)
			b.queue.mu.Lock()
			if b.queue.isWorking || b.queue.Preparing() == "" {
				t.Errorf("works: %v, prepares: %q", b.queue.isWorking, b.queue.Preparing())
			}
			b.queue.mu.Unlock()
			b.grader.preparing.Store(false)
			b.next(t)
			if s := b.submission(t, "ada", publicID); s.State != store.Graded {
				t.Errorf("state %s", s.State)
			}
		})
	})

	t.Run("ProcessWithoutWorkersOnlyHandsIn", func(t *testing.T) {
		t.Parallel()
		worker := setup(t, storetest.Postgres(t), passes) // one process owns a SQLite file
		q, err := New(t.Context(), worker.st, nil, Config{})
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Submit(t.Context(), handIn("ada", "package handler")); err != nil {
			t.Fatal(err)
		}
		worker.start(t)
		if e := worker.next(t); e.Job.State != rivertype.JobStateCompleted || q.Preparing() != "" {
			t.Errorf("event %s, preparing %q", e.Kind, q.Preparing())
		}
		if err := q.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()

	t.Run("OursIsRepeatedAtOnce", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			var calls atomic.Int64
			b := setup(t, pathOrURL, func(ctx context.Context, r Request, progress func(Progress)) (verdict.Verdict, error) {
				progress(Progress{Stage: "build"})
				if calls.Add(1) == 1 {
					return verdict.Verdict{}, errors.New("no space left for the build")
				}
				return passes(ctx, r, progress)
			})
			b.start(t)
			publicID := b.submit(t, handIn("ada", "package handler"), Created)
			if e := b.next(t); e.Kind != river.EventKindJobFailed {
				t.Fatalf("event %s", e.Kind)
			}
			if e := b.next(t); e.Kind != river.EventKindJobCompleted || e.Job.Attempt != 2 {
				t.Errorf("event %s, attempt %d", e.Kind, e.Job.Attempt)
			}
			// The steps of the first attempt are gone, their numbers are not used again.
			steps, err := b.st.Steps(t.Context(), b.submission(t, "ada", publicID).ID)
			if err != nil || len(steps) != 2 || steps[0].Number != 3 || steps[0].Data != `{"stage":"again"}` {
				t.Errorf("steps %+v, err %v", steps, err)
			}
		})
	})

	for name, grade := range map[string]gradeFunc{
		"ErrorEveryTimeIsInconclusive": func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			return verdict.Verdict{}, errors.New("no space left for the build")
		},
		"InconclusiveIsRepeatedThreeTimes": func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			return verdictOf(verdict.Inconclusive), nil
		},
		"PanicEveryTimeIsInconclusive": func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			panic("bug in the grader")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, pathOrURL string) {
				var calls atomic.Int64
				b := setup(t, pathOrURL, func(ctx context.Context, r Request, progress func(Progress)) (verdict.Verdict, error) {
					calls.Add(1)
					return grade(ctx, r, progress)
				})
				b.start(t)
				publicID := b.submit(t, handIn("ada", "package handler"), Created)
				for e := b.next(t); e.Job.FinalizedAt == nil; e = b.next(t) {
				}
				if err := b.queue.reconcile(t.Context()); err != nil {
					t.Fatal(err)
				}
				s := b.submission(t, "ada", publicID)
				if s.State != store.Graded || s.Verdict.Outcome != verdict.Inconclusive || s.Verdict.Summary == "" || calls.Load() != maxAttempts {
					t.Errorf("after %d gradings: %+v", calls.Load(), s)
				}
				// The same source may be tried again: this verdict is no answer.
				b.submit(t, handIn("ada", "package handler"), Created)
			})
		})
	}

	t.Run("StopLetsAGradingFinish", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			started, goOn := make(chan struct{}), make(chan struct{})
			b := setup(t, pathOrURL, func(ctx context.Context, r Request, progress func(Progress)) (verdict.Verdict, error) {
				close(started)
				<-goOn
				return passes(ctx, r, progress)
			})
			b.start(t)
			publicID := b.submit(t, handIn("ada", "package handler"), Created)
			<-started
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				b.stop(t)
			}()
			<-b.queue.stopping
			close(goOn)
			<-stopped
			if s := b.submission(t, "ada", publicID); s.State != store.Graded {
				t.Errorf("state %s", s.State)
			}
		})
	})

	t.Run("VerdictAfterTheSoftStopIsKept", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			started := make(chan struct{})
			b := setup(t, pathOrURL, func(ctx context.Context, r Request, progress func(Progress)) (verdict.Verdict, error) {
				close(started)
				<-ctx.Done()
				return passes(ctx, r, progress) // it was as good as done
			})
			b.start(t)
			publicID := b.submit(t, handIn("ada", "package handler"), Created)
			<-started
			b.stop(t)
			if s := b.submission(t, "ada", publicID); s.State != store.Graded {
				t.Errorf("state %s", s.State)
			}
		})
	})

	t.Run("StopWhileTheCompilerIsPrepared", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			b.grader.preparing.Store(true)
			b.start(t)
			b.stop(t)
			b.stop(t) // a second call is fine
		})
	})

	t.Run("StoppedGradingIsNotAnAttempt", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			started := make(chan struct{})
			b := setup(t, pathOrURL, func(ctx context.Context, _ Request, _ func(Progress)) (verdict.Verdict, error) {
				close(started)
				<-ctx.Done()
				return verdictOf(verdict.Inconclusive), nil // as a grader says that was cut short
			})
			b.start(t)
			b.submit(t, handIn("ada", "package handler"), Created)
			<-started
			b.stop(t)
			if n := b.count(t, "SELECT count(*) FROM river_job WHERE kind = 'grade' AND state = 'available' AND attempt = 0"); n != 1 {
				var state string
				var attempt int
				err := b.st.Read.QueryRowContext(t.Context(), "SELECT state, attempt FROM river_job WHERE kind = 'grade'").Scan(&state, &attempt)
				t.Errorf("state %s, attempt %d, err %v", state, attempt, err)
			}
		})
	})
}

func TestUpkeep(t *testing.T) {
	t.Parallel()

	t.Run("LiveJobsAreKept", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			publicID := b.submit(t, handIn("ada", "package handler"), Created)
			b.clock.advance(365 * 24 * time.Hour)
			if err := (&upkeepWorker{q: b.queue}).Work(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if s := b.submission(t, "ada", publicID); s.State != store.Queued {
				t.Errorf("state %s", s.State)
			}
		})
	})

	t.Run("SilentBrowsersAreForgotten", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			b.start(t)
			b.submit(t, handIn("ada", "package handler"), Created)
			b.next(t)
			b.clock.advance(181 * 24 * time.Hour)
			if err := (&upkeepWorker{q: b.queue}).Work(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if n := b.count(t, "SELECT (SELECT count(*) FROM browsers) + (SELECT count(*) FROM drafts) + (SELECT count(*) FROM submissions)"); n != 0 {
				t.Errorf("%d rows left", n)
			}
		})
	})

	t.Run("DeletedSubmissionCancelsItsJob", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			b.submit(t, handIn("ada", "package handler"), Created)
			err := b.st.InTx(t.Context(), func(tx *sql.Tx, _ *db.Queries) error {
				_, err := tx.ExecContext(t.Context(), "DELETE FROM submissions")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			b.start(t)
			if e := b.next(t); e.Job.State != rivertype.JobStateCancelled {
				t.Errorf("event %s", e.Kind)
			}
		})
	})
}

// What happened is counted once: an attempt of ours that failed, and the verdict
// after it.
func TestMetrics(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		failed := false
		b := setup(t, pathOrURL, func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			if !failed {
				failed = true
				return verdict.Verdict{}, errors.New("the machine stands still")
			}
			return verdictOf(verdict.Failed), nil
		})
		b.submit(t, handIn("ada", "package handler"), Created)
		waiting := `
# HELP redeliver_submissions_unfinished Submissions that wait or are being graded, in the whole installation.
# TYPE redeliver_submissions_unfinished gauge
redeliver_submissions_unfinished %d
`
		if err := testutil.GatherAndCompare(b.figures, strings.NewReader(fmt.Sprintf(waiting, 1)), "redeliver_submissions_unfinished"); err != nil {
			t.Error(err)
		}
		b.start(t)
		b.next(t)
		b.next(t)
		if err := testutil.GatherAndCompare(b.figures, strings.NewReader(fmt.Sprintf(waiting, 0)), "redeliver_submissions_unfinished"); err != nil {
			t.Error(err)
		}
		if err := testutil.GatherAndCompare(b.figures, strings.NewReader(`
# HELP redeliver_grading_failures_total Attempts at a grading that ended without a verdict. The fault is never a submission's.
# TYPE redeliver_grading_failures_total counter
redeliver_grading_failures_total 1
# HELP redeliver_gradings_total Gradings that ended with a verdict, by outcome.
# TYPE redeliver_gradings_total counter
redeliver_gradings_total{outcome="failed"} 1
redeliver_gradings_total{outcome="inconclusive"} 0
redeliver_gradings_total{outcome="passed"} 0
redeliver_gradings_total{outcome="rejected"} 0
`), "redeliver_grading_failures_total", "redeliver_gradings_total"); err != nil {
			t.Error(err)
		}
	})
}
