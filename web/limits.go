package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"
)

// maxAddresses bounds the memory of a limiter. Above it the addresses that have
// been quiet long enough to start afresh are dropped.
const maxAddresses = 10_000

// limiter allows so many events per address and period. All of a period may
// come at once.
type limiter struct {
	perPeriod int
	period    time.Duration
	now       func() time.Time

	mu        sync.Mutex
	addresses map[string]*rate.Limiter
}

func newLimiter(perPeriod int, period time.Duration, now func() time.Time) *limiter {
	return &limiter{perPeriod: perPeriod, period: period, now: now, addresses: map[string]*rate.Limiter{}}
}

// allow counts one event. When there are too many addresses to remember, a new
// one is refused: the flood that fills the memory must not open the door.
func (l *limiter) allow(address string) bool {
	key := network(address)
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.addresses[key]
	if !ok {
		if len(l.addresses) >= maxAddresses && !l.dropQuiet(now) {
			return false
		}
		r = rate.NewLimiter(rate.Limit(float64(l.perPeriod)/l.period.Seconds()), l.perPeriod)
		l.addresses[key] = r
	}
	return r.AllowN(now, 1)
}

// dropQuiet forgets the addresses whose allowance is whole again and reports
// whether there is room.
func (l *limiter) dropQuiet(now time.Time) bool {
	for key, r := range l.addresses {
		if r.TokensAt(now) >= float64(l.perPeriod) {
			delete(l.addresses, key)
		}
	}
	return len(l.addresses) < maxAddresses
}

// network is what one client can choose from: its IPv4 address, or the 64 bits
// that an IPv6 provider hands out as one.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	prefix, err := ip.Prefix(64)
	if err != nil {
		return ip.String()
	}
	return prefix.String()
}

// crowd is how many people may sit behind one address: so many times of what one may
// do is what the address may.
const crowd = 20

// limitPosts counts forms by who sends them, if that is a sitting or somebody who is
// signed in: a lecture hall has one address. Everybody else can be a new browser with
// each form, and is counted by the address from the server's IPExtractor, which a
// client cannot forge.
func (s *Server) limitPosts(perMinute int) echo.MiddlewareFunc {
	one := newLimiter(perMinute, time.Minute, s.cfg.Now)
	all := newLimiter(crowd*perMinute, time.Minute, s.cfg.Now)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			who, known := s.senderOf(c)
			if !one.allow(who) || known && !all.allow(c.RealIP()) {
				retryAfter(c, 60)
				return echo.NewHTTPError(http.StatusTooManyRequests)
			}
			return next(c)
		}
	}
}

// senderOf names who sends a form, and whether that is more than an address.
func (s *Server) senderOf(c echo.Context) (name string, known bool) {
	if sit, ok := sittingOf(c); ok && !sit.report {
		return fmt.Sprint("sitting ", sit.candidate.ID), true
	}
	if p, ok := s.person(c); ok {
		return fmt.Sprint("person ", p.ID), true
	}
	return c.RealIP(), false
}
