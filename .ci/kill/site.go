package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"redeliver/web/store"
	"redeliver/web/views"
)

// site is the processes under test. Each is started again as soon as it ends.
type site struct {
	base      string // address of the pages
	database  string // what store.Open takes
	processes []*process
	drop      func(context.Context) error
	client    *http.Client
}

// process is one command of redeliver that is kept running.
type process struct {
	cmd  func() *exec.Cmd
	mu   sync.Mutex
	now  *exec.Cmd // nil between two lives, and after stop
	over bool
	done chan struct{} // closed when it is not started again
}

func newSite(ctx context.Context, dir string, o options) (*site, error) {
	program := filepath.Join(dir, "redeliver")
	prepared := filepath.Join(cmp.Or(cacheDir(), dir), "redeliver-prepared")
	for _, command := range [][]string{
		{"go", "build", "-tags", "synctests", "-o", program, "."},
		{program, "prepare", prepared},
	} {
		if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
		}
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s := &site{
		base: "http://" + address, database: filepath.Join(dir, "site", "redeliver.db"),
		drop:   func(context.Context) error { return nil },
		client: &http.Client{Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	commands := map[string][]string{"site": {"serve", "--proxy", "--addr", address, "--workers", "2"}}
	if o.database == "postgres" {
		if s.database, s.drop, err = newDatabase(ctx, o.postgres); err != nil {
			return nil, err
		}
		commands["site"][5] = "0"
		commands["worker-1"] = []string{"worker", "--workers", "1"}
		commands["worker-2"] = []string{"worker", "--workers", "1"}
	}
	for _, name := range []string{"site", "worker-1", "worker-2"} {
		args, ok := commands[name]
		if !ok {
			continue
		}
		log, err := os.Create(filepath.Join(dir, name+".log"))
		if err != nil {
			return nil, err
		}
		env := append(os.Environ(), "REDELIVER_DATA="+filepath.Join(dir, name), "REDELIVER_PREPARED="+prepared)
		if o.database == "postgres" {
			env = append(env, "REDELIVER_DATABASE="+s.database)
		}
		s.processes = append(s.processes, keepRunning(func() *exec.Cmd {
			cmd := exec.Command(program, args...)
			cmd.Env, cmd.Stdout, cmd.Stderr = env, log, log
			return cmd
		}))
	}
	return s, nil
}

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return dir
}

func freeAddress(ctx context.Context) (string, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// newDatabase creates a database of its own and returns its address, and what
// drops it.
func newDatabase(ctx context.Context, address string) (string, func(context.Context) error, error) {
	if address == "" {
		return "", nil, errors.New("name a PostgreSQL with -postgres or REDELIVER_TEST_POSTGRES")
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("redeliver_kill_%d", time.Now().UnixNano())
	execute := func(ctx context.Context, statement string) (err error) {
		pool, err := sql.Open("pgx", address)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, pool.Close()) }()
		_, err = pool.ExecContext(ctx, statement)
		return err
	}
	if err := execute(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, fmt.Errorf("create a database: %w", err)
	}
	u.Path = "/" + name
	return u.String(), func(ctx context.Context) error { return execute(ctx, "DROP DATABASE "+name+" WITH (FORCE)") }, nil
}

func keepRunning(cmd func() *exec.Cmd) *process {
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for p.start() {
			_ = p.now.Wait() // it was killed, or says in its log why it ended
		}
	}()
	return p
}

// start begins a life, unless the test is over.
func (p *process) start() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false
	}
	p.now = p.cmd()
	if err := p.now.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "kill: start:", err)
		return false
	}
	return true
}

// signal ends the present life; over: there is no other one.
func (p *process) signal(signal os.Signal, over bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = p.over || over
	if p.now == nil {
		return nil
	}
	if err := p.now.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// kill kills the process with a number.
func (s *site) kill(i int) error { return s.processes[i].signal(os.Kill, false) }

// stop ends all processes the way an operator does. A second call does nothing.
func (s *site) stop() {
	for _, p := range s.processes {
		if err := p.signal(os.Interrupt, true); err != nil {
			fmt.Fprintln(os.Stderr, "kill: stop:", err)
		}
	}
	for _, p := range s.processes {
		<-p.done
	}
}

// request asks until the site answers: while it is being killed, connections are
// refused and answers get lost, and whoever sent the request sends it again.
func (s *site) request(ctx context.Context, sub submission, method, path string, form url.Values) (*http.Response, string, error) {
	deadline := time.Now().Add(2 * time.Minute)
	for {
		req, err := http.NewRequestWithContext(ctx, method, s.base+path, strings.NewReader(form.Encode()))
		if err != nil {
			return nil, "", err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("X-Forwarded-For", sub.address)
		req.AddCookie(&http.Cookie{Name: "redeliver", Value: sub.cookie})
		res, body, err := s.once(req)
		if err == nil && res.StatusCode < 500 {
			return res, body, nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return nil, "", fmt.Errorf("%s %s: no answer for two minutes: %w\n%.300s", method, path, err, body)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (s *site) once(req *http.Request) (*http.Response, string, error) {
	res, err := s.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	body, err := io.ReadAll(res.Body)
	return res, string(body), errors.Join(err, res.Body.Close())
}

// submit hands one in. A submission whose answer was lost is sent again, as a
// person does who sees the browser's error page.
func (s *site) submit(ctx context.Context, sub submission) error {
	res, body, err := s.request(ctx, sub, http.MethodPost, "/en/exercises/"+exercise+"/submissions",
		url.Values{views.BaseField: {"0"}, views.FieldOf("handler.go"): {sub.source}})
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusSeeOther || !strings.Contains(res.Header.Get("Location"), "/submissions/") {
		return fmt.Errorf("submit: %s, to %q\n%.2000s", res.Status, res.Header.Get("Location"), body)
	}
	return nil
}

// drain waits until nothing is unfinished.
func (s *site) drain(ctx context.Context, longest time.Duration) (err error) {
	st, err := store.OpenToRead(ctx, s.database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	deadline := time.Now().Add(longest)
	for said := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		var left int
		if err := st.Read.QueryRowContext(ctx, "SELECT count(*) FROM submissions WHERE state = 'queued' AND replaced_at IS NULL").Scan(&left); err != nil {
			return fmt.Errorf("count what is unfinished: %w", err)
		}
		switch {
		case left == 0:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("%d submissions have no verdict after %s", left, longest)
		case time.Since(said) > 15*time.Second:
			fmt.Printf("  %d left\n", left)
			said = time.Now()
		}
	}
}

// seen looks at the pages of a few: each browser sees its own verdict.
func seen(ctx context.Context, s *site, made []submission) error {
	for _, sub := range made[:min(len(made), 20)] {
		res, body, err := s.request(ctx, sub, http.MethodGet, "/en/exercises/"+exercise+"/history", nil)
		if err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK || bytes.Count([]byte(body), []byte("/submissions/")) != 1 {
			return fmt.Errorf("the history of a browser with one submission: %s\n%.3000s", res.Status, body)
		}
	}
	return nil
}
