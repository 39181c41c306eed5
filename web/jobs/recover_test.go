package jobs

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/riverqueue/river"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

// childEnv makes the test binary act as a server that is about to be killed.
const childEnv = "REDELIVER_TEST_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		fmt.Fprintln(os.Stderr, runDoomedServer(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// runDoomedServer says when it has begun to grade and then never ends.
func runDoomedServer(path string) error {
	ctx := context.Background()
	st, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	grader := &fakeGrader{grade: func(_ context.Context, _ Request, progress func(Progress)) (verdict.Verdict, error) {
		progress(Progress{Stage: "build"})
		if _, err := os.Stdout.WriteString("grading\n"); err != nil {
			return verdict.Verdict{}, err
		}
		select {}
	}}
	q, err := New(ctx, st, grader, Config{Workers: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if err := q.Start(ctx); err != nil {
		return err
	}
	select {}
}

// A real kill -9 in the middle of a grading: the next process must take all
// jobs over at once, not after River's rescue period, which is longer than next
// waits for an event.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setup(t, pathOrURL, passes)
		const n = 20
		ids := map[string]string{} // token to public id
		for i := range n {
			token := fmt.Sprint("browser ", i)
			ids[token] = b.submit(t, handIn(token, fmt.Sprint("package handler // ", i)), Created)
		}
		runAndKill(t, pathOrURL)
		if n := b.count(t, "SELECT count(*) FROM river_job WHERE state = 'running' AND kind = 'grade'"); n != 1 {
			t.Fatalf("%d jobs were running when the process died", n)
		}
		b.start(t)
		attempts := 0
		for range n {
			e := b.next(t)
			if e.Kind != river.EventKindJobCompleted {
				t.Errorf("event %s", e.Kind)
			}
			attempts += e.Job.Attempt
		}
		if attempts != n+1 {
			t.Errorf("%d attempts for %d gradings, one of which was cut short", attempts, n)
		}
		for token, id := range ids {
			if s := b.submission(t, token, id); s.State != store.Graded || s.Verdict.Outcome != verdict.Passed {
				t.Errorf("%s: %+v", token, s)
			}
		}
	})
}

// A worker takes nothing from one that lives.
func TestLiveWorkerKeepsItsJobs(t *testing.T) {
	t.Parallel()
	running, end := make(chan struct{}, 1), make(chan struct{})
	b := setup(t, storetest.Postgres(t), func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
		running <- struct{}{}
		<-end
		return verdictOf(verdict.Passed), nil
	})
	b.submit(t, handIn("ada", "package handler"), Created)
	b.start(t)
	receive(t, running)
	if n, err := reclaimDead(t.Context(), b.st.Write); n != 0 || err != nil {
		t.Errorf("took %d jobs, err %v", n, err)
	}
	close(end)
	if e := b.next(t); e.Job.Attempt != 1 {
		t.Errorf("attempt %d", e.Job.Attempt)
	}
}

func runAndKill(t *testing.T, path string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "grading\n" {
		t.Fatalf("child said %q, err %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil { // SIGKILL
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("child was not killed")
	}
}

func TestReclaimGivesUpAfterTheLastAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t, filepath.Join(t.TempDir(), "redeliver.db"), passes)
	publicID := b.submit(t, handIn("ada", "package handler"), Created)
	// As a process leaves it that was killed in the last attempt.
	if _, err := b.st.Write.ExecContext(t.Context(), "UPDATE river_job SET state = 'running', attempt = max_attempts"); err != nil {
		t.Fatal(err)
	}
	if err := reclaim(t.Context(), b.st.Write); err != nil {
		t.Fatal(err)
	}
	if err := b.queue.reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := b.submission(t, "ada", publicID); s.State != store.Graded || s.Verdict.Outcome != verdict.Inconclusive {
		t.Errorf("submission %+v", s)
	}
}
