package jobs

import (
	"errors"
	"fmt"
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
			// A newer text has to wait too, but is not lost.
			if third := b.submit(t, handIn("ada", "package handler // newer"), Running); third != first {
				t.Errorf("third is %s, first %s", third, first)
			}
			newest, err := b.st.NewestDraft(t.Context(), store.BrowserOf("ada"), exercise)
			if err != nil || string(newest.Files[0].Content) != "package handler // newer" {
				t.Errorf("draft %+v, err %v", newest, err)
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
}
