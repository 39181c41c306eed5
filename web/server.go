// Package web is the HTTP program: pages, forms and event streams.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"redeliver/content"
	"redeliver/exercises"
	"redeliver/grader/verdict"
	"redeliver/web/auth"
	"redeliver/web/jobs"
	"redeliver/web/labs"
	"redeliver/web/review"
	"redeliver/web/search"
	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/views/locale"
	"redeliver/web/webhook"
)

// Catalog is the exercises that are installed.
type Catalog interface {
	// Exercise finds an exercise by its name, pack/slug.
	Exercise(name string) (*exercises.Exercise, bool)
	// Public lists the exercises that everybody may see, in order.
	Public() []*exercises.Head
	// All lists those that are only for who has a link, too.
	All() []*exercises.Head
	// Problems tells why packs are left out, as far as is known.
	Problems() exercises.Problems
}

// Queue takes submissions; package jobs has the one that grades them.
type Queue interface {
	Submit(ctx context.Context, s jobs.Submission) (jobs.Receipt, error)
	// Forget deletes a browser with all that it wrote and the jobs for it.
	Forget(ctx context.Context, b store.Browser) error
	StartSitting(ctx context.Context, c store.Candidate, network string) error
	// EndSitting ends a sitting and hands in what stands there.
	EndSitting(ctx context.Context, candidate int64, by store.Ending) (ended bool, err error)
	ForgetCandidate(ctx context.Context, by store.Actor, c store.Candidate) error
	DeleteAssignment(ctx context.Context, by store.Actor, id int64) error
	// SendTest and SendAgain send messages of webhooks.
	SendTest(ctx context.Context, by store.Actor, webhook int64) error
	SendAgain(ctx context.Context, by store.Actor, webhook, delivery int64) error
	Watch(id int64) (changes <-chan struct{}, stop func())
	Preparing() string
	// Place says how long a submission that waits may have to.
	Place(ctx context.Context, id int64) (jobs.Place, error)
	// Replay runs the one schedule of a token; Replayed returns what it has
	// shown before.
	Replay(ctx context.Context, r jobs.Request) (verdict.Verdict, error)
	Replayed(token string) (verdict.Verdict, bool)
	// Compile returns what a grading refuses before it runs anything.
	Compile(ctx context.Context, r jobs.Request) ([]verdict.Finding, error)
	// FirstFinding grades until there is a finding.
	FirstFinding(ctx context.Context, r jobs.Request) (verdict.Finding, error)
}

// Config holds what the operator decides. Zero values mean the defaults that
// are named here.
type Config struct {
	// BaseURL is where browsers reach the site, without a slash at its end:
	// "https://practice.example", which also lacks BasePath. Pages need it for the addresses that others read,
	// those of their languages and of their pictures; empty: they have none.
	BaseURL string
	// BasePath stands before every path on that host; the proxy leaves it there. What
	// machines ask, /healthz, /readyz and /metrics, is without it.
	BasePath views.BasePath
	// SecureCookies is for a site that browsers reach over https: its cookies
	// are then never sent over http.
	SecureCookies bool
	// PasswordCost is what the comparison of a password takes.
	PasswordCost auth.Cost
	// Provider is where people can sign in instead of here; without an issuer there
	// is none. Its redirect is BaseURL, BasePath and OIDCCallback.
	Provider auth.ProviderConfig
	// CanGrade says whether submissions for an exercise can be graded here; nil: for
	// all of them.
	CanGrade func(*exercises.Exercise) bool
	// Webhooks says where messages may go; the queue sends them.
	Webhooks webhook.Policy
	// TrustProxy takes the client's address from X-Forwarded-For, as a proxy on
	// a private address writes it. Without it the header is ignored.
	TrustProxy bool
	// PostsPerMinute bounds the submissions, and the forms about accounts, of one
	// sitting, of who is signed in, or else from one address; 30. An address from which
	// many such come may do 20 times as much.
	PostsPerMinute int
	// DraftsPerMinute bounds the drafts likewise, most of which the editor
	// saves by itself, at most 12 a minute for each person who types; 240.
	DraftsPerMinute int
	// PlacesPerHour bounds the places that come from one address by open links; 150,
	// a lecture hall.
	PlacesPerHour int
	// NewBrowsersPerHour bounds the browsers of one address that write for the
	// first time; 60.
	NewBrowsersPerHour int
	// RunsPerMinute bounds the schedules that one address has run again; 20.
	RunsPerMinute int
	// LabClicksPerMinute bounds what one address does in labs; 240.
	LabClicksPerMinute int
	// DrawingsPerMinute bounds the pictures that are drawn for one address; 30.
	DrawingsPerMinute int
	// RatingsPerMinute bounds the cards that are rated from one address; 240.
	RatingsPerMinute int
	// APIPerMinute bounds what programs ask from one address; 240.
	APIPerMinute int
	// MaxStreams bounds the event streams that are open at once; 1000.
	MaxStreams int
	// Metrics holds what /metrics shows, the site's own figures among it; nil: a
	// registry of its own.
	Metrics *prometheus.Registry
	// MetricsToken is what /metrics asks for; empty: there is no such page.
	MetricsToken string
	Now          func() time.Time
	Log          *slog.Logger
}

func (c Config) withDefaults() Config {
	c.PostsPerMinute = cmp.Or(c.PostsPerMinute, 30)
	c.DraftsPerMinute = cmp.Or(c.DraftsPerMinute, 240)
	c.NewBrowsersPerHour = cmp.Or(c.NewBrowsersPerHour, 60)
	c.PlacesPerHour = cmp.Or(c.PlacesPerHour, 150)
	c.RunsPerMinute = cmp.Or(c.RunsPerMinute, 20)
	c.LabClicksPerMinute = cmp.Or(c.LabClicksPerMinute, 240)
	c.DrawingsPerMinute = cmp.Or(c.DrawingsPerMinute, 30)
	c.RatingsPerMinute = cmp.Or(c.RatingsPerMinute, 240)
	c.APIPerMinute = cmp.Or(c.APIPerMinute, 240)
	c.MaxStreams = cmp.Or(c.MaxStreams, 1000)
	if c.Metrics == nil {
		c.Metrics = prometheus.NewRegistry()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Server answers requests; use New.
type Server struct {
	cfg     Config
	store   *store.Store
	queue   Queue
	catalog Catalog
	words   *locale.Catalog
	bank    *content.Bank
	texts   texts
	deck    *review.Deck
	found   func() (*search.Index, error) // made when it is first asked for

	auth        *auth.Auth
	provider    *auth.Provider // nil: there is none
	sessions    *scs.SessionManager
	signIns     *signInLimits
	newBrowsers *limiter
	places      *limiter // of open links
	runs        *limiter
	labClicks   *limiter
	rooms       *labs.Rooms
	watched     watched
	drawings    *limiter
	cards       cards
	similar     similar
	requests    requests
	streams     chan struct{} // holds one entry for each open stream
	closing     chan struct{} // closed when the server begins to stop
	handler     http.Handler

	keysUnderWay sync.Map // of programs; true for each hash of a token, a space and a key
}

// New wires routes and middleware.
func New(cfg Config, st *store.Store, q Queue, c Catalog) (*Server, error) {
	cfg = cfg.withDefaults()
	words, err := locale.Load()
	if err != nil {
		return nil, fmt.Errorf("start web: %w", err)
	}
	bank, err := content.Questions()
	if err != nil {
		return nil, fmt.Errorf("start web: %w", err)
	}
	s := &Server{
		cfg: cfg, store: st, queue: q, catalog: c, words: words, bank: bank,
		found: sync.OnceValues(func() (*search.Index, error) {
			return index(c, bank, words.Languages())
		}),
		deck: review.NewDeck(bank, c),

		newBrowsers: newLimiter(cfg.NewBrowsersPerHour, time.Hour, cfg.Now),
		places:      newLimiter(cfg.PlacesPerHour, time.Hour, cfg.Now),
		runs:        newLimiter(cfg.RunsPerMinute, time.Minute, cfg.Now),
		requests:    newRequests(),
		similar:     newSimilar(),
		drawings:    newLimiter(cfg.DrawingsPerMinute, time.Minute, cfg.Now),
		labClicks:   newLimiter(cfg.LabClicksPerMinute, time.Minute, cfg.Now),
		rooms:       labs.New(labs.Config{}),
		streams:     make(chan struct{}, cfg.MaxStreams),
		closing:     make(chan struct{}),
	}
	if s.auth, err = auth.New(st, cfg.PasswordCost, cfg.Now); err != nil {
		return nil, fmt.Errorf("start web: %w", err)
	}
	if cfg.Provider.Issuer != "" {
		s.provider = auth.NewProvider(cfg.Provider, cfg.Now)
	}
	s.sessions = s.newSessions()
	s.signIns = newSignInLimits(st, cfg.Now)
	if err := s.register(cfg.Metrics); err != nil {
		return nil, fmt.Errorf("start web: %w", err)
	}
	e := echo.New()
	e.HTTPErrorHandler = s.showError
	e.IPExtractor = echo.ExtractIPDirect()
	if cfg.TrustProxy {
		e.IPExtractor = echo.ExtractIPFromXFFHeader()
	}
	s.use(e)
	s.routes(e)
	s.handler = e
	return s, nil
}

// FirstOwner makes the token of a link that makes the owner, for the log; it is
// empty when there is one. The address is views.InvitationURL without a language.
func (s *Server) FirstOwner(ctx context.Context) (token string, expires time.Time, err error) {
	token, expires, err = s.auth.FirstOwner(ctx)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("make a link for the owner: %w", err)
	}
	return token, expires, nil
}

// ServeHTTP makes a Server usable with httptest.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve answers on ln until ctx ends, and then lets requests finish for up to
// five seconds. Event streams do not end by themselves, so they are told to.
// Call it once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	hs := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      30 * time.Second, // streams set their own
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelWarn),
	}
	defer s.rooms.Close()
	hs.RegisterOnShutdown(func() { close(s.closing) })
	alive, stopBeating := context.WithCancel(ctx)
	beating := s.beat(alive)
	defer func() { stopBeating(); beating.Wait() }()
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := hs.Shutdown(stop); err != nil {
		return fmt.Errorf("shut down: %w", errors.Join(err, hs.Close()))
	}
	return nil
}

// beat says that the pages are there until ctx ends: when they were not, the time of
// candidates stood still.
func (s *Server) beat(ctx context.Context) *sync.WaitGroup {
	var beating sync.WaitGroup
	beating.Go(func() {
		tick := time.NewTicker(store.BeatEvery)
		defer tick.Stop()
		for {
			if err := s.store.Beat(ctx, s.cfg.Now()); err != nil && ctx.Err() == nil {
				s.cfg.Log.ErrorContext(ctx, "say that the site is there", slog.Any("error", err))
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return &beating
}
