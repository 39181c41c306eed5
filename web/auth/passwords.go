package auth

import (
	"context"
	"errors"
	"fmt"

	"github.com/alexedwards/argon2id"
)

// ErrBusy says that too many passwords are being compared: try again in a moment.
var ErrBusy = errors.New("too many passwords are being compared")

// Cost is what one comparison takes. The zero value is Strong.
type Cost struct {
	MemoryKiB  uint32
	Iterations uint32
}

// Strong is OWASP's first recommendation for argon2id: 19 MiB, two passes, about
// a tenth of a second.
var Strong = Cost{MemoryKiB: 19 * 1024, Iterations: 2}

// At most atOnce passwords are compared at a time and so many more wait: a flood
// of attempts takes neither the memory nor the processors from the pages.
const (
	atOnce  = 2
	waiting = 16
)

// passwords hashes and compares.
type passwords struct {
	params *argon2id.Params
	// nobody is the hash of no password. It is compared with when there is no
	// person, so that an answer takes as long.
	nobody string
	seats  chan struct{}
	turns  chan struct{}
}

func newPasswords(c Cost) (*passwords, error) {
	if c == (Cost{}) {
		c = Strong
	}
	params := &argon2id.Params{Memory: c.MemoryKiB, Iterations: c.Iterations, Parallelism: 1, SaltLength: 16, KeyLength: 32}
	nobody, err := argon2id.CreateHash(NewToken(), params)
	if err != nil {
		return nil, fmt.Errorf("hash a password: %w", err)
	}
	return &passwords{
		params: params, nobody: nobody,
		seats: make(chan struct{}, atOnce+waiting), turns: make(chan struct{}, atOnce),
	}, nil
}

// turn waits until fn may run.
func (p *passwords) turn(ctx context.Context, fn func() error) error {
	select {
	case p.seats <- struct{}{}:
		defer func() { <-p.seats }()
	default:
		return ErrBusy
	}
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
		return fn()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hash makes what the database keeps of a password.
func (p *passwords) hash(ctx context.Context, password string) (hash string, err error) {
	err = p.turn(ctx, func() (err error) {
		hash, err = argon2id.CreateHash(password, p.params)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	return hash, nil
}

// same reports whether a password belongs to a hash. An empty hash is that of
// nobody: the comparison is made all the same, and its result is false.
func (p *passwords) same(ctx context.Context, password, hash string) (same bool, err error) {
	with := hash
	if hash == "" {
		with = p.nobody
	}
	err = p.turn(ctx, func() (err error) {
		same, err = argon2id.ComparePasswordAndHash(password, with)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("compare a password: %w", err)
	}
	return same && hash != "", nil
}
