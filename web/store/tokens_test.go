package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupPeople(t, pathOrURL)
		ctx := t.Context()
		bob, eve := b.join(t, "bob", store.Interviewer), b.join(t, "eve", store.Interviewer)
		add := func(by store.Actor, hash string, expires time.Time) {
			t.Helper()
			if err := b.st.AddToken(ctx, by, hash, store.Token{Name: "of " + by.Person.Login, ExpiresAt: expires}, b.now); err != nil {
				t.Fatal(err)
			}
		}
		acts := func(hash string, at time.Time) string {
			t.Helper()
			p, err := b.st.PersonByToken(ctx, hash, at)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
			return p.Login
		}
		used := func(i int) time.Time {
			t.Helper()
			list, err := b.st.Tokens(ctx, bob.Person.ID, b.now)
			if err != nil || len(list) <= i {
				t.Fatal(list, err)
			}
			return list[i].UsedAt
		}

		t.Run("ActsForItsPersonUntilItsEnd", func(t *testing.T) {
			add(bob, "short", b.now.Add(time.Hour))
			add(bob, "endless", time.Time{})
			if acts("short", b.now) != "bob" || acts("endless", b.now.Add(10_000*time.Hour)) != "bob" || acts("unknown", b.now) != "" {
				t.Error("a token does not act for bob, or an unknown one does")
			}
			if acts("short", b.now.Add(time.Hour)) != "" {
				t.Error("it acts after its end")
			}
			if err := b.st.ForgetAccess(ctx, b.now.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if list, err := b.st.Tokens(ctx, bob.Person.ID, b.now); err != nil || len(list) != 1 {
				t.Errorf("kept %v, err %v", list, err)
			}
		})
		t.Run("LastUseIsNotedOnceAMinute", func(t *testing.T) {
			add(bob, "used", time.Time{})
			if !used(1).IsZero() {
				t.Fatal("used before anybody used it")
			}
			acts("used", b.now)
			acts("used", b.now.Add(30*time.Second))
			if at := used(1); !at.Equal(b.now) {
				t.Errorf("used at %v", at)
			}
			acts("used", b.now.Add(time.Minute))
			if at := used(1); !at.Equal(b.now.Add(time.Minute)) {
				t.Errorf("used at %v", at)
			}
		})
		t.Run("RevokedByItsPersonAlone", func(t *testing.T) {
			list, err := b.st.Tokens(ctx, bob.Person.ID, b.now)
			if err != nil || len(list) == 0 {
				t.Fatal(list, err)
			}
			for _, by := range []store.Actor{eve, b.owner} {
				if err := b.st.RevokeToken(ctx, by, list[0].ID, b.now); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s revokes: %v", by.Person.Login, err)
				}
			}
			if err := b.st.RevokeToken(ctx, bob, list[0].ID, b.now); err != nil || acts("endless", b.now) != "" {
				t.Errorf("err %v", err)
			}
		})
		t.Run("EndsWithWhatEndsSessions", func(t *testing.T) {
			for name, end := range map[string]func() error{
				"password": func() error { return b.st.SetPassword(ctx, bob, "another hash", b.now) },
				"himself":  func() error { return b.st.SignOutEverywhere(ctx, bob, b.now) },
				"owner":    func() error { return b.st.SignOutPerson(ctx, b.owner, bob.Person.ID, b.now) },
			} {
				add(bob, name, time.Time{})
				if acts(name, b.now) != "bob" {
					t.Fatal("it does not act")
				}
				if err := end(); err != nil || acts(name, b.now) != "" {
					t.Errorf("%s: it goes on, err %v", name, err)
				}
			}
		})
		t.Run("NotWithoutEnd", func(t *testing.T) {
			for i := range store.MaxTokens {
				add(eve, fmt.Sprint("token ", i), b.now.Add(time.Hour))
			}
			err := b.st.AddToken(ctx, eve, "one more", store.Token{Name: "x"}, b.now)
			if !errors.Is(err, store.ErrFull) {
				t.Errorf("err %v", err)
			}
			if err := b.st.AddToken(ctx, eve, "later", store.Token{Name: "x"}, b.now.Add(time.Hour)); err != nil {
				t.Errorf("those that have ended count: %v", err)
			}
			if err := b.st.RemovePerson(ctx, b.owner, eve.Person.ID, b.now); err != nil {
				t.Fatal(err)
			}
			if acts("token 0", b.now) != "" {
				t.Error("a token outlives its person")
			}
			if err := b.st.AddToken(ctx, eve, "of nobody", store.Token{Name: "x"}, b.now); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("somebody who is gone makes a token: %v", err)
			}
		})
	})
}

func TestCloseAssignment(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupPeople(t, pathOrURL)
		ctx := t.Context()
		bob, eve := b.join(t, "bob", store.Interviewer), b.join(t, "eve", store.Interviewer)
		for name, a := range map[string]store.Assignment{
			"open": {}, "later": {OpensAt: b.now.Add(time.Hour)}, "both": {OpensAt: b.now.Add(time.Hour), ClosesAt: b.now.Add(2 * time.Hour)},
			"past": {ClosesAt: b.now.Add(-time.Hour)},
		} {
			a.Title, a.Lang, a.RetainDays, a.Exercises = name, "en", 30, []string{"core/charge-once"}
			id, err := b.st.Assign(ctx, bob, a, b.now)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.st.SetOpenLink(ctx, bob, id, "hash of "+name, b.now); err != nil {
				t.Fatal(err)
			}
			if err := b.st.CloseAssignment(ctx, eve, id, b.now); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: a stranger closes: %v", name, err)
			}
			if err := b.st.CloseAssignment(ctx, bob, id, b.now); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := b.st.Assignment(ctx, bob, id)
			want := b.now
			if name == "past" {
				want = a.ClosesAt
			}
			if err != nil || !got.ClosesAt.Equal(want) || !got.OpensAt.IsZero() || got.Open != (name == "past") {
				t.Errorf("%s: %+v, err %v", name, got, err)
			}
		}
	})
}
