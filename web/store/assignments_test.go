package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

func TestAssignments(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupPeople(t, pathOrURL)
		ctx := t.Context()
		bob, eve := b.join(t, "bob", store.Interviewer), b.join(t, "eve", store.Interviewer)
		want := store.Assignment{
			Title: "Backend", Note: "Good luck.", Lang: "de", Exercises: []string{"core/b", "core/a"}, WarmUp: "core/w", Limit: 90 * time.Minute,
			OpensAt: b.now.Add(time.Hour), ClosesAt: b.now.Add(48 * time.Hour), Hints: true, AllPhases: true, RetainDays: 30,
		}
		id, err := b.st.Assign(ctx, bob, want, b.now)
		if err != nil {
			t.Fatal(err)
		}
		want.ID, want.CreatedAt = id, b.now
		for _, by := range []store.Actor{bob, b.owner} {
			got, err := b.st.Assignment(ctx, by, id)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("err %v, (-want +got)\n%s", err, diff)
			}
			if list, err := b.st.Assignments(ctx, by, 0, 10); err != nil || len(list) != 1 || list[0].Maker != "bob" {
				t.Errorf("%+v, err %v", list, err)
			}
		}

		cid, err := b.st.AddCandidate(ctx, bob, id, store.Invited{Name: "Grace", TokenHash: "grace", Extra: 15 * time.Minute}, b.now)
		if err != nil {
			t.Fatal(err)
		}
		c, err := b.st.Candidate(ctx, b.owner, id, cid)
		if err != nil || c.Name != "Grace" || c.Extra != 15*time.Minute || !c.Browser.IsSitting() {
			t.Fatalf("%+v, err %v", c, err)
		}
		if _, err := b.st.Candidate(ctx, bob, id+1, cid); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("found under another assignment: %v", err)
		}

		// Another interviewer, and somebody who is nobody any more, see and change nothing.
		gone := b.join(t, "gone", store.Interviewer)
		if err := b.st.RemovePerson(ctx, b.owner, gone.Person.ID, b.now); err != nil {
			t.Fatal(err)
		}
		for _, by := range []store.Actor{eve, gone, {}} {
			_, err1 := b.st.Assignment(ctx, by, id)
			_, err2 := b.st.Candidate(ctx, by, id, cid)
			_, err3 := b.st.AddCandidate(ctx, by, id, store.Invited{Name: "x", TokenHash: "x"}, b.now)
			for i, err := range []error{
				err1, err2, err3, b.st.SetOpenLink(ctx, by, id, "x", b.now), b.st.CancelCandidate(ctx, by, c, b.now),
				b.st.SetExtra(ctx, by, c, time.Hour, b.now), b.st.Judge(ctx, by, c, store.Judgement{Note: "x"}, b.now),
			} {
				if !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%q, %d: %v", by.Person.Login, i, err)
				}
			}
			if list, err := b.st.Assignments(ctx, by, 0, 10); err != nil || len(list) != 0 {
				t.Errorf("%q lists %+v, err %v", by.Person.Login, list, err)
			}
		}

		// The link for everybody.
		if err := b.st.SetOpenLink(ctx, bob, id, "open", b.now); err != nil {
			t.Fatal(err)
		}
		if err := b.st.ComeByOpenLink(ctx, "open", store.Invited{Name: "Linus", TokenHash: "linus", Extra: time.Hour}, "192.0.2.9", b.now); err != nil {
			t.Fatal(err)
		}
		linus, a, err := b.st.CandidateByToken(ctx, "linus")
		if err != nil || !linus.Self || linus.Extra != 0 || a.ID != id || linus.Browser == c.Browser {
			t.Errorf("%+v, err %v", linus, err)
		}
		if err := b.st.SetOpenLink(ctx, bob, id, "", b.now); err != nil {
			t.Fatal(err)
		}
		if _, err := b.st.OpenAssignment(ctx, "open"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the link is still there: %v", err)
		}
		if err := b.st.ComeByOpenLink(ctx, "open", store.Invited{Name: "Late", TokenHash: "late"}, "", b.now); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("came: %v", err)
		}

		// What somebody made who is gone is the owners'.
		if err := b.st.RemovePerson(ctx, b.owner, bob.Person.ID, b.now); err != nil {
			t.Fatal(err)
		}
		if list, err := b.st.Assignments(ctx, b.owner, 0, 10); err != nil || len(list) != 1 || list[0].Maker != "" || list[0].Candidates != 2 {
			t.Errorf("%+v, err %v", list, err)
		}
	})
}

func TestBeat(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupPeople(t, pathOrURL)
		outages := func() (n int) {
			if err := b.st.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM outages").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		now := b.now
		for i, step := range []struct {
			after time.Duration
			want  int
		}{{0, 0}, {store.BeatEvery, 0}, {store.MaxSilence, 0}, {store.MaxSilence + time.Second, 1}, {-time.Hour, 1}, {time.Hour, 1}, {time.Hour, 2}} {
			now = now.Add(step.after)
			if err := b.st.Beat(t.Context(), now); err != nil {
				t.Fatal(err)
			}
			if n := outages(); n != step.want {
				t.Errorf("step %d: %d outages, want %d", i, n, step.want)
			}
		}
	})
}
