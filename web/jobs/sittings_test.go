package jobs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redeliver/grader/verdict"
	fair "redeliver/web/clock"
	"redeliver/web/store"
	"redeliver/web/store/storetest"
	"redeliver/web/webhook"
)

// sittingBundle is an assignment of an hour with two exercises, made by an owner.
type sittingBundle struct {
	*testBundle
	by         store.Actor
	assignment store.Assignment
	links      int
}

func setupSitting(t *testing.T, pathOrURL string, grade gradeFunc) *sittingBundle {
	t.Helper()
	b := &sittingBundle{testBundle: setup(t, pathOrURL, grade)}
	now := b.clock.now()
	err := b.st.InviteFromServer(t.Context(), "first", store.Invitation{Role: store.Owner, First: true, ExpiresAt: now.Add(time.Hour)}, now)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.st.AcceptInvitation(t.Context(), "first", store.NewPerson{Login: "ada", Name: "Ada", Password: "hash"}, "", now)
	if err != nil {
		t.Fatal(err)
	}
	b.by = store.Actor{Person: p}
	b.assignment = b.assign(t, store.Assignment{
		Title: "Backend", Lang: "en", Limit: time.Hour, Exercises: []string{exercise, "core/other"}, AllPhases: true, RetainDays: 30,
	})
	return b
}

func (b *sittingBundle) assign(t *testing.T, a store.Assignment) store.Assignment {
	t.Helper()
	id, err := b.st.Assign(t.Context(), b.by, a, b.clock.now())
	if err != nil {
		t.Fatal(err)
	}
	if a, err = b.st.Assignment(t.Context(), b.by, id); err != nil {
		t.Fatal(err)
	}
	return a
}

// candidate has a link, and has not started.
func (b *sittingBundle) candidate(t *testing.T, a store.Assignment, extra time.Duration) store.Candidate {
	t.Helper()
	b.links++
	id, err := b.st.AddCandidate(t.Context(), b.by, a.ID, store.Invited{Name: "Grace", TokenHash: fmt.Sprint("hash ", b.links), Extra: extra}, b.clock.now())
	if err != nil {
		t.Fatal(err)
	}
	return b.again(t, store.Candidate{ID: id, Assignment: a.ID})
}

// sits is a candidate who has started.
func (b *sittingBundle) sits(t *testing.T) store.Candidate {
	t.Helper()
	c := b.candidate(t, b.assignment, 0)
	if err := b.queue.StartSitting(t.Context(), c, ""); err != nil {
		t.Fatal(err)
	}
	return b.again(t, c)
}

// again reads a candidate as it is now.
func (b *sittingBundle) again(t *testing.T, c store.Candidate) store.Candidate {
	t.Helper()
	c, err := b.st.Candidate(t.Context(), b.by, c.Assignment, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (b *sittingBundle) save(t *testing.T, c store.Candidate, name, source string) error {
	t.Helper()
	d := store.NewDraft{Exercise: name, Files: []store.File{{Name: "handler.go", Content: []byte(source)}}, Auto: true}
	d.Noted = store.Noted{ByEditor: true, Pastes: []store.Paste{{Mark: "m", File: "handler.go", From: 1, To: 1, Lines: 1, Size: 9, At: b.clock.now()}}}
	if newest, err := b.st.NewestDraft(t.Context(), c.Browser, name); err == nil {
		d.Base = newest.Version
	}
	_, err := b.st.SaveDraft(t.Context(), c.Browser, d, b.clock.now())
	return err
}

func (b *sittingBundle) saved(t *testing.T, c store.Candidate, name, source string) {
	t.Helper()
	if err := b.save(t, c, name, source); err != nil {
		t.Fatal(err)
	}
}

// upkeep does what happens each minute, and at a start.
func (b *sittingBundle) upkeep(t *testing.T) {
	t.Helper()
	if err := errors.Join(b.queue.endSittings(t.Context()), b.queue.forgetPast(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// handedIn are the texts of a candidate's submissions for an exercise, the newest first.
func (b *sittingBundle) handedIn(t *testing.T, c store.Candidate, name string) (texts []string) {
	t.Helper()
	list, err := b.st.Submissions(t.Context(), c.Browser, name, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range list {
		sub, err := b.st.Submission(t.Context(), c.Browser, info.PublicID)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(sub.Files[0].Content))
	}
	return texts
}

func (b *sittingBundle) left(t *testing.T, c store.Candidate) time.Duration {
	t.Helper()
	r, err := b.st.Clock(t.Context(), b.assignment, b.again(t, c), b.clock.now())
	if err != nil {
		t.Fatal(err)
	}
	return r.Left(b.clock.now())
}

func submissionOf(c store.Candidate, source string) Submission {
	s := handIn("", source)
	s.Browser = c.Browser
	return s
}

func TestSitting(t *testing.T) {
	t.Parallel()

	each := func(name string, grade gradeFunc, fn func(t *testing.T, b *sittingBundle)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, pathOrURL string) { fn(t, setupSitting(t, pathOrURL, grade)) })
		})
	}

	each("EndsByItselfAndHandsIn", passes, func(t *testing.T, b *sittingBundle) {
		c := b.sits(t)
		b.saved(t, c, exercise, "one")
		b.clock.advance(50 * time.Minute)
		b.saved(t, c, exercise, "two")
		b.clock.advance(9 * time.Minute)
		b.upkeep(t)
		if c := b.again(t, c); !c.Sits() {
			t.Fatalf("ended early: %+v", c)
		}
		started := c.StartedAt
		b.clock.advance(5 * time.Minute) // nobody looked at the very end
		b.upkeep(t)
		c = b.again(t, c)
		if !c.EndedAt.Equal(started.Add(time.Hour)) || c.EndedBy != store.ByTime || !c.HandedIn {
			t.Errorf("ended %v by %s, handed in %v", c.EndedAt.Sub(started), c.EndedBy, c.HandedIn)
		}
		if got := b.handedIn(t, c, exercise); len(got) != 1 || got[0] != "two" {
			t.Errorf("handed in %q", got)
		}
		if got := b.handedIn(t, c, "core/other"); len(got) != 0 {
			t.Errorf("handed in %q of what was never written", got)
		}
		b.upkeep(t)
		if got := b.handedIn(t, c, exercise); len(got) != 1 {
			t.Errorf("handed in again: %q", got)
		}
		if err := b.save(t, c, exercise, "late"); !errors.Is(err, store.ErrEnded) {
			t.Errorf("saved after the end: %v", err)
		}
		if _, err := b.queue.Submit(t.Context(), submissionOf(c, "late")); !errors.Is(err, store.ErrEnded) {
			t.Errorf("handed in after the end: %v", err)
		}
	})

	each("WaitsForTheDraftThatIsOnItsWay", passes, func(t *testing.T, b *sittingBundle) {
		c := b.sits(t)
		b.saved(t, c, exercise, "one")
		b.clock.advance(time.Hour + store.Grace - time.Millisecond)
		b.upkeep(t)
		b.saved(t, c, exercise, "on its way")
		b.clock.advance(time.Millisecond)
		b.upkeep(t)
		c = b.again(t, c)
		if got := b.handedIn(t, c, exercise); len(got) != 1 || got[0] != "on its way" || !c.EndedAt.Equal(c.StartedAt.Add(time.Hour)) {
			t.Errorf("handed in %q, ended after %v", got, c.EndedAt.Sub(c.StartedAt))
		}
		if err := b.save(t, c, exercise, "late"); !errors.Is(err, store.ErrEnded) {
			t.Errorf("saved after that: %v", err)
		}
	})

	each("ServerWasDownAtTheEnd", passes, func(t *testing.T, b *sittingBundle) {
		beat := func() {
			if err := b.st.Beat(t.Context(), b.clock.now()); err != nil {
				t.Fatal(err)
			}
		}
		beat()
		c := b.sits(t)
		b.saved(t, c, exercise, "as it stood")
		for range 55 * 6 {
			b.clock.advance(store.BeatEvery)
			beat()
		}
		b.clock.advance(2 * time.Hour) // it was down
		b.upkeep(t)                    // a worker is there before the pages are
		if left := b.left(t, c); !b.again(t, c).Sits() || left != 5*time.Minute {
			t.Fatalf("%v left", left)
		}
		beat()
		b.upkeep(t)
		if left := b.left(t, c); !b.again(t, c).Sits() || left != 5*time.Minute {
			t.Fatalf("%v left when the site is back", left)
		}
		for range 5 * 6 {
			b.clock.advance(store.BeatEvery)
			beat()
		}
		b.clock.advance(store.Grace)
		b.upkeep(t)
		c = b.again(t, c)
		if got := b.handedIn(t, c, exercise); c.EndedBy != store.ByTime || len(got) != 1 || c.GivenBack != 2*time.Hour {
			t.Errorf("ended by %q, handed in %q, given back %v", c.EndedBy, got, c.GivenBack)
		}
	})

	each("WaitingIsGivenBack", passes, func(t *testing.T, b *sittingBundle) {
		c := b.sits(t)
		b.clock.advance(58 * time.Minute)
		b.submit(t, submissionOf(c, "one"), Created) // and nobody grades
		b.clock.advance(10 * time.Minute)
		b.upkeep(t)
		if left := b.left(t, c); !b.again(t, c).Sits() || left != 2*time.Minute {
			t.Fatalf("%v left while a submission waits", left)
		}
		b.start(t)
		b.next(t)
		b.clock.advance(time.Minute)
		if left := b.left(t, c); left != time.Minute {
			t.Errorf("%v left after the verdict", left)
		}
		b.clock.advance(time.Minute + store.Grace)
		b.upkeep(t)
		if c := b.again(t, c); c.EndedBy != store.ByTime || c.GivenBack != 10*time.Minute || !c.HandedIn {
			t.Errorf("%+v", c)
		}
		if got := b.handedIn(t, c, exercise); len(got) != 1 {
			t.Errorf("the same text was handed in twice: %q", got)
		}
	})

	each("AFaultOfOursIsGivenBack", nil, func(t *testing.T, b *sittingBundle) {
		b.grader.grade = func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			b.clock.advance(time.Minute) // for each of the attempts
			return verdict.Verdict{Outcome: verdict.Inconclusive, Summary: "It is not known."}, nil
		}
		b.start(t)
		c := b.sits(t)
		b.submit(t, submissionOf(c, "one"), Created)
		for range maxAttempts {
			b.next(t)
		}
		if left := b.left(t, c); left != time.Hour {
			t.Errorf("%v left", left)
		}
	})

	// Whoever can cause gradings without a result does not stop the clock with them.
	each("ButNotWithoutABound", nil, func(t *testing.T, b *sittingBundle) {
		b.grader.grade = func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			b.clock.advance(2 * time.Minute)
			return verdict.Verdict{Outcome: verdict.Inconclusive, Summary: "It is not known."}, nil
		}
		b.start(t)
		c := b.sits(t)
		for i := range 3 {
			s := submissionOf(c, fmt.Sprint(i))
			s.Base = int64(i)
			b.submit(t, s, Created)
			for range maxAttempts {
				b.next(t)
			}
		}
		if left, want := b.left(t, c), time.Hour-3*maxAttempts*2*time.Minute+fair.MaxVain; left != want {
			t.Errorf("%v left, want %v", left, want)
		}
	})

	// A verdict that comes later does not take back what was given back.
	each("RegradingLeavesTheClock", nil, func(t *testing.T, b *sittingBundle) {
		var known atomic.Bool
		b.grader.grade = func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			if known.Load() {
				return verdictOf(verdict.Passed), nil
			}
			b.clock.advance(time.Minute)
			return verdict.Verdict{Outcome: verdict.Inconclusive, Summary: "It is not known."}, nil
		}
		b.start(t)
		c := b.sits(t)
		b.submit(t, submissionOf(c, "one"), Created)
		for range maxAttempts {
			b.next(t)
		}
		before := b.left(t, c)
		known.Store(true)
		b.regrade(t, Regrading{Queued: 1}, true)
		b.ended(t, "regrade")
		if n := b.count(t, "SELECT count(*) FROM submissions WHERE outcome = 'passed'"); n != 1 {
			t.Fatal("nothing was judged again")
		}
		if left := b.left(t, c); left != before || left != time.Hour {
			t.Errorf("%v left, %v before", left, before)
		}
	})

	t.Run("TheRestIsHandedInWhenTheEarlierTextIsGraded", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			release := make(chan struct{})
			b := setupSitting(t, pathOrURL, func(ctx context.Context, _ Request, _ func(Progress)) (verdict.Verdict, error) {
				select {
				case <-release:
				case <-ctx.Done():
				}
				return verdictOf(verdict.Failed), ctx.Err()
			})
			c := b.sits(t)
			b.submit(t, submissionOf(c, "one"), Created)
			b.saved(t, c, exercise, "two")
			b.saved(t, c, "core/other", "three")
			if ended, err := b.queue.EndSitting(t.Context(), c.ID, store.ByCandidate); err != nil || !ended {
				t.Fatal(ended, err)
			}
			c = b.again(t, c)
			if got := b.handedIn(t, c, "core/other"); c.HandedIn || len(got) != 1 {
				t.Errorf("handed in %v, %q", c.HandedIn, got)
			}
			b.start(t)
			release <- struct{}{}
			release <- struct{}{}
			b.next(t)
			b.next(t)
			b.upkeep(t)
			if got := b.handedIn(t, c, exercise); len(got) != 2 || got[0] != "two" || !b.again(t, c).HandedIn {
				t.Errorf("handed in %q", got)
			}
		})
	})

	each("ExtraTime", passes, func(t *testing.T, b *sittingBundle) {
		c := b.candidate(t, b.assignment, 30*time.Minute)
		if err := b.queue.StartSitting(t.Context(), c, ""); err != nil {
			t.Fatal(err)
		}
		if left := b.left(t, c); left != 90*time.Minute {
			t.Errorf("%v left", left)
		}
		if err := b.st.SetExtra(t.Context(), b.by, c, time.Hour, b.clock.now()); err != nil {
			t.Fatal(err)
		}
		if left := b.left(t, c); left != 2*time.Hour {
			t.Errorf("%v left", left)
		}
	})

	// Somebody who types as much as goes in for an hour: all of the last minutes stays,
	// of what is older at least a version for each minute.
	each("DraftsAreThinned", passes, func(t *testing.T, b *sittingBundle) {
		c := b.sits(t)
		text := strings.Repeat("x", 60<<10)
		const saves = 300
		for i := range saves {
			b.saved(t, c, exercise, fmt.Sprint(text, i))
			b.clock.advance(10 * time.Second)
		}
		b.saved(t, c, "core/other", text)
		list, err := b.st.Drafts(t.Context(), c.Browser, exercise, 1000)
		if err != nil {
			t.Fatal(err)
		}
		bytes, recent, minutes := int64(len(text)), 0, map[int64]bool{}
		for _, d := range list {
			bytes += d.Size
			minutes[d.SavedAt.Unix()/60] = true
			if b.clock.now().Sub(d.SavedAt) < store.RecentDrafts {
				recent++
			}
		}
		if bytes > store.MaxSittingBytes || bytes < store.MaxSittingBytes*9/10 {
			t.Errorf("%d bytes", bytes)
		}
		if len(list) == saves || recent != 59 || len(minutes) != saves/6 {
			t.Errorf("%d versions, %d of the last minutes, of %d minutes", len(list), recent, len(minutes))
		}
	})

	each("CancelledLinkEndsIt", passes, func(t *testing.T, b *sittingBundle) {
		c := b.sits(t)
		b.saved(t, c, exercise, "one")
		if err := b.st.CancelCandidate(t.Context(), b.by, c, b.clock.now()); err != nil {
			t.Fatal(err)
		}
		if err := b.save(t, c, exercise, "two"); !errors.Is(err, store.ErrEnded) {
			t.Errorf("saved: %v", err)
		}
		b.upkeep(t)
		if c := b.again(t, c); c.EndedBy != store.ByCancel || len(b.handedIn(t, c, exercise)) != 1 {
			t.Errorf("%+v", c)
		}
		// What is noticed late does not change when and why it ended.
		c = b.sits(t)
		cancelled := b.clock.now()
		if err := b.st.CancelCandidate(t.Context(), b.by, c, cancelled); err != nil {
			t.Fatal(err)
		}
		b.clock.advance(2 * time.Hour)
		b.upkeep(t)
		if c := b.again(t, c); c.EndedBy != store.ByCancel || !c.EndedAt.Equal(cancelled) {
			t.Errorf("ended %v after it was cancelled, by %s", c.EndedAt.Sub(cancelled), c.EndedBy)
		}
		never := b.candidate(t, b.assignment, 0)
		if err := b.st.CancelCandidate(t.Context(), b.by, never, b.clock.now()); err != nil {
			t.Fatal(err)
		}
		if err := b.queue.StartSitting(t.Context(), never, ""); !errors.Is(err, store.ErrEnded) {
			t.Errorf("started: %v", err)
		}
	})
}

func TestForgetCandidate(t *testing.T) {
	t.Parallel()

	// fill leaves rows in every table that a candidate can leave rows in.
	fill := func(t *testing.T, b *sittingBundle) store.Candidate {
		c := b.sits(t)
		b.submit(t, submissionOf(c, "graded "+fmt.Sprint(c.ID)), Created)
		b.next(t)
		b.saved(t, c, "core/other", "stands")
		if err := b.st.Judge(t.Context(), b.by, c, store.Judgement{Exercise: exercise, Met: "1", Note: "Good."}, b.clock.now()); err != nil {
			t.Fatal(err)
		}
		if _, err := b.queue.EndSitting(t.Context(), c.ID, store.ByCandidate); err != nil {
			t.Fatal(err)
		}
		b.next(t)
		// A message that is being sent leaves its job, told to end, for a while.
		for b.count(t, "SELECT count(*) FROM river_job WHERE kind = 'webhook' AND state IN ('available', 'running')") > 0 {
			b.ended(t, webhookArgs{}.Kind())
		}
		return c
	}
	same := func(t *testing.T, got, want map[string]int) {
		t.Helper()
		for name, n := range got {
			if n != want[name] {
				t.Errorf("%s: %d rows, %d before", name, n, want[name])
			}
		}
	}
	setup := func(t *testing.T, pathOrURL string) *sittingBundle {
		b := setupSitting(t, pathOrURL, func(context.Context, Request, func(Progress)) (verdict.Verdict, error) {
			v := verdictOf(verdict.Failed)
			v.Findings = []verdict.Finding{{Kind: verdict.Duplicate}}
			return v, nil
		})
		// It is allowed nothing, so its messages wait.
		if _, err := b.st.AddWebhook(t.Context(), b.by, store.Webhook{URL: "https://hooks.example", Secret: webhook.NewSecret()}, b.clock.now()); err != nil {
			t.Fatal(err)
		}
		b.queue.pauses = []time.Duration{time.Hour}
		b.start(t)
		return b
	}

	t.Run("DownToTheLastRow", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL)
			fill(t, b)
			before := b.rowsPerTable(t)
			c := fill(t, b)
			for _, name := range []string{"browsers", "candidates", "drafts", "submissions", "submission_steps", "practised", "mistakes", "candidate_notes", "pastes", "webhook_deliveries", "river_job"} {
				if n := b.rowsPerTable(t)[name]; n <= before[name] {
					t.Errorf("nothing was left in %s, so this test says nothing of it", name)
				}
			}
			if err := b.queue.ForgetCandidate(t.Context(), b.by, c); err != nil {
				t.Fatal(err)
			}
			same(t, b.rowsPerTable(t), before)
			// A request that was under way brings nothing back.
			if err := b.save(t, c, exercise, "too late"); !errors.Is(err, store.ErrEnded) {
				t.Errorf("saved: %v", err)
			}
			if _, err := b.queue.Submit(t.Context(), submissionOf(c, "too late")); !errors.Is(err, store.ErrEnded) {
				t.Errorf("handed in: %v", err)
			}
			same(t, b.rowsPerTable(t), before)
			if n := b.count(t, "SELECT count(*) FROM audit WHERE subject LIKE '%Grace%'"); n != 0 {
				t.Error("the log has the candidate's name")
			}
		})
	})

	t.Run("WithTheAssignment", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL)
			before := b.rowsPerTable(t)
			b.assignment = b.assign(t, b.assignment)
			fill(t, b)
			fill(t, b)
			if err := b.queue.DeleteAssignment(t.Context(), b.by, b.assignment.ID); err != nil {
				t.Fatal(err)
			}
			same(t, b.rowsPerTable(t), before)
		})
	})

	t.Run("AfterTheDaysOfTheAssignment", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL)
			before := b.rowsPerTable(t)
			b.assignment = b.assign(t, b.assignment)
			before["assignments"]++
			before["assignment_exercises"] += len(b.assignment.Exercises)
			fill(t, b)
			b.clock.advance(30*24*time.Hour - time.Minute)
			b.upkeep(t)
			if n := b.count(t, "SELECT count(*) FROM candidates"); n != 1 {
				t.Fatal("deleted early")
			}
			b.candidate(t, b.assignment, 0) // who never comes
			b.clock.advance(2 * time.Minute)
			b.upkeep(t)
			if n := b.count(t, "SELECT count(*) FROM candidates"); n != 1 {
				t.Fatalf("%d candidates", n)
			}
			b.clock.advance(31 * 24 * time.Hour)
			b.upkeep(t)
			same(t, b.rowsPerTable(t), before)
		})
	})

	// One that cannot be deleted keeps no other from it.
	t.Run("EachForItself", func(t *testing.T) {
		t.Parallel()
		b := setupSitting(t, filepath.Join(t.TempDir(), "redeliver.db"), passes)
		stuck := b.sits(t)
		b.sits(t)
		_, err := b.st.Write.ExecContext(t.Context(), `CREATE TRIGGER stuck BEFORE DELETE ON browsers
			WHEN old.token_hash = '`+string(stuck.Browser)+`' BEGIN SELECT RAISE(ABORT, 'cannot be deleted'); END`)
		if err != nil {
			t.Fatal(err)
		}
		b.clock.advance(time.Hour + store.Grace)
		b.upkeep(t)
		b.clock.advance(31 * 24 * time.Hour)
		if err := b.queue.forgetPast(t.Context()); err == nil {
			t.Error("nobody is told")
		}
		if n := b.count(t, "SELECT count(*) FROM candidates"); n != 1 {
			t.Errorf("%d candidates", n)
		}
		if _, err := b.st.Write.ExecContext(t.Context(), "DROP TRIGGER stuck"); err != nil {
			t.Fatal(err)
		}
		b.upkeep(t) // it is tried again
		if n := b.count(t, "SELECT count(*) FROM candidates"); n != 0 {
			t.Errorf("%d candidates", n)
		}
	})

	// Nor do as many as one upkeep takes.
	t.Run("ManyThatCannotBeDeleted", func(t *testing.T) {
		t.Parallel()
		b := setupSitting(t, filepath.Join(t.TempDir(), "redeliver.db"), passes)
		for range maxPast {
			b.candidate(t, b.assignment, 0)
		}
		behind := b.candidate(t, b.assignment, 0)
		_, err := b.st.Write.ExecContext(t.Context(), `CREATE TRIGGER stuck BEFORE DELETE ON browsers
			WHEN old.token_hash <> '`+string(behind.Browser)+`' BEGIN SELECT RAISE(ABORT, 'cannot be deleted'); END`)
		if err != nil {
			t.Fatal(err)
		}
		b.clock.advance(31 * 24 * time.Hour)
		for range 2 {
			_ = b.queue.forgetPast(t.Context()) // EachForItself reads the error
		}
		if n := b.count(t, "SELECT count(*) FROM candidates"); n != maxPast {
			t.Errorf("%d candidates", n)
		}
		if _, err := b.st.Write.ExecContext(t.Context(), "DROP TRIGGER stuck"); err != nil {
			t.Fatal(err)
		}
		b.upkeep(t) // begins at the first again
		if n := b.count(t, "SELECT count(*) FROM candidates"); n != 0 {
			t.Errorf("%d candidates", n)
		}
	})

	t.Run("APlaceThatNobodyTook", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL)
			if err := b.st.SetOpenLink(t.Context(), b.by, b.assignment.ID, "open", b.clock.now()); err != nil {
				t.Fatal(err)
			}
			come := func(name string) store.Candidate {
				err := b.st.ComeByOpenLink(t.Context(), "open", store.Invited{Name: name, TokenHash: name}, "", b.clock.now())
				if err != nil {
					t.Fatal(err)
				}
				c, _, err := b.st.CandidateByToken(t.Context(), name)
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			come("never begins")
			begun := come("begins")
			if err := b.queue.StartSitting(t.Context(), begun, ""); err != nil {
				t.Fatal(err)
			}
			b.candidate(t, b.assignment, 0) // has a link of its own
			b.clock.advance(store.KeepPlace)
			b.upkeep(t)
			if n := b.count(t, "SELECT count(*) FROM candidates"); n != 3 {
				t.Fatalf("%d candidates", n)
			}
			b.clock.advance(time.Second)
			b.upkeep(t)
			if n := b.count(t, "SELECT count(*) FROM candidates WHERE name = 'never begins'"); n != 0 {
				t.Error("the place is still taken")
			}
			if n := b.count(t, "SELECT count(*) FROM candidates"); n != 2 {
				t.Errorf("%d candidates", n)
			}
		})
	})

	// The bound for silent browsers is not that of candidates.
	t.Run("NotWithSilentBrowsers", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, pathOrURL string) {
			b := setup(t, pathOrURL)
			b.assignment.RetainDays = 1000
			b.assignment = b.assign(t, b.assignment)
			fill(t, b)
			b.clock.advance(500 * 24 * time.Hour)
			if err := b.queue.forget(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := b.count(t, "SELECT count(*) FROM candidates"); n != 1 {
				t.Error("deleted")
			}
		})
	})
}
