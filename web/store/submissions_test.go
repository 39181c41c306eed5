package store_test

import (
	"cmp"
	"database/sql"
	"errors"
	"testing"
	"time"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/db"
	"redeliver/web/store/storetest"
)

type newSubmission struct {
	token, publicID, exercise, hash string
	browser                         store.Browser // in place of the token
	at                              int64
}

// createSubmission writes a row as the job queue does.
func createSubmission(t *testing.T, st *store.Store, n newSubmission) (id int64) {
	t.Helper()
	err := st.InTx(t.Context(), func(_ *sql.Tx, q *db.Queries) error {
		browser, err := store.TouchBrowser(t.Context(), q, cmp.Or(n.browser, store.BrowserOf(n.token)), time.UnixMilli(n.at))
		if err != nil {
			return err
		}
		text, err := store.EncodeFiles(files("package handler"))
		if err != nil {
			return err
		}
		id, err = q.CreateSubmission(t.Context(), db.CreateSubmissionParams{
			PublicID: cmp.Or(n.publicID, "first"), BrowserID: browser, Exercise: cmp.Or(n.exercise, exercise), ExerciseVersion: "1.0.0",
			Engine: "1", Seed: 1, Files: text, SourceHash: cmp.Or(n.hash, "hash"), CreatedAt: n.at,
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func finish(t *testing.T, st *store.Store, id int64, v verdict.Verdict) (stored bool) {
	t.Helper()
	err := st.InTx(t.Context(), func(_ *sql.Tx, q *db.Queries) (err error) {
		stored, err = store.FinishTx(t.Context(), q, id, v, time.UnixMilli(5000))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func verdictOf(o verdict.Outcome) verdict.Verdict {
	return verdict.Verdict{Exercise: exercise, ExerciseVersion: "1.0.0", Engine: "1", Outcome: o, Summary: string(o)}
}

func TestSubmission(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		ctx := t.Context()
		q := db.New(st.Write)
		ada := store.BrowserOf("ada")
		id := createSubmission(t, st, newSubmission{token: "ada", at: 1000})

		t.Run("SeenOnlyByItsBrowser", func(t *testing.T) {
			sub, err := st.Submission(ctx, ada, "first")
			if err != nil || sub.ID != id || sub.State != store.Queued || sub.Verdict != nil || string(sub.Files[0].Content) != "package handler" {
				t.Errorf("submission %+v, err %v", sub, err)
			}
			for _, who := range []store.Browser{"", store.BrowserOf("bob")} {
				if _, err := st.Submission(ctx, who, "first"); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%q: err %v", who, err)
				}
				if list, err := st.Submissions(ctx, who, "", 10); len(list) != 0 || err != nil {
					t.Errorf("%q: list %v, err %v", who, list, err)
				}
			}
		})

		t.Run("PlaceCountsThoseThatWaitBefore", func(t *testing.T) {
			later := createSubmission(t, st, newSubmission{token: "bob", publicID: "second", at: 2000})
			for job, id := range []int64{id, later} { // the place is that of the job
				if err := q.SetSubmissionJob(ctx, db.SetSubmissionJobParams{ID: id, JobID: sql.NullInt64{Int64: int64(job), Valid: true}}); err != nil {
					t.Fatal(err)
				}
			}
			for want := 1; want >= 0; want-- {
				if n, err := st.WaitingBefore(ctx, later); n != want || err != nil {
					t.Errorf("%d before, want %d, err %v", n, want, err)
				}
				n, err := q.StartSubmission(ctx, db.StartSubmissionParams{ID: id, Attempt: 1, StartedAt: sql.NullInt64{Int64: 3000, Valid: true}})
				if n != 1 || err != nil {
					t.Fatalf("started %d, err %v", n, err)
				}
			}
			if n, err := q.CountQueued(ctx); n != 2 || err != nil {
				t.Errorf("%d queued, err %v", n, err)
			}
		})

		t.Run("JobIsKept", func(t *testing.T) {
			if err := q.SetSubmissionJob(ctx, db.SetSubmissionJobParams{ID: id, JobID: sql.NullInt64{Int64: 7, Valid: true}}); err != nil {
				t.Fatal(err)
			}
			if row, err := q.GetSubmission(ctx, id); err != nil || row.JobID.Int64 != 7 {
				t.Errorf("row %+v, err %v", row, err)
			}
		})

		t.Run("UnfinishedIsFound", func(t *testing.T) {
			row, err := q.GetSubmission(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			unfinished, err := q.UnfinishedSubmission(ctx, db.UnfinishedSubmissionParams{BrowserID: row.BrowserID, Exercise: exercise})
			if unfinished.PublicID != "first" || err != nil {
				t.Errorf("%+v, err %v", unfinished, err)
			}
			_, err = q.UnfinishedSubmission(ctx, db.UnfinishedSubmissionParams{BrowserID: row.BrowserID, Exercise: "core/other"})
			if !errors.Is(err, sql.ErrNoRows) {
				t.Errorf("another exercise: err %v", err)
			}
		})

		t.Run("VerdictIsStoredOnce", func(t *testing.T) {
			failed := verdictOf(verdict.Failed)
			failed.Findings = []verdict.Finding{{Kind: verdict.Duplicate, Trace: []verdict.Step{{Step: 1, Event: "sql"}}}}
			failed.ExerciseVersion = "1.0.1" // the pack was updated meanwhile
			if !finish(t, st, id, failed) {
				t.Error("the first verdict was not stored")
			}
			if finish(t, st, id, verdictOf(verdict.Passed)) {
				t.Error("the second verdict was stored")
			}
			sub, err := st.SubmissionByID(ctx, id)
			if err != nil || sub.State != store.Graded || sub.Verdict.Outcome != verdict.Failed || len(sub.Verdict.Findings[0].Trace) != 1 {
				t.Errorf("submission %+v, err %v", sub, err)
			}
			if sub.ExerciseVersion != "1.0.1" || !sub.FinishedAt.Equal(time.UnixMilli(5000)) || !sub.StartedAt.Equal(time.UnixMilli(3000)) {
				t.Errorf("submission %+v", sub)
			}
		})

		t.Run("ListIsNewestFirst", func(t *testing.T) {
			createSubmission(t, st, newSubmission{token: "ada", publicID: "third", exercise: "core/other", at: 4000})
			list, err := st.Submissions(ctx, ada, "", 10)
			if err != nil || len(list) != 2 || list[0].PublicID != "third" || list[1].Outcome != verdict.Failed {
				t.Errorf("list %+v, err %v", list, err)
			}
			list, err = st.Submissions(ctx, ada, exercise, 10)
			if err != nil || len(list) != 1 || list[0].PublicID != "first" {
				t.Errorf("of one exercise: %+v, err %v", list, err)
			}
		})

		t.Run("CountSince", func(t *testing.T) {
			row, err := q.GetSubmission(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			for since, want := range map[int64]int64{0: 2, 1001: 1, 4001: 0} {
				n, err := q.CountSubmissionsSince(ctx, db.CountSubmissionsSinceParams{BrowserID: row.BrowserID, Since: since})
				if n != want || err != nil {
					t.Errorf("since %d: %d, want %d, err %v", since, n, want, err)
				}
			}
		})
	})
}

func TestFindGraded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		q := db.New(st.Write)
		bob := createSubmission(t, st, newSubmission{token: "bob", publicID: "bob's"})
		ada := createSubmission(t, st, newSubmission{token: "ada", publicID: "ada's"})
		eve := createSubmission(t, st, newSubmission{token: "eve", publicID: "eve's"})
		browser := func(id int64) int64 {
			row, err := q.GetSubmission(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return row.BrowserID
		}
		same := db.FindGradedParams{
			SourceHash: "hash", Exercise: exercise, ExerciseVersion: "1.0.0", Engine: "1", Seed: 1, BrowserID: browser(ada),
		}
		find := func(p db.FindGradedParams) string {
			row, err := q.FindGraded(t.Context(), p)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				t.Fatal(err)
			}
			return row.PublicID
		}
		if got := find(same); got != "" {
			t.Errorf("found %s, which is queued", got)
		}
		finish(t, st, eve, verdictOf(verdict.Inconclusive))
		if got := find(same); got != "" {
			t.Errorf("found %s, which is inconclusive", got)
		}
		finish(t, st, ada, verdictOf(verdict.Failed))
		finish(t, st, bob, verdictOf(verdict.Failed))
		if got := find(same); got != "ada's" {
			t.Errorf("found %q, want the browser's own", got)
		}
		same.BrowserID = browser(bob)
		if got := find(same); got != "bob's" {
			t.Errorf("found %q, want the browser's own", got)
		}
		for name, change := range map[string]func(*db.FindGradedParams){
			"OtherSource":  func(p *db.FindGradedParams) { p.SourceHash = "other" },
			"OtherVersion": func(p *db.FindGradedParams) { p.ExerciseVersion = "2.0.0" },
			"OtherEngine":  func(p *db.FindGradedParams) { p.Engine = "2" },
			"OtherSeed":    func(p *db.FindGradedParams) { p.Seed = 2 },
			"OtherTask":    func(p *db.FindGradedParams) { p.Exercise = "core/other" },
		} {
			p := same
			change(&p)
			if got := find(p); got != "" {
				t.Errorf("%s: found %s", name, got)
			}
		}
	})
}

func TestDeleting(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		q := db.New(st.Write)
		count := func(table string) (n int) {
			if err := st.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		var last int64
		for _, publicID := range []string{"one", "two", "three"} {
			last = createSubmission(t, st, newSubmission{token: "ada", publicID: publicID, at: 1000})
			if _, err := st.AddStep(t.Context(), last, "{}", time.UnixMilli(1)); err != nil {
				t.Fatal(err)
			}
			finish(t, st, last, verdictOf(verdict.Passed))
		}
		row, err := q.GetSubmission(t.Context(), last)
		if err != nil {
			t.Fatal(err)
		}

		if n, err := q.ThinSubmissions(t.Context(), db.ThinSubmissionsParams{BrowserID: row.BrowserID, MaxRows: 2, MaxBytes: 1 << 20}); n != 1 || err != nil {
			t.Errorf("thinned %d, err %v", n, err)
		}
		if _, err := st.Submission(t.Context(), store.BrowserOf("ada"), "one"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the oldest is still there: err %v", err)
		}
		if n := count("submission_steps"); n != 2 {
			t.Errorf("%d steps", n)
		}

		createSubmission(t, st, newSubmission{token: "bob", publicID: "waits", at: 1000})
		createSubmission(t, st, newSubmission{token: "eve", publicID: "fresh", at: 9000})
		if n, err := st.ForgetBrowsers(t.Context(), time.UnixMilli(5000)); n != 1 || err != nil {
			t.Errorf("forgot %d browsers, err %v", n, err)
		}
		if b, s, steps := count("browsers"), count("submissions"), count("submission_steps"); b != 2 || s != 2 || steps != 0 {
			t.Errorf("%d browsers, %d submissions, %d steps left", b, s, steps)
		}
	})
}

func TestSteps(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		id := createSubmission(t, st, newSubmission{token: "ada"})
		now := time.UnixMilli(1)
		for i, data := range []string{`{"stage":"check"}`, `{"stage":"build"}`} {
			if n, err := st.AddStep(t.Context(), id, data, now); n != int64(i+1) || err != nil {
				t.Fatalf("number %d, err %v", n, err)
			}
		}
		if steps, err := st.Steps(t.Context(), id); err != nil || len(steps) != 2 || steps[1] != (store.Step{Number: 2, Data: `{"stage":"build"}`}) {
			t.Errorf("steps %+v, err %v", steps, err)
		}
		// A second attempt replaces them, and a stream that has seen step 2 still gets its step.
		if n, err := st.RestartSteps(t.Context(), id, `{"stage":"again"}`, now); n != 3 || err != nil {
			t.Fatalf("number %d, err %v", n, err)
		}
		if steps, err := st.Steps(t.Context(), id); err != nil || len(steps) != 1 || steps[0].Number != 3 {
			t.Errorf("steps %+v, err %v", steps, err)
		}
		if _, err := st.AddStep(t.Context(), 12345, "{}", now); err == nil {
			t.Error("stored a step of no submission")
		}
	})
}
