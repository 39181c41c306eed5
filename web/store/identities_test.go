package store_test

import (
	"errors"
	"testing"
	"time"

	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

func TestIdentities(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, pathOrURL string) {
		b := setupPeople(t, pathOrURL)
		ctx := t.Context()
		bob, at := b.join(t, "bob", store.Interviewer), store.Identity{Issuer: "https://id.example", Subject: "7"}
		if _, _, err := b.st.Identified(ctx, at); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("err %v", err)
		}
		link := func(hash string, person int64) {
			t.Helper()
			if err := b.st.InviteToPassword(ctx, b.owner, hash, person, b.now.Add(time.Hour), b.now); err != nil {
				t.Fatal(err)
			}
		}
		b.session(t, bob, "of bob", b.now)
		link("connect", bob.Person.ID)
		if _, err := b.st.AcceptInvitation(ctx, "connect", store.NewPerson{Identity: at}, "192.0.2.2", b.now); err != nil {
			t.Fatal(err)
		}
		p, hash, err := b.st.Identified(ctx, at)
		if err != nil || p.ID != bob.Person.ID || hash != "hash of bob" || b.signedIn(t, "of bob", b.now) {
			t.Errorf("%+v with %q, still signed in %v, err %v", p, hash, b.signedIn(t, "of bob", b.now), err)
		}
		for _, other := range []store.Identity{{Issuer: "https://id.example", Subject: "8"}, {Issuer: "https://other.example", Subject: "7"}, {}} {
			if _, _, err := b.st.Identified(ctx, other); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%+v is somebody: err %v", other, err)
			}
		}
		// The account of one person cannot become another's, and the link stays.
		link("steal", b.owner.Person.ID)
		if _, err := b.st.AcceptInvitation(ctx, "steal", store.NewPerson{Identity: at}, "", b.now); !errors.Is(err, store.ErrIdentityTaken) {
			t.Errorf("err %v", err)
		}
		if _, err := b.st.Invitation(ctx, "steal", b.now); err != nil {
			t.Errorf("the link is gone: %v", err)
		}
		if err := b.st.RemovePerson(ctx, b.owner, bob.Person.ID, b.now); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.st.Identified(ctx, at); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("who was removed signs in: %v", err)
		}
	})
}
