package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/build"
	"redeliver/grader/verdict"
	"redeliver/web"
	"redeliver/web/auth"
	"redeliver/web/jobs"
	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/webhook"
)

// siteFlags say where a site has its files and its database.
type siteFlags struct {
	Data     string `help:"Folder for the database and the compiler's files." env:"REDELIVER_DATA" default:"./data"`
	Database string `help:"postgres://… instead of SQLite in the data folder." env:"REDELIVER_DATABASE" placeholder:"URL"`
}

// sqlite is the file of the database when it is not PostgreSQL.
func (f siteFlags) sqlite() string { return filepath.Join(f.Data, "redeliver.db") }

// site is what serve and worker have in common. close lets go of it.
type site struct {
	log      *slog.Logger
	catalog  *exercises.Catalog
	store    *store.Store
	compiler *build.Compiler
	queue    *jobs.Queue
	figures  *prometheus.Registry
	workers  int
	closers  []func() error
}

// open takes the data folder for this process and opens everything in it.
func (f siteFlags) open(ctx context.Context, s *streams, workers int, webhooks webhook.Policy, base views.BasePath) (_ *site, err error) {
	p := &site{log: slog.New(slog.NewTextHandler(s.err, nil)), workers: workers, figures: prometheus.NewRegistry()}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	p.figures.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if f.Data, err = filepath.Abs(f.Data); err != nil { // an address of a database file has no relative form
		return nil, fmt.Errorf("find the data folder: %w", err)
	}
	for _, dir := range []string{filepath.Join(f.Data, "build"), os.TempDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the data folder: %w", err)
		}
	}
	release, err := store.LockFolder(f.Data)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, release)
	work := filepath.Join(f.Data, "work")
	if err := os.RemoveAll(work); err != nil { // what a killed process has left
		return nil, fmt.Errorf("clear the working folder: %w", err)
	}
	p.catalog = exercises.Open(exercises.Builtin(), s.packs)
	p.logProblems(p.catalog.Problems())
	if p.store, err = store.Open(ctx, cmp.Or(f.Database, f.sqlite())); err != nil {
		return nil, err
	}
	p.closers = append(p.closers, p.store.Close)
	if err := jobs.Migrate(ctx, p.store); err != nil {
		return nil, err
	}
	p.compiler = build.New(build.Config{Dir: filepath.Join(f.Data, "build"), Prepared: s.prepared})
	judge, err := grader.New(grader.Config{Dir: work, Workers: min(2, runtime.GOMAXPROCS(0))}, p.compiler)
	if err != nil {
		return nil, err
	}
	p.queue, err = jobs.New(ctx, p.store, &siteGrader{p.catalog, p.compiler, judge}, jobs.Config{
		Workers: workers, Log: p.log, Metrics: p.figures, Webhooks: webhook.New(webhooks, nil), BasePath: string(base),
	})
	return p, err
}

func (p *site) logProblems(problems exercises.Problems) {
	for _, problem := range problems {
		p.log.Warn("a pack has a problem and is left out", slog.String("problem", problem.String()))
	}
}

// logNotGraded names the exercises that this program cannot grade.
func (p *site) logNotGraded() {
	var names []string
	for _, pack := range p.catalog.Packs() {
		for _, e := range pack.Exercises {
			if !grader.CanGrade(e) {
				names = append(names, e.Name())
			}
		}
	}
	if len(names) > 0 {
		p.log.Warn("these exercises cannot be graded, because the program was built without -tags synctests", slog.String("exercises", strings.Join(names, " ")))
	}
}

// close undoes open, last things first.
func (p *site) close() error {
	var errs []error
	for i := len(p.closers) - 1; i >= 0; i-- {
		errs = append(errs, p.closers[i]())
	}
	return errors.Join(errs...)
}

// run grades while serve runs, and prepares the compiler and verifies
// the packs beside it. At the end
// the pages stop first, then running gradings finish.
func (p *site) run(ctx context.Context, serve func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var preparing sync.WaitGroup
	preparing.Go(func() {
		p.logProblems(p.catalog.Verify(ctx))
		p.logNotGraded()
	})
	if p.workers > 0 {
		preparing.Go(func() { prepareForSite(ctx, p.log, p.compiler) })
	}
	err := p.queue.Start(ctx)
	if err == nil {
		err = serve(ctx)
	}
	cancel()
	preparing.Wait()
	stop, done := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer done()
	return errors.Join(err, p.queue.Stop(stop))
}

// serveCommand runs the site: pages, jobs and grader in one process.
type serveCommand struct {
	siteFlags
	Addr    string `help:"Address to listen on." env:"REDELIVER_ADDR" default:"127.0.0.1:8080"`
	Workers int    `help:"Gradings at once; 0: this process only serves pages." env:"REDELIVER_WORKERS" default:"${workers}"`
	BaseURL string `name:"base-url" help:"Scheme and host at which browsers reach the site; https:// makes cookies secure, and links to the site get pictures." env:"REDELIVER_BASE_URL" placeholder:"URL"`
	basePathFlag
	Proxy bool      `help:"Take the client's address from X-Forwarded-For of a proxy on a private address." env:"REDELIVER_PROXY"`
	OIDC  oidcFlags `embed:"" prefix:"oidc-"`
	webhookFlags
	MetricsToken string `help:"Serve /metrics to who sends this as a bearer token; without it there is no such page." env:"REDELIVER_METRICS_TOKEN" placeholder:"TOKEN"`
}

// basePathFlag says where the site lies on its host. Workers need it, too: they write
// addresses into messages.
type basePathFlag struct {
	BasePath views.BasePath `name:"base-path" help:"What stands before every path of the site on a host that it shares with others, such as /redeliver. The proxy leaves it there." env:"REDELIVER_BASE_PATH" placeholder:"PATH"`
}

// webhookFlags say where messages may go. Pages and workers need them: the ones refuse
// addresses, the others send.
type webhookFlags struct {
	Allow []string `name:"webhook-allow" help:"Where webhooks may send to: public, host names, addresses, networks such as 10.1.0.0/16. Without it the site sends nothing. Plain http and private addresses need an entry of their own." env:"REDELIVER_WEBHOOK_ALLOW" sep:"," placeholder:"WHERE"`
}

// policy checks the flags.
func (f webhookFlags) policy() (webhook.Policy, error) {
	p, err := webhook.ParsePolicy(f.Allow)
	if err != nil {
		return p, usageError{fmt.Errorf("--webhook-allow: %w", err)}
	}
	return p, nil
}

// oidcFlags name a provider of accounts.
type oidcFlags struct {
	Issuer       string `help:"OpenID Connect provider with whose accounts people sign in too; it needs --base-url, and https unless it is on this machine." env:"REDELIVER_OIDC_ISSUER" placeholder:"URL"`
	ClientID     string `help:"What the provider calls this site." env:"REDELIVER_OIDC_CLIENT_ID" placeholder:"ID"`
	ClientSecret string `help:"What the provider knows this site by." env:"REDELIVER_OIDC_CLIENT_SECRET" placeholder:"SECRET"`
}

// config checks the flags; base and path are where browsers reach the site.
func (f oidcFlags) config(base string, path views.BasePath) (auth.ProviderConfig, error) {
	switch {
	case f == (oidcFlags{}):
		return auth.ProviderConfig{}, nil
	case f.Issuer == "" || f.ClientID == "":
		return auth.ProviderConfig{}, usageError{errors.New("signing in with a provider needs --oidc-issuer and --oidc-client-id")}
	case base == "":
		return auth.ProviderConfig{}, usageError{errors.New("signing in with a provider needs --base-url: it sends browsers back to that address and " + string(path) + web.OIDCCallback)}
	}
	if err := auth.CheckIssuer(f.Issuer); err != nil {
		return auth.ProviderConfig{}, usageError{fmt.Errorf("--oidc-issuer: %w", err)}
	}
	return auth.ProviderConfig{Issuer: f.Issuer, ClientID: f.ClientID, ClientSecret: f.ClientSecret, Redirect: base + string(path) + web.OIDCCallback}, nil
}

// Run serves until ctx ends, then lets requests and gradings finish.
func (c *serveCommand) Run(ctx context.Context, s *streams) (err error) {
	baseURL, err := siteURL(c.BaseURL)
	if err != nil {
		return err
	}
	provider, err := c.OIDC.config(baseURL, c.BasePath)
	if err != nil {
		return err
	}
	webhooks, err := c.policy()
	if err != nil {
		return err
	}
	limitMemory(c.Workers + 1) // one for a replay, or for the pages
	p, err := c.open(ctx, s, c.Workers, webhooks, c.BasePath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	pages, err := web.New(web.Config{
		BaseURL: baseURL, BasePath: c.BasePath, SecureCookies: strings.HasPrefix(baseURL, "https://"), TrustProxy: c.Proxy, Log: p.log,
		Metrics: p.figures, MetricsToken: c.MetricsToken, Provider: provider, CanGrade: grader.CanGrade, Webhooks: webhooks,
	}, p.store, p.queue, p.catalog)
	if err != nil {
		return err
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	address := "http://" + ln.Addr().String()
	p.log.Info("listening", slog.String("address", address+string(c.BasePath)))
	token, expires, err := pages.FirstOwner(ctx)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	if token != "" {
		p.log.Warn("nobody owns this site yet; the link makes the owner, and works once",
			slog.String("link", invitationLink(cmp.Or(baseURL, address), c.BasePath, token)), slog.Time("until", expires))
	}
	return p.run(ctx, func(ctx context.Context) error { return pages.Serve(ctx, ln) })
}

// invitationLink is the address of a link that works once.
func invitationLink(base string, path views.BasePath, token string) string {
	return base + string(path) + "/invitations/" + token
}

// siteURL checks --base-url and returns it without a slash at its end.
func siteURL(flag string) (string, error) {
	if flag == "" {
		return "", nil
	}
	u, err := url.Parse(flag)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", usageError{fmt.Errorf("--base-url is scheme and host, https://practice.example, and not %q", flag)}
	case strings.Trim(u.Path, "/") != "":
		return "", usageError{fmt.Errorf("--base-url is scheme and host alone: --base-url %s --base-path %s", u.Scheme+"://"+u.Host, strings.TrimRight(u.Path, "/"))}
	}
	return u.Scheme + "://" + u.Host, nil
}

// inviteCommand makes a link for an account, for who has lost the last owner's
// password. The site may run.
type inviteCommand struct {
	siteFlags
	Role    string `help:"What the link gives: owner or interviewer." enum:"owner,interviewer" default:"owner"`
	BaseURL string `name:"base-url" help:"Scheme and host at which browsers reach the site." env:"REDELIVER_BASE_URL" default:"http://127.0.0.1:8080"`
	basePathFlag
}

// Run prints the link.
func (c *inviteCommand) Run(ctx context.Context, s *streams) (err error) {
	baseURL, err := siteURL(c.BaseURL)
	if err != nil {
		return err
	}
	if err := c.mustExist(); err != nil {
		return err
	}
	st, err := store.Open(ctx, cmp.Or(c.Database, c.sqlite()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	token, expires, err := auth.InviteFromServer(ctx, st, store.Role(c.Role), time.Now())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s\nworks once, until %s\n", invitationLink(baseURL, c.BasePath, token), expires.UTC().Format("2006-01-02 15:04 UTC"))
	return err
}

// workerCommand grades for a site on another machine.
type workerCommand struct {
	siteFlags
	webhookFlags
	basePathFlag
	Workers int `help:"Gradings at once." env:"REDELIVER_WORKERS" default:"${workers}"`
}

// Run grades until ctx ends, then lets gradings finish.
func (c *workerCommand) Run(ctx context.Context, s *streams) (err error) {
	switch {
	case c.Database == "":
		return usageError{errors.New("a worker shares a PostgreSQL database with the site: name it with --database postgres://…; one process owns a SQLite file")}
	case c.Workers < 1:
		return usageError{errors.New("a worker grades at least one submission at a time: --workers must be 1 or more")}
	}
	webhooks, err := c.policy()
	if err != nil {
		return err
	}
	limitMemory(c.Workers)
	p, err := c.open(ctx, s, c.Workers, webhooks, c.BasePath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	p.log.Info("working", slog.Int("gradings at once", c.Workers))
	return p.run(ctx, func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	})
}

// backupCommand copies the database.
type backupCommand struct {
	siteFlags
	File string `arg:"" help:"The copy; the file must not exist."`
}

// Run copies the state of one moment.
func (c *backupCommand) Run(ctx context.Context, s *streams) (err error) {
	if c.Database != "" {
		return usageError{errors.New("PostgreSQL is copied with its own pg_dump; this command copies the SQLite database in the data folder")}
	}
	st, err := store.OpenToRead(ctx, c.sqlite())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if err := st.Backup(ctx, c.File); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "copied to %s\n", c.File)
	return err
}

// prepareForSite prepares the compiler and logs every fifth of the way.
func prepareForSite(ctx context.Context, log *slog.Logger, c *build.Compiler) {
	logged := -1
	err := c.Prepare(ctx, func(_ string, done, total int) {
		if fifth := done * 5 / max(total, 1); fifth != logged {
			logged = fifth
			log.Info("preparing the compiler", slog.Int("packages", done), slog.Int("of", total))
		}
	})
	if err != nil && ctx.Err() == nil {
		log.Error("the compiler cannot be prepared; nothing is graded until this is mended and the server started again", slog.Any("error", err))
		return
	}
	log.Info("the compiler is ready")
}

// siteGrader is the grader as the job queue wants it.
type siteGrader struct {
	catalog  *exercises.Catalog
	compiler *build.Compiler
	judge    *grader.Grader
}

// Preparing says what the compiler is doing before it can build.
func (g *siteGrader) Preparing() string { return g.compiler.State().String() }

// Grade judges one submission of the site.
func (g *siteGrader) Grade(ctx context.Context, r jobs.Request, progress func(jobs.Progress)) (verdict.Verdict, error) {
	exercise, ok := g.catalog.Exercise(r.Exercise)
	if !ok {
		return verdict.Verdict{}, fmt.Errorf("the exercise %s is not installed any more", r.Exercise)
	}
	v, err := g.judge.Grade(ctx, grader.Request{Exercise: exercise, Files: r.Files, Seed: r.Seed, Replay: r.Replay, Progress: func(p grader.Progress) {
		progress(jobs.Progress{Stage: string(p.Stage), Coverage: p.Coverage, Finding: p.Finding})
	}})
	var changed *grader.ReplayError
	if errors.As(err, &changed) {
		return v, &jobs.ChangedError{Text: changed.Text}
	}
	return v, err
}
