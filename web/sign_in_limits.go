package web

import (
	"context"
	"time"

	"redeliver/web/store"
)

// How many sign-ins may be tried in signInPeriod.
const (
	signInPeriod = 15 * time.Minute
	// signInsPerNetwork is for one address, whatever the names: a room full of
	// people behind one router still fits.
	signInsPerNetwork = 40
	// signInsPerPlace is for one name from one address.
	signInsPerPlace = 10
	// signInsPerName is for one name from all addresses that its person has not
	// signed in from: many machines guess no faster than one. Those that it has
	// signed in from do not count, or a stranger could lock it out.
	signInsPerName = 20
	// knownNetwork is how long an address is remembered.
	knownNetwork = 60 * 24 * time.Hour
)

// signInLimits holds back who guesses passwords. Addresses are those of the
// server's IPExtractor, so a proxy does not make all clients one.
type signInLimits struct {
	st       *store.Store
	now      func() time.Time
	networks *limiter
	places   *limiter
	names    *limiter
}

func newSignInLimits(st *store.Store, now func() time.Time) *signInLimits {
	return &signInLimits{
		st: st, now: now,
		networks: newLimiter(signInsPerNetwork, signInPeriod, now),
		places:   newLimiter(signInsPerPlace, signInPeriod, now),
		names:    newLimiter(signInsPerName, signInPeriod, now),
	}
}

// allow counts one attempt. The answer is the same whether there is a person of
// that name or not.
func (l *signInLimits) allow(ctx context.Context, login, address string) (bool, error) {
	from := network(address)
	if !l.networks.allow(address) || !l.places.allow(login+" "+from) {
		return false, nil
	}
	known, err := l.st.KnowsNetwork(ctx, login, from, l.now().Add(-knownNetwork))
	if err != nil {
		return false, err
	}
	return known || l.names.allow("name "+login), nil
}
