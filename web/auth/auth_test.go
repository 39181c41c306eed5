package auth

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

// cheap makes a comparison take microseconds.
var cheap = Cost{MemoryKiB: 64, Iterations: 1}

const goodPassword = "a long enough password"

type testBundle struct {
	st   *store.Store
	auth *Auth
	now  time.Time
}

func setup(t *testing.T) *testBundle {
	t.Helper()
	b := &testBundle{now: time.UnixMilli(1_000_000)}
	b.st = storetest.Open(t, filepath.Join(t.TempDir(), "redeliver.db"), func(ctx context.Context, st *store.Store) error {
		return st.Migrate(ctx, func(context.Context) error { return nil })
	})
	var err error
	if b.auth, err = New(b.st, cheap, func() time.Time { return b.now }); err != nil {
		t.Fatal(err)
	}
	return b
}

// owner makes one with the link of a first start.
func (b *testBundle) owner(t *testing.T) store.Actor {
	t.Helper()
	token, _, err := b.auth.FirstOwner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.auth.Accept(t.Context(), token, Newcomer{Login: "Ada@Example.org", Name: "Ada", Password: goodPassword}, "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	return store.Actor{Person: p.Person, Network: "192.0.2.1"}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.owner(t)
	for _, tc := range []struct {
		name, login, password string
		want                  error
	}{
		{"Right", "ada@example.org", goodPassword, nil},
		{"CaseAndWidthOfTheName", " ADA＠example.org ", goodPassword, nil},
		{"WrongPassword", "ada@example.org", goodPassword + "x", ErrRefused},
		{"CaseOfThePassword", "ada@example.org", strings.ToUpper(goodPassword), ErrRefused},
		{"NoPassword", "ada@example.org", "", ErrRefused},
		{"NoSuchName", "bob@example.org", goodPassword, ErrRefused},
		{"NoName", "", goodPassword, ErrRefused},
		{"ImpossibleName", "ada\x00@example.org", goodPassword, ErrRefused},
		{"HugeName", strings.Repeat("a", 1<<16), goodPassword, ErrRefused},
		{"HugePassword", "ada@example.org", strings.Repeat("a", 1<<16), ErrRefused},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := b.auth.SignIn(t.Context(), tc.login, tc.password, "192.0.2.1")
			if !errors.Is(err, tc.want) || (err == nil) != (p.Login == "ada@example.org") {
				t.Errorf("%+v, err %v", p, err)
			}
		})
	}
}

// A password may be typed on a keyboard that writes an accent as two characters.
func TestPasswordsAreNormalised(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token, _, err := b.auth.FirstOwner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.auth.Accept(t.Context(), token, Newcomer{"ada", "Ada", "caf\u00e9 caf\u00e9 noir"}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := b.auth.SignIn(t.Context(), "ada", "cafe\u0301 cafe\u0301 noir", ""); err != nil {
		t.Error(err)
	}
}

// Whether there is a person of that name must not show in the work that is done:
// an attempt on a name that nobody has takes a seat and compares too.
func TestUnknownNamesTakeAsMuchWork(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.owner(t)
	for range cap(b.auth.passwords.seats) {
		b.auth.passwords.seats <- struct{}{} // who wants to compare is sent away
	}
	for _, login := range []string{"ada@example.org", "bob@example.org", ""} {
		if _, err := b.auth.SignIn(t.Context(), login, goodPassword, ""); !errors.Is(err, ErrBusy) {
			t.Errorf("%q was answered without a comparison: %v", login, err)
		}
	}
	for _, hash := range []string{b.auth.passwords.nobody, hashOf(t, b, "ada@example.org")} {
		if !strings.HasPrefix(hash, "$argon2id$v=19$m=64,t=1,p=1$") {
			t.Errorf("a comparison with %s takes something else", hash)
		}
	}
}

func hashOf(t *testing.T, b *testBundle, login string) string {
	t.Helper()
	_, hash, err := b.st.Password(t.Context(), login)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestComparisonsAreBounded(t *testing.T) {
	t.Parallel()
	p, err := newPasswords(cheap)
	if err != nil {
		t.Fatal(err)
	}
	for range atOnce + waiting {
		p.seats <- struct{}{}
	}
	if _, err := p.same(t.Context(), goodPassword, p.nobody); !errors.Is(err, ErrBusy) {
		t.Errorf("err %v", err)
	}
	<-p.seats
	if _, err := p.same(t.Context(), goodPassword, p.nobody); err != nil {
		t.Errorf("with a seat: %v", err)
	}
}

// What a server uses when nothing else is said.
func TestStrongIsTheDefault(t *testing.T) {
	t.Parallel()
	p, err := newPasswords(Cost{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(p.nobody, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Error(p.nobody)
	}
}

func TestAccept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.owner(t)
	token, _, err := b.auth.Invite(t.Context(), owner, store.Interviewer, "for Bob")
	if err != nil {
		t.Fatal(err)
	}
	good := Newcomer{Login: "bob", Name: "Bob", Password: goodPassword}
	for _, tc := range []struct {
		name   string
		change func(*Newcomer)
		want   FieldError
	}{
		{"NoName", func(n *Newcomer) { n.Name = "  " }, FieldError{"name", "empty"}},
		{"LongName", func(n *Newcomer) { n.Name = strings.Repeat("x", MaxName+1) }, FieldError{"name", "long"}},
		{"HugeName", func(n *Newcomer) { n.Name = strings.Repeat("x", 1<<16) }, FieldError{"name", "long"}},
		{"ControlInName", func(n *Newcomer) { n.Name = "Bob\x1b[31m" }, FieldError{"name", "characters"}},
		{"DirectionInName", func(n *Newcomer) { n.Name = "Bob\u202e" }, FieldError{"name", "characters"}},
		{"NoLogin", func(n *Newcomer) { n.Login = "" }, FieldError{"login", "empty"}},
		{"SpaceInLogin", func(n *Newcomer) { n.Login = "bob jones" }, FieldError{"login", "characters"}},
		{"LongLogin", func(n *Newcomer) { n.Login = strings.Repeat("x", MaxLogin+1) }, FieldError{"login", "long"}},
		{"TakenLogin", func(n *Newcomer) { n.Login = "ADA@example.org" }, FieldError{"login", "taken"}},
		{"ShortPassword", func(n *Newcomer) { n.Password = "11 letters." }, FieldError{"password", "short"}},
		{"NoPassword", func(n *Newcomer) { n.Password = "" }, FieldError{"password", "short"}},
		{"LongPassword", func(n *Newcomer) { n.Password = strings.Repeat("abcdef", 22) }, FieldError{"password", "long"}},
		{"HugePassword", func(n *Newcomer) { n.Password = strings.Repeat("abcdef", 1<<14) }, FieldError{"password", "long"}},
		{"ControlInPassword", func(n *Newcomer) { n.Password = goodPassword + "\x00" }, FieldError{"password", "characters"}},
		{"FewSigns", func(n *Newcomer) { n.Password = "121212121212" }, FieldError{"password", "easy"}},
		{"LoginAsPassword", func(n *Newcomer) { n.Login, n.Password = "bob.jones@example.org", "Bob.Jones@example.org1" }, FieldError{"password", "easy"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := good
			tc.change(&n)
			_, err := b.auth.Accept(t.Context(), token, n, "")
			var field *FieldError
			if !errors.As(err, &field) || *field != tc.want {
				t.Errorf("err %v, want %v", err, tc.want)
			}
		})
	}
	// None of them has used the link up.
	p, err := b.auth.Accept(t.Context(), token, good, "")
	if err != nil || p.Role != store.Interviewer {
		t.Fatalf("%+v, err %v", p, err)
	}
	for _, other := range []string{token, "", "short", NewToken()} {
		if _, err := b.auth.Accept(t.Context(), other, Newcomer{"carol", "Carol", goodPassword}, ""); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("link %q: err %v", other, err)
		}
	}
}

func TestLinksEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, expires, err := b.auth.FirstOwner(t.Context())
	if err != nil || !expires.Equal(b.now.Add(FirstOwnerLink)) {
		t.Fatal(expires, err)
	}
	b.now = expires
	if _, err := b.auth.Invitation(t.Context(), first); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after its end: %v", err)
	}
	owner := b.owner(t)
	if again, _, err := b.auth.FirstOwner(t.Context()); again != "" || err != nil {
		t.Errorf("a link although there is an owner: %q, err %v", again, err)
	}
	for _, tc := range []struct {
		name string
		last time.Duration
		make func() (string, time.Time, error)
	}{
		{"Invite", InviteLink, func() (string, time.Time, error) { return b.auth.Invite(t.Context(), owner, store.Interviewer, "") }},
		{"Password", PasswordLink, func() (string, time.Time, error) { return b.auth.InviteToPassword(t.Context(), owner, owner.Person.ID) }},
		{"Server", FirstOwnerLink, func() (string, time.Time, error) { return InviteFromServer(t.Context(), b.st, store.Owner, b.now) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			token, expires, err := tc.make()
			if err != nil || !expires.Equal(b.now.Add(tc.last)) {
				t.Fatal(expires, err)
			}
			if _, err := b.auth.Invitation(t.Context(), token); err != nil {
				t.Error(err)
			}
			before := b.now
			b.now = expires
			if _, err := b.auth.Invitation(t.Context(), token); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("after its end: %v", err)
			}
			b.now = before
		})
	}
}

func TestInviteChecksTheForm(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.owner(t)
	var field *FieldError
	if _, _, err := b.auth.Invite(t.Context(), owner, "root", ""); !errors.As(err, &field) || *field != (FieldError{"role", "unknown"}) {
		t.Errorf("err %v", err)
	}
	if _, _, err := b.auth.Invite(t.Context(), owner, store.Owner, strings.Repeat("x", MaxNote+1)); !errors.As(err, &field) || *field != (FieldError{"note", "long"}) {
		t.Errorf("err %v", err)
	}
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.owner(t)
	const next = "another long password"
	var field *FieldError
	if _, err := b.auth.ChangePassword(t.Context(), owner, "wrong", next); !errors.As(err, &field) || *field != (FieldError{"old", "wrong"}) {
		t.Errorf("err %v", err)
	}
	if _, err := b.auth.ChangePassword(t.Context(), owner, goodPassword, "short"); !errors.As(err, &field) || *field != (FieldError{"password", "short"}) {
		t.Errorf("err %v", err)
	}
	if _, err := b.auth.ChangePassword(t.Context(), owner, goodPassword, next); err != nil {
		t.Fatal(err)
	}
	if _, err := b.auth.SignIn(t.Context(), "ada@example.org", goodPassword, ""); !errors.Is(err, ErrRefused) {
		t.Errorf("the old password: %v", err)
	}
	if _, err := b.auth.SignIn(t.Context(), "ada@example.org", next, ""); err != nil {
		t.Errorf("the new password: %v", err)
	}
}

// What people type into the wrong field must not stand in the log, nor must any
// password in the database.
func TestNoPasswordIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.owner(t)
	for _, login := range []string{goodPassword, "correct-horse-battery", "ada@example.org"} {
		if _, err := b.auth.SignIn(t.Context(), login, "wrong password here", "192.0.2.1"); !errors.Is(err, ErrRefused) {
			t.Fatal(err)
		}
	}
	log, err := b.st.Audit(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, e := range log {
		if e.Action != store.SignInRefused {
			continue
		}
		refused++
		if e.Subject != "" && e.Subject != "ada@example.org" || e.Who != "" {
			t.Errorf("the log holds %+v", e)
		}
	}
	if refused != 3 {
		t.Errorf("%d refusals in the log", refused)
	}
	if hash := hashOf(t, b, "ada@example.org"); strings.Contains(hash, goodPassword) {
		t.Error("the password is in the database")
	}
}
