package store_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/store/db"
	"redeliver/web/store/storetest"
)

func TestCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupPeople(t, pathOrURL)
		ctx := t.Context()
		assign := func() store.Assignment {
			id, err := b.st.Assign(ctx, b.owner, store.Assignment{Title: "Backend", Lang: "en", Exercises: []string{exercise, "core/b"}, RetainDays: 30}, b.now)
			if err != nil {
				t.Fatal(err)
			}
			return store.Assignment{ID: id}
		}
		a, other := assign(), assign()
		candidate := func(a store.Assignment, name string) store.Candidate {
			id, err := b.st.AddCandidate(ctx, b.owner, a.ID, store.Invited{Name: name, TokenHash: name}, b.now)
			if err != nil {
				t.Fatal(err)
			}
			c, err := b.st.Candidate(ctx, b.owner, a.ID, id)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		grace, linus, elsewhere := candidate(a, "Grace"), candidate(a, "Linus"), candidate(other, "Eve")
		ids := map[string]int64{}
		handIn := func(c store.Candidate, id, exercise string, o verdict.Outcome) {
			ids[id] = createSubmission(t, b.st, newSubmission{browser: c.Browser, publicID: id, exercise: exercise, hash: "hash of " + id, at: b.now.UnixMilli()})
			if o != "" {
				finish(t, b.st, ids[id], verdictOf(o))
			}
		}
		handIn(grace, "failed", exercise, verdict.Failed)
		handIn(grace, "passed-once", exercise, verdict.Passed)
		handIn(grace, "passed-again", exercise, verdict.Passed)
		handIn(grace, "failed-later", exercise, verdict.Failed)
		handIn(grace, "waits", exercise, "")
		handIn(grace, "rejected", "core/b", verdict.Rejected)
		handIn(grace, "inconclusive", "core/b", verdict.Inconclusive)
		handIn(linus, "only", exercise, "")
		handIn(elsewhere, "elsewhere", exercise, verdict.Passed)

		line := func(c store.Candidate, id, exercise string) store.Counted {
			return store.Counted{Candidate: c.ID, Name: c.Name, Exercise: exercise, ID: ids[id], PublicID: id, SourceHash: "hash of " + id}
		}
		want := []store.Counted{line(grace, "rejected", "core/b"), line(grace, "passed-again", exercise), line(linus, "only", exercise)}
		got, err := b.st.Counted(ctx, a)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("err %v, (-want +got)\n%s", err, diff)
		}
		text, err := b.st.Text(ctx, want[1])
		if err != nil || len(text) != 1 || string(text[0].Content) != "package handler" {
			t.Errorf("%+v, err %v", text, err)
		}
		if err := b.st.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
			_, err := store.ForgetCandidateTx(ctx, q, b.owner, linus, b.now.Add(time.Hour))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.st.Text(ctx, want[2]); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("text of who was deleted: %v", err)
		}
		if got, err := b.st.Counted(ctx, a); err != nil || len(got) != 2 {
			t.Errorf("%+v, err %v", got, err)
		}
	})
}
