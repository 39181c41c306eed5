// Package auth knows who may have an account and who somebody is: passwords,
// names, and links that work once. It knows no HTTP.
package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"redeliver/web/store"
)

// How long links can be followed.
const (
	FirstOwnerLink = 24 * time.Hour
	InviteLink     = 7 * 24 * time.Hour
	PasswordLink   = 24 * time.Hour
)

// MaxNote is how long the note of an invitation may be, in characters.
const MaxNote = 120

// TokenLength is that of NewToken.
const TokenLength = 26

// NewToken makes the secret part of a link or a cookie: 130 random bits.
func NewToken() string { return rand.Text() }

// ErrRefused says that nobody signs in with this name and this password. It
// does not say which of them is wrong.
var ErrRefused = errors.New("wrong name or password")

// Auth answers who somebody is; use New.
type Auth struct {
	st        *store.Store
	passwords *passwords
	now       func() time.Time
}

// New makes an Auth over the people in a database.
func New(st *store.Store, c Cost, now func() time.Time) (*Auth, error) {
	p, err := newPasswords(c)
	if err != nil {
		return nil, err
	}
	return &Auth{st: st, passwords: p, now: now}, nil
}

// Known is a person who has shown the password.
type Known struct {
	store.Person
	Password string // its hash
}

// SignIn finds the person behind a name and a password. Without such a person,
// and with a wrong password, it does the same work and returns ErrRefused.
func (a *Auth) SignIn(ctx context.Context, login, password, network string) (Known, error) {
	p, hash, err := a.st.Password(ctx, FoldLogin(login))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return Known{}, err
	}
	ok, err := a.passwords.same(ctx, foldPassword(password), hash)
	if err != nil {
		return Known{}, err
	}
	if ok {
		return Known{p, hash}, nil
	}
	// A name that nobody has is not kept: people type passwords into that field.
	err = a.st.Note(ctx, store.Actor{Network: network}, store.SignInRefused, p.Login, a.now())
	return Known{}, errors.Join(ErrRefused, err)
}

// FirstOwner makes a link for the first owner; the token is empty when there is
// an owner.
func (a *Auth) FirstOwner(ctx context.Context) (token string, expires time.Time, err error) {
	has, err := a.st.HasOwner(ctx)
	if err != nil || has {
		return "", time.Time{}, err
	}
	token, expires = NewToken(), a.now().Add(FirstOwnerLink)
	err = a.st.InviteFromServer(ctx, store.HashToken(token), store.Invitation{Role: store.Owner, First: true, ExpiresAt: expires}, a.now())
	return token, expires, err
}

// InviteFromServer makes a link for who can start the server.
func InviteFromServer(ctx context.Context, st *store.Store, role store.Role, now time.Time) (token string, expires time.Time, err error) {
	token, expires = NewToken(), now.Add(FirstOwnerLink)
	err = st.InviteFromServer(ctx, store.HashToken(token), store.Invitation{Role: role, ExpiresAt: expires}, now)
	return token, expires, err
}

// Invite makes a link that gives a role to who follows it.
func (a *Auth) Invite(ctx context.Context, by store.Actor, role store.Role, note string) (token string, expires time.Time, err error) {
	if len([]rune(note)) > MaxNote {
		return "", time.Time{}, &FieldError{"note", "long"}
	}
	if role != store.Owner && role != store.Interviewer {
		return "", time.Time{}, &FieldError{"role", "unknown"}
	}
	token, expires = NewToken(), a.now().Add(InviteLink)
	err = a.st.Invite(ctx, by, store.HashToken(token), store.Invitation{Role: role, Note: note, ExpiresAt: expires}, a.now())
	return token, expires, err
}

// InviteToPassword makes a link with which a person sets a new password.
func (a *Auth) InviteToPassword(ctx context.Context, by store.Actor, person int64) (token string, expires time.Time, err error) {
	token, expires = NewToken(), a.now().Add(PasswordLink)
	err = a.st.InviteToPassword(ctx, by, store.HashToken(token), person, expires, a.now())
	return token, expires, err
}

// Invited is a link that can be followed, and the person whose password it sets
// if it is for one.
type Invited struct {
	store.Invitation
	Login string
	Name  string
}

// Invitation finds a link by its token.
func (a *Auth) Invitation(ctx context.Context, token string) (Invited, error) {
	if len(token) != TokenLength {
		return Invited{}, store.ErrNotFound
	}
	i, err := a.st.Invitation(ctx, store.HashToken(token), a.now())
	if err != nil {
		return Invited{}, err
	}
	out := Invited{Invitation: i}
	switch {
	case i.Person != 0:
		p, err := a.st.Person(ctx, i.Person)
		if err != nil {
			return Invited{}, err
		}
		out.Login, out.Name = p.Login, p.Name
	case i.First:
		has, err := a.st.HasOwner(ctx)
		if err == nil && has {
			err = store.ErrNotFound
		}
		if err != nil {
			return Invited{}, err
		}
	}
	return out, nil
}

// Newcomer is what the form behind a link sends.
type Newcomer struct{ Login, Name, Password string }

// SignInWith finds the person behind an account of a provider. ErrRefused: it is
// nobody's.
func (a *Auth) SignInWith(ctx context.Context, i Identity, network string) (Known, error) {
	p, hash, err := a.st.Identified(ctx, i.Identity)
	if errors.Is(err, store.ErrNotFound) {
		return Known{}, errors.Join(ErrRefused, a.st.Note(ctx, store.Actor{Network: network}, store.SignInRefused, "", a.now()))
	}
	return Known{p, hash}, err
}

// AcceptWith follows a link with an account of a provider in place of a password.
// The errors are those of Accept.
func (a *Auth) AcceptWith(ctx context.Context, token string, i Identity, network string) (Known, error) {
	link, err := a.Invitation(ctx, token)
	if err != nil {
		return Known{}, err
	}
	made := store.NewPerson{Identity: i.Identity}
	if link.Person == 0 {
		if made.Login, err = newLogin(i.Login); err != nil {
			return Known{}, err
		}
		if made.Name, err = newName(i.Name); err != nil {
			return Known{}, err
		}
	}
	_, err = a.st.AcceptInvitation(ctx, store.HashToken(token), made, network, a.now())
	switch {
	case errors.Is(err, store.ErrLoginTaken):
		return Known{}, &FieldError{"login", "taken"}
	case errors.Is(err, store.ErrIdentityTaken):
		return Known{}, &FieldError{"login", "connected"}
	case err != nil:
		return Known{}, fmt.Errorf("accept: %w", err)
	}
	return a.SignInWith(ctx, i, network)
}

// Accept follows a link. A *FieldError says what the newcomer has to change; the link
// can then be used again.
func (a *Auth) Accept(ctx context.Context, token string, n Newcomer, network string) (Known, error) {
	i, err := a.Invitation(ctx, token)
	if err != nil {
		return Known{}, err
	}
	made := store.NewPerson{Login: i.Login}
	if i.Person == 0 {
		if made.Name, err = newName(n.Name); err != nil {
			return Known{}, err
		}
		if made.Login, err = newLogin(n.Login); err != nil {
			return Known{}, err
		}
	}
	password, err := newPassword(n.Password, made.Login)
	if err != nil {
		return Known{}, err
	}
	if made.Password, err = a.passwords.hash(ctx, password); err != nil {
		return Known{}, err
	}
	p, err := a.st.AcceptInvitation(ctx, store.HashToken(token), made, network, a.now())
	if errors.Is(err, store.ErrLoginTaken) {
		return Known{}, &FieldError{"login", "taken"}
	}
	if err != nil {
		return Known{}, fmt.Errorf("accept: %w", err)
	}
	return Known{p, made.Password}, nil
}

// ChangePassword sets a new password for who knows the old one, and ends all
// sessions. A *FieldError says what to change.
func (a *Auth) ChangePassword(ctx context.Context, by store.Actor, old, chosen string) (Known, error) {
	_, hash, err := a.st.Password(ctx, by.Person.Login)
	if err != nil {
		return Known{}, err
	}
	ok, err := a.passwords.same(ctx, foldPassword(old), hash)
	if err != nil {
		return Known{}, err
	}
	if !ok {
		return Known{}, &FieldError{"old", "wrong"}
	}
	password, err := newPassword(chosen, by.Person.Login)
	if err != nil {
		return Known{}, err
	}
	if hash, err = a.passwords.hash(ctx, password); err != nil {
		return Known{}, err
	}
	return Known{by.Person, hash}, a.st.SetPassword(ctx, by, hash, a.now())
}
