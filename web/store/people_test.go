package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

// peopleBundle is a database with an owner.
type peopleBundle struct {
	st    *store.Store
	owner store.Actor
	now   time.Time
}

func setupPeople(t *testing.T, pathOrURL string) *peopleBundle {
	t.Helper()
	b := &peopleBundle{st: storetest.Open(t, pathOrURL, migrate), now: time.UnixMilli(1_000_000)}
	b.first(t, "first")
	p, err := b.st.AcceptInvitation(t.Context(), "first", store.NewPerson{Login: "ada", Name: "Ada", Password: "hash of ada"}, "192.0.2.1", b.now)
	if err != nil || p.Role != store.Owner {
		t.Fatalf("%+v, err %v", p, err)
	}
	b.owner = store.Actor{Person: p, Network: "192.0.2.1"}
	return b
}

func (b *peopleBundle) first(t *testing.T, hash string) {
	t.Helper()
	err := b.st.InviteFromServer(t.Context(), hash, store.Invitation{Role: store.Owner, First: true, ExpiresAt: b.now.Add(time.Hour)}, b.now)
	if err != nil {
		t.Fatal(err)
	}
}

// join makes a person through a link.
func (b *peopleBundle) join(t *testing.T, login string, role store.Role) store.Actor {
	t.Helper()
	err := b.st.Invite(t.Context(), b.owner, "link of "+login, store.Invitation{Role: role, Note: login, ExpiresAt: b.now.Add(time.Hour)}, b.now)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.st.AcceptInvitation(t.Context(), "link of "+login, store.NewPerson{Login: login, Name: login, Password: "hash of " + login}, "192.0.2.2", b.now)
	if err != nil {
		t.Fatal(err)
	}
	return store.Actor{Person: p, Network: "192.0.2.2"}
}

// session signs a person in.
func (b *peopleBundle) session(t *testing.T, who store.Actor, token string, at time.Time) {
	t.Helper()
	if err := b.signIn(t, who, token, "hash of "+who.Person.Login, at); err != nil {
		t.Fatal(err)
	}
}

func (b *peopleBundle) signIn(t *testing.T, who store.Actor, token, password string, at time.Time) error {
	t.Helper()
	return b.st.CreateSession(t.Context(), store.SignIn{
		Session:  store.Session{TokenHash: token, Person: who.Person.ID, Deadline: at.Add(10 * store.IdleSession)},
		Password: password, Network: who.Network,
	}, at)
}

func (b *peopleBundle) signedIn(t *testing.T, token string, at time.Time) bool {
	t.Helper()
	_, err := b.st.Session(t.Context(), token, at)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func TestFirstOwner(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		st := storetest.Open(t, pathOrURL, migrate)
		b := &peopleBundle{st: st, now: time.UnixMilli(1_000_000)}
		if has, err := st.HasOwner(t.Context()); has || err != nil {
			t.Fatalf("an empty database has an owner: %v, err %v", has, err)
		}
		// Several servers have started; two people follow their links at once.
		const servers = 4
		for i := range servers {
			b.first(t, fmt.Sprint("link ", i))
		}
		var group sync.WaitGroup
		results := make([]error, servers)
		for i := range servers {
			group.Go(func() {
				_, results[i] = st.AcceptInvitation(t.Context(), fmt.Sprint("link ", i),
					store.NewPerson{Login: fmt.Sprint("owner", i), Name: "Owner", Password: "hash"}, "192.0.2.1", b.now)
			})
		}
		group.Wait()
		made := 0
		for _, err := range results {
			if err == nil {
				made++
			} else if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the others get %v", err)
			}
		}
		people, err := st.People(t.Context())
		if err != nil || made != 1 || len(people) != 1 {
			t.Errorf("%d accepted, %d people, err %v", made, len(people), err)
		}
		// A link of a start that saw no owner yet, followed later.
		b.first(t, "late")
		if _, err := st.AcceptInvitation(t.Context(), "late", store.NewPerson{Login: "eve", Name: "Eve", Password: "h"}, "", b.now); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a second first owner: err %v", err)
		}
		// A server that starts again and again.
		for i := range 3 * store.MaxFirstInvitations {
			b.first(t, fmt.Sprint("again ", i))
		}
		var n int
		if err := st.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM invitations WHERE first").Scan(&n); err != nil || n != store.MaxFirstInvitations {
			t.Errorf("%d links of starts, err %v", n, err)
		}
	})
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupPeople(t, pathOrURL)
		ctx := t.Context()
		invite := func(t *testing.T, hash string) {
			t.Helper()
			if err := b.st.Invite(ctx, b.owner, hash, store.Invitation{Role: store.Interviewer, Note: "Bob", ExpiresAt: b.now.Add(time.Hour)}, b.now); err != nil {
				t.Fatal(err)
			}
		}
		accept := func(hash, login string, at time.Time) error {
			_, err := b.st.AcceptInvitation(ctx, hash, store.NewPerson{Login: login, Name: login, Password: "h"}, "192.0.2.3", at)
			return err
		}

		t.Run("OnceOnly", func(t *testing.T) {
			invite(t, "once")
			if err := accept("once", "bob", b.now); err != nil {
				t.Fatal(err)
			}
			if err := accept("once", "mallory", b.now); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the second time: %v", err)
			}
			if _, err := b.st.Invitation(ctx, "once", b.now); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("it is still there: %v", err)
			}
		})
		t.Run("TakenNameLeavesTheLink", func(t *testing.T) {
			invite(t, "taken")
			if err := accept("taken", "ada", b.now); !errors.Is(err, store.ErrLoginTaken) {
				t.Fatalf("err %v", err)
			}
			if err := accept("taken", "carol", b.now); err != nil {
				t.Errorf("after another name: %v", err)
			}
		})
		t.Run("NotAfterItsEnd", func(t *testing.T) {
			invite(t, "late")
			if err := accept("late", "dave", b.now.Add(time.Hour)); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("err %v", err)
			}
			if err := b.st.ForgetAccess(ctx, b.now.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if err := accept("late", "dave", b.now); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("after upkeep: %v", err)
			}
		})
		t.Run("NotAfterItWasCancelled", func(t *testing.T) {
			invite(t, "cancelled")
			open, err := b.st.Invitations(ctx, b.now)
			if err != nil || len(open) != 1 || open[0].Note != "Bob" || open[0].Role != store.Interviewer {
				t.Fatalf("%+v, err %v", open, err)
			}
			if err := b.st.CancelInvitation(ctx, b.owner, open[0].ID, b.now); err != nil {
				t.Fatal(err)
			}
			if err := accept("cancelled", "erin", b.now); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("err %v", err)
			}
			if err := b.st.CancelInvitation(ctx, b.owner, open[0].ID, b.now); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("cancelled twice: %v", err)
			}
		})
		t.Run("OnlyOwnersMakeAndCancelThem", func(t *testing.T) {
			frank := b.join(t, "frank", store.Interviewer)
			invite(t, "not his")
			open, err := b.st.Invitations(ctx, b.now)
			if err != nil || len(open) != 1 {
				t.Fatal(open, err)
			}
			for name, who := range map[string]store.Actor{"interviewer": frank, "nobody": {}} {
				for what, err := range map[string]error{
					"invite":   b.st.Invite(ctx, who, "x", store.Invitation{Role: store.Owner, ExpiresAt: b.now.Add(time.Hour)}, b.now),
					"password": b.st.InviteToPassword(ctx, who, "y", b.owner.Person.ID, b.now.Add(time.Hour), b.now),
					"cancel":   b.st.CancelInvitation(ctx, who, open[0].ID, b.now),
					"remove":   b.st.RemovePerson(ctx, who, b.owner.Person.ID, b.now),
					"sign out": b.st.SignOutPerson(ctx, who, b.owner.Person.ID, b.now),
				} {
					if !errors.Is(err, store.ErrNotFound) {
						t.Errorf("%s: %s: err %v", name, what, err)
					}
				}
			}
			if err := b.st.CancelInvitation(ctx, b.owner, open[0].ID, b.now); err != nil {
				t.Fatal(err)
			}
		})
		t.Run("NotMoreThanMaxInvitations", func(t *testing.T) {
			for i := range store.MaxInvitations {
				invite(t, fmt.Sprint("many ", i))
			}
			err := b.st.Invite(ctx, b.owner, "one more", store.Invitation{Role: store.Interviewer, ExpiresAt: b.now.Add(time.Hour)}, b.now)
			if !errors.Is(err, store.ErrFull) {
				t.Errorf("err %v", err)
			}
		})
	})
}

func TestPasswordLink(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupPeople(t, pathOrURL)
		ctx := t.Context()
		bob := b.join(t, "bob", store.Interviewer)
		b.session(t, bob, "old session", b.now)
		for _, hash := range []string{"first link", "second link"} {
			if err := b.st.InviteToPassword(ctx, b.owner, hash, bob.Person.ID, b.now.Add(time.Hour), b.now); err != nil {
				t.Fatal(err)
			}
		}
		set := func(hash string) error {
			// What the link does not ask for is not taken.
			p, err := b.st.AcceptInvitation(ctx, hash, store.NewPerson{Login: "ada", Name: "Mallory", Password: "new hash"}, "192.0.2.9", b.now)
			if err == nil && (p.ID != bob.Person.ID || p.Login != "bob" || p.Name != "bob" || p.Role != store.Interviewer) {
				t.Errorf("the link changed more: %+v", p)
			}
			return err
		}
		if err := set("first link"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a link that a newer one replaced: %v", err)
		}
		if err := set("second link"); err != nil {
			t.Fatal(err)
		}
		if b.signedIn(t, "old session", b.now) {
			t.Error("the old session goes on")
		}
		if err := b.signIn(t, bob, "stale", "hash of bob", b.now); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("who compared the old password before still signs in: %v", err)
		}
		if err := b.signIn(t, bob, "fresh", "new hash", b.now); err != nil {
			t.Error(err)
		}
	})
}

func TestSessions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupPeople(t, pathOrURL)
		ctx := t.Context()
		bob := b.join(t, "bob", store.Interviewer)

		t.Run("EndsWithoutUse", func(t *testing.T) {
			b.session(t, bob, "idle", b.now)
			if !b.signedIn(t, "idle", b.now.Add(store.IdleSession-time.Minute)) { // and is prolonged
				t.Fatal("ended too early")
			}
			if !b.signedIn(t, "idle", b.now.Add(store.IdleSession+time.Hour)) {
				t.Error("its use did not prolong it")
			}
			if b.signedIn(t, "idle", b.now.Add(3*store.IdleSession)) {
				t.Error("it goes on without use")
			}
		})
		t.Run("EndsAtItsDeadline", func(t *testing.T) {
			b.session(t, bob, "used", b.now)
			at := b.now
			for range 19 {
				if at = at.Add(store.IdleSession / 2); !b.signedIn(t, "used", at) {
					t.Fatalf("ended after %s", at.Sub(b.now))
				}
			}
			if b.signedIn(t, "used", b.now.Add(10*store.IdleSession)) {
				t.Error("it outlives its deadline")
			}
		})
		t.Run("UseDoesNotBringItBack", func(t *testing.T) {
			b.session(t, bob, "ended", b.now)
			if err := b.st.DeleteSession(ctx, "ended"); err != nil {
				t.Fatal(err)
			}
			if b.signedIn(t, "ended", b.now.Add(time.Hour)) || b.signedIn(t, "ended", b.now) {
				t.Error("it is there again")
			}
		})
		t.Run("OldestEndBeyondTheNumber", func(t *testing.T) {
			for i := range store.MaxSessions + 1 {
				b.session(t, bob, fmt.Sprint("many ", i), b.now.Add(time.Duration(i+1)*time.Second))
			}
			n, err := b.st.CountSessions(ctx, bob.Person.ID, b.now.Add(time.Minute))
			if err != nil || n != store.MaxSessions || b.signedIn(t, "many 0", b.now.Add(time.Minute)) || !b.signedIn(t, "many 1", b.now.Add(time.Minute)) {
				t.Errorf("%d sessions, err %v", n, err)
			}
		})
		t.Run("EverywhereIsOnlyOnesOwn", func(t *testing.T) {
			b.session(t, b.owner, "of ada", b.now)
			b.session(t, bob, "of bob", b.now)
			if err := b.st.SignOutEverywhere(ctx, bob, b.now); err != nil {
				t.Fatal(err)
			}
			if b.signedIn(t, "of bob", b.now) || !b.signedIn(t, "of ada", b.now) {
				t.Error("wrong sessions ended")
			}
			b.session(t, bob, "of bob", b.now)
			if err := b.st.SignOutPerson(ctx, b.owner, bob.Person.ID, b.now); err != nil {
				t.Fatal(err)
			}
			if b.signedIn(t, "of bob", b.now) || !b.signedIn(t, "of ada", b.now) {
				t.Error("wrong sessions ended by the owner")
			}
		})
		t.Run("ExpiredGo", func(t *testing.T) {
			b.session(t, bob, "expired", b.now)
			if err := b.st.ForgetAccess(ctx, b.now.Add(store.IdleSession)); err != nil {
				t.Fatal(err)
			}
			if b.signedIn(t, "expired", b.now) {
				t.Error("it is still stored")
			}
		})
		t.Run("NoneForWhoIsGone", func(t *testing.T) {
			gone := bob
			gone.Person.ID += 1000
			if err := b.signIn(t, gone, "ghost", "hash of bob", b.now); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("err %v", err)
			}
		})
	})
}

func TestRemovePerson(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupPeople(t, pathOrURL)
		ctx := t.Context()
		bob := b.join(t, "bob", store.Owner)
		b.session(t, bob, "of bob", b.now)
		if err := b.st.Invite(ctx, bob, "by bob", store.Invitation{Role: store.Owner, ExpiresAt: b.now.Add(time.Hour)}, b.now); err != nil {
			t.Fatal(err)
		}
		if err := b.st.RemovePerson(ctx, bob, bob.Person.ID, b.now); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("an owner removed itself: %v", err)
		}
		if err := b.st.RemovePerson(ctx, b.owner, bob.Person.ID, b.now); err != nil {
			t.Fatal(err)
		}
		if b.signedIn(t, "of bob", b.now) {
			t.Error("still signed in")
		}
		if _, err := b.st.Invitation(ctx, "by bob", b.now); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the link that it made can be followed: %v", err)
		}
		if err := b.st.RemovePerson(ctx, bob, b.owner.Person.ID, b.now); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("who is removed removes others: %v", err)
		}
		log, err := b.st.Audit(ctx, 0, 100)
		if err != nil || len(log) == 0 || log[0].Action != store.PersonRemoved || log[0].Who != "ada" || log[0].Subject != "bob" {
			t.Errorf("log %+v, err %v", log, err)
		}
		kept := false
		for _, e := range log {
			kept = kept || e.Who == "bob" && e.Action == store.Joined
		}
		if !kept {
			t.Error("the log forgot who bob was")
		}
	})
}

// Two owners who remove each other at once: one of them stays.
func TestOneOwnerStays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupPeople(t, pathOrURL)
		bob := b.join(t, "bob", store.Owner)
		var group sync.WaitGroup
		group.Go(func() { _ = b.st.RemovePerson(t.Context(), b.owner, bob.Person.ID, b.now) })
		group.Go(func() { _ = b.st.RemovePerson(t.Context(), bob, b.owner.Person.ID, b.now) })
		group.Wait()
		people, err := b.st.People(t.Context())
		if err != nil || len(people) != 1 {
			t.Errorf("%d owners, err %v", len(people), err)
		}
	})
}

func TestAudit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupPeople(t, pathOrURL)
		ctx := t.Context()
		since := b.now.Add(-time.Second)

		if known, err := b.st.KnowsNetwork(ctx, "ada", "192.0.2.1", since); known || err != nil {
			t.Errorf("known before a sign-in: %v, err %v", known, err)
		}
		b.session(t, b.owner, "of ada", b.now)
		for _, tc := range []struct {
			login, network string
			since          time.Time
			want           bool
		}{
			{"ada", "192.0.2.1", since, true},
			{"ada", "192.0.2.2", since, false},
			{"bob", "192.0.2.1", since, false},
			{"ada", "192.0.2.1", b.now, false}, // too long ago
		} {
			if known, err := b.st.KnowsNetwork(ctx, tc.login, tc.network, tc.since); known != tc.want || err != nil {
				t.Errorf("%s from %s since %s: %v, err %v", tc.login, tc.network, tc.since, known, err)
			}
		}

		_, err := b.st.Write.ExecContext(ctx, `
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO audit (at, who, action, subject, network) SELECT $2, '', 'refused', '', '' FROM n`,
			store.MaxRefusals+10, b.now.UnixMilli())
		if err != nil {
			t.Fatal(err)
		}
		if err := b.st.ForgetAccess(ctx, b.now); err != nil {
			t.Fatal(err)
		}
		var refused, others int
		err = b.st.Read.QueryRowContext(ctx, "SELECT count(*) FILTER (WHERE action = 'refused'), count(*) FILTER (WHERE action <> 'refused') FROM audit").Scan(&refused, &others)
		if err != nil || refused != store.MaxRefusals || others != 3 { // the link, the owner, the sign-in
			t.Errorf("%d refusals, %d others, err %v", refused, others, err)
		}
		newest, err := b.st.Audit(ctx, 0, 2)
		if err != nil || len(newest) != 2 || newest[0].ID <= newest[1].ID {
			t.Fatalf("%+v, err %v", newest, err)
		}
		next, err := b.st.Audit(ctx, newest[1].ID, 1)
		if err != nil || len(next) != 1 || next[0].ID >= newest[1].ID {
			t.Errorf("%+v, err %v", next, err)
		}
		if err := b.st.ForgetAccess(ctx, b.now.Add(store.KeepAudit+time.Second)); err != nil {
			t.Fatal(err)
		}
		if left, err := b.st.Audit(ctx, 0, 10); len(left) != 0 || err != nil {
			t.Errorf("%d entries after %s, err %v", len(left), store.KeepAudit, err)
		}
	})
}
