package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

func TestSubmit(t *testing.T) {
	t.Parallel()

	t.Run("DoubleClickIsOneSubmission", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			first := b.submit(t, handIn("ada", "package handler"), Created)
			if second := b.submit(t, handIn("ada", "package handler"), Running); second != first {
				t.Errorf("second is %s, first %s", second, first)
			}
			if n := b.count(t, "SELECT count(*) FROM submissions"); n != 1 {
				t.Errorf("%d submissions", n)
			}
			if n := b.count(t, "SELECT count(*) FROM river_job"); n != 1 {
				t.Errorf("%d jobs", n)
			}
			b.submit(t, handIn("bob", "package handler"), Created) // nobody else has to wait
			other := handIn("ada", "package handler")
			other.Exercise = "core/other"
			b.submit(t, other, Created)
		})
	})

	t.Run("NewerTakesThePlaceOfOneThatWaits", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			graded := make(chan string, 3)
			b := setup(t, pathOrURL, func(_ context.Context, r Request, _ func(Progress)) (verdict.Verdict, error) {
				graded <- string(r.Files[0].Content)
				return verdictOf(verdict.Passed), nil
			})
			first := b.submit(t, handIn("ada", "one"), Created)
			b.submit(t, handIn("bob", "bob's"), Created)
			newer := handIn("ada", "two")
			newer.Base = 1
			second := b.submit(t, newer, Created)
			old := b.submission(t, "ada", first)
			if next, err := b.st.Newer(t.Context(), old.ID); old.State != store.Replaced || next != second || err != nil {
				t.Errorf("the first is %s, after it comes %q, err %v", old.State, next, err)
			}
			list, err := b.st.Submissions(t.Context(), store.BrowserOf("ada"), exercise, 9)
			if err != nil || len(list) != 2 || list[1].Outcome != store.NotGraded {
				t.Errorf("%+v, err %v", list, err)
			}
			place, err := b.queue.Place(t.Context(), b.submission(t, "ada", second).ID)
			if err != nil || place.Before != 0 {
				t.Errorf("%+v, err %v", place, err)
			}
			if err := b.queue.reconcile(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.start(t)
			b.next(t)
			b.next(t)
			got := []string{<-graded, <-graded}
			if slices.Sort(got); strings.Join(got, ", ") != "bob's, two" || len(graded) > 0 {
				t.Errorf("graded %q, and %d more", got, len(graded))
			}
			if b.submission(t, "ada", second).Verdict == nil || b.submission(t, "ada", first).Verdict != nil {
				t.Error("not the newer one has the verdict")
			}
			b.submit(t, newer, Stored)
		})
	})

	t.Run("NewerTakesThePlaceOfOneThatRuns", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			running := make(chan struct{}, 8)
			b := setup(t, pathOrURL, func(ctx context.Context, r Request, _ func(Progress)) (verdict.Verdict, error) {
				if string(r.Files[0].Content) == "newer" {
					return verdictOf(verdict.Passed), nil
				}
				running <- struct{}{}
				<-ctx.Done()
				return verdict.Verdict{}, ctx.Err()
			})
			b.start(t)
			first := b.submit(t, handIn("ada", "never ends"), Created)
			receive(t, running)
			newer := handIn("ada", "newer")
			newer.Base = 1
			second := b.submit(t, newer, Created)
			b.next(t)
			b.next(t)
			if s := b.submission(t, "ada", first); s.State != store.Replaced {
				t.Errorf("the first is %+v", s)
			}
			if s := b.submission(t, "ada", second); s.State != store.Graded || s.Verdict.Outcome != verdict.Passed {
				t.Errorf("the second is %+v", s)
			}
		})
	})

	t.Run("SameSourceIsAnsweredFromTheStore", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			b.start(t)
			first := b.submit(t, handIn("ada", "package handler"), Created)
			b.next(t)
			if again := b.submit(t, handIn("ada", "package handler"), Stored); again != first {
				t.Errorf("the browser's own verdict is %s, answered %s", first, again)
			}
			others := b.submit(t, handIn("bob", "package handler"), Stored)
			if others == first {
				t.Fatal("answered with the submission of another browser")
			}
			if s := b.submission(t, "bob", others); s.State != store.Graded || s.Verdict.Outcome != verdict.Passed {
				t.Errorf("submission %+v", s)
			}
			if n := b.count(t, "SELECT count(*) FROM river_job WHERE kind = 'grade'"); n != 1 {
				t.Errorf("%d gradings", n)
			}
			newer := handIn("ada", "package handler")
			newer.ExerciseVersion = "2.0.0"
			b.submit(t, newer, Created)
		})
	})

	t.Run("ConflictStoresNothing", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			b.submit(t, handIn("ada", "package handler // one"), Created)
			_, err := b.queue.Submit(t.Context(), handIn("ada", "package handler // two")) // started from version 0
			var conflict *store.ConflictError
			if !errors.As(err, &conflict) || conflict.Newest.Version != 1 {
				t.Fatalf("err %v", err)
			}
			if n := b.count(t, "SELECT (SELECT count(*) FROM submissions) * 10 + (SELECT count(*) FROM drafts)"); n != 11 {
				t.Errorf("submissions and drafts: %d", n)
			}
		})
	})

	t.Run("FailedTransactionLeavesNothing", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			if _, err := b.st.Write.ExecContext(t.Context(), "DROP TABLE river_job"); err != nil {
				t.Fatal(err)
			}
			if _, err := b.queue.Submit(t.Context(), handIn("ada", "package handler")); err == nil {
				t.Fatal("handed in without a job")
			}
			if n := b.count(t, "SELECT (SELECT count(*) FROM submissions) + (SELECT count(*) FROM drafts) + (SELECT count(*) FROM browsers)"); n != 0 {
				t.Errorf("%d rows", n)
			}
		})
	})

	t.Run("BrowserWithoutCookieIsRefused", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			if _, err := b.queue.Submit(t.Context(), handIn("", "package handler")); err == nil {
				t.Error("taken")
			}
		})
	})
}

// The estimate is the median of what gradings took, times the rounds that it takes.
func TestPlace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		takes := []time.Duration{2 * time.Second, 60 * time.Second, 4 * time.Second}
		var b *testBundle
		b = setup(t, pathOrURL, func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			b.clock.advance(takes[0])
			takes = takes[1:]
			return verdictOf(verdict.Passed), nil
		})
		wait := func(who string, source string) Place {
			t.Helper()
			p, err := b.queue.Place(t.Context(), b.submission(t, who, b.submit(t, handIn(who, source), Created)).ID)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		if p := wait("ada", "1"); p != (Place{}) {
			t.Errorf("nothing was ever graded: %+v", p)
		}
		b.start(t)
		b.next(t)
		for _, who := range []string{"bob", "eve"} { // one after the other: each moves the clock
			b.submit(t, handIn(who, who), Created)
			b.next(t)
		}
		b.stop(t)
		workers := b.queue.cfg.Workers
		for i := range 3 {
			want := Place{Before: i, Wait: time.Duration(1+i/workers) * 4 * time.Second}
			if p := wait(fmt.Sprint("browser ", i), fmt.Sprint("later ", i)); p != want {
				t.Errorf("%+v, want %+v", p, want)
			}
		}
	})
}

func TestBounds(t *testing.T) {
	t.Parallel()

	t.Run("PerHour", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			for i := range MaxPerHour {
				s := handIn("ada", "package handler")
				s.Exercise = fmt.Sprint("core/task-", i)
				b.submit(t, s, Created)
			}
			s := handIn("ada", "package handler // the last straw")
			if publicID := b.submit(t, s, TooMany); publicID != "" {
				t.Errorf("leads to %s", publicID)
			}
			if newest, err := b.st.NewestDraft(t.Context(), s.Browser, exercise); err != nil || newest.Version != 1 {
				t.Errorf("the text was lost: %+v, err %v", newest, err)
			}
			b.clock.advance(time.Hour + time.Second)
			b.submit(t, s, Created)
		})
	})

	t.Run("Queue", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL, passes)
			b.submit(t, handIn("ada", "package handler"), Created)
			// The rest of a full queue, without the transactions.
			_, err := b.st.Write.ExecContext(t.Context(), `
				WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
				INSERT INTO submissions (public_id, browser_id, exercise, exercise_version, engine, seed, files, source_hash, state, created_at)
				SELECT 'p' || n.i, s.browser_id, 'core/task-' || n.i, '1', '1', 1, '[]', 'h', 'queued', 1 FROM n, submissions s`, MaxUnfinished-1)
			if err != nil {
				t.Fatal(err)
			}
			b.submit(t, handIn("bob", "package handler"), QueueFull)
			b.submit(t, handIn("ada", "package handler"), Running)
		})
	})

	// Of a sitting too much is dropped from the oldest on, by number and by bytes.
	t.Run("OfASitting", func(t *testing.T) {
		t.Parallel()
		for name, tc := range map[string]struct{ rows, size, want int }{
			"ByNumber": {MaxPerSitting + 10, 10, MaxPerSitting},
			"ByBytes":  {40, MaxSubmittedBytes / 20, 20}, // the new one is small, and with the twentieth of the others it is too much
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				storetest.Each(t, func(t *testing.T, pathOrURL string) {
					b := setupSitting(t, pathOrURL, passes)
					c := b.sits(t)
					text := "'" + strings.Repeat("x", tc.size-2) + "'"
					_, err := b.st.Write.ExecContext(t.Context(), `
						WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
						INSERT INTO submissions (public_id, browser_id, exercise, exercise_version, engine, seed, files, source_hash, state, outcome, verdict, created_at, finished_at)
						SELECT 'p' || n.i, c.browser_id, 'core/other', '1', '1', 1, `+text+`, 'h', 'graded', 'failed', '{}', 1, 1
						FROM n, candidates c WHERE c.id = $2`, tc.rows, c.ID)
					if err != nil {
						t.Fatal(err)
					}
					b.submit(t, submissionOf(c, "new"), Created)
					oldest := fmt.Sprint("p", tc.rows-tc.want+2)
					if n := b.count(t, "SELECT count(*) FROM submissions"); n != tc.want || b.count(t, "SELECT count(*) FROM submissions WHERE public_id = '"+oldest+"'") != 1 {
						t.Errorf("%d submissions, want %d from %s on", n, tc.want, oldest)
					}
				})
			})
		}
	})
}
