// Load lets candidates read and save drafts while submissions come as fast as
// the machine grades them, on SQLite and on this machine, and prints what that
// took. It fails when a request fails or a submission gets no verdict.
//
//	go run ./.ci/load                       200 candidates for half a minute
//	go run ./.ci/load -for 10m -workers 2   the figures of the machine
//
// A candidate reads the exercise and saves a draft every -pause. The driver runs
// on the same processors, so the times are above those of the server alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"redeliver/web/views"
)

type options struct {
	candidates int
	lasts      time.Duration
	pause      time.Duration
	workers    int
}

func main() {
	var o options
	flag.IntVar(&o.candidates, "candidates", 200, "who read and save at once")
	flag.DurationVar(&o.lasts, "for", 30*time.Second, "how long")
	flag.DurationVar(&o.pause, "pause", 5*time.Second, "between two drafts of a candidate")
	flag.IntVar(&o.workers, "workers", max(1, runtime.GOMAXPROCS(0)/2), "gradings at once")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	source, err := os.ReadFile(filepath.Join("exercises", "packs", "core", "charge-once", "solutions", "on-conflict-do-nothing", "handler.go"))
	if err != nil {
		return fmt.Errorf("start me in the repository: %w", err)
	}
	dir, err := os.MkdirTemp("", "redeliver-load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, stop, err := start(ctx, dir, o.workers)
	if err != nil {
		return err
	}
	defer stop()
	s.source = string(source)
	before, err := s.figures(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	busy, cancel := context.WithTimeout(ctx, o.lasts)
	defer cancel()
	var all sync.WaitGroup
	for i := range o.candidates {
		all.Go(func() { s.practise(busy, i, o.pause, o.candidates) })
	}
	submitted := s.submitAll(busy, 2*o.workers)
	all.Wait()
	during, err := s.figures(ctx)
	if err != nil {
		return err
	}
	drain := time.Now()
	for now := during; now["redeliver_submissions_unfinished"] > 0; time.Sleep(100 * time.Millisecond) {
		if now, err = s.figures(ctx); err != nil {
			return err
		}
		if time.Since(drain) > 5*time.Minute {
			return fmt.Errorf("%.0f submissions have no verdict five minutes later", now["redeliver_submissions_unfinished"])
		}
	}
	after, err := s.figures(ctx)
	if err != nil {
		return err
	}
	verdicts := after["redeliver_gradings_total"] - before["redeliver_gradings_total"]
	fmt.Printf("%d candidates, %d gradings at once, %s, %d processors\n", o.candidates, o.workers, o.lasts, runtime.NumCPU())
	s.print()
	fmt.Printf("submissions %d, verdicts %.0f, %.1f a minute; the queue was empty %s after the last\n",
		submitted, verdicts, verdicts/time.Since(begin).Minutes(), time.Since(drain).Round(100*time.Millisecond))
	for _, f := range []struct {
		when    string
		figures map[string]float64
	}{{"before", before}, {"at the end of the load", during}, {"after the last verdict", after}} {
		fmt.Printf("memory %s: %.0f MB resident, %.0f MB of heap\n", f.when, f.figures["process_resident_memory_bytes"]/1e6, f.figures["go_memstats_heap_inuse_bytes"]/1e6)
	}
	if n := len(s.errors); n > 0 {
		return fmt.Errorf("%d requests failed, the first: %w", n, s.errors[0])
	}
	if int(verdicts) != submitted {
		return fmt.Errorf("%d submissions and %.0f verdicts", submitted, verdicts)
	}
	return nil
}

// site is the server under load and what was measured.
type site struct {
	base   string
	source string
	client *http.Client

	mu     sync.Mutex
	took   map[string][]time.Duration // by kind of request
	errors []error
}

const metricsToken = "load"

// start builds and runs a server.
func start(ctx context.Context, dir string, workers int) (*site, func(), error) {
	program, prepared := filepath.Join(dir, "redeliver"), filepath.Join(dir, "prepared")
	if cache, err := os.UserCacheDir(); err == nil {
		prepared = filepath.Join(cache, "redeliver-prepared")
	}
	for _, command := range [][]string{{"go", "build", "-tags", "synctests", "-o", program, "."}, {program, "prepare", prepared}} {
		if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
		}
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	address := ln.Addr().String()
	if err := ln.Close(); err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, program, "serve", "--proxy", "--addr", address, "--workers", strconv.Itoa(workers), "--metrics-token", metricsToken)
	cmd.Env = append(os.Environ(), "REDELIVER_DATA="+filepath.Join(dir, "data"), "REDELIVER_PREPARED="+prepared)
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop := func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		_ = cmd.Wait()
	}
	s := &site{base: "http://" + address, took: map[string][]time.Duration{}, client: &http.Client{
		Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 1000},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if res, err := s.client.Get(s.base + "/readyz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return s, stop, nil
			}
		}
		if time.Now().After(deadline) {
			stop()
			return nil, nil, errors.New("the server is not ready after a minute")
		}
	}
}

// practise reads the exercise and saves a draft again and again.
func (s *site) practise(ctx context.Context, i int, pause time.Duration, of int) {
	tick := time.NewTimer(pause * time.Duration(i) / time.Duration(of)) // not all at once
	defer tick.Stop()
	for saved := 0; ; saved++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		tick.Reset(pause)
		s.ask(ctx, "page", i, http.MethodGet, "", nil, http.StatusOK)
		s.ask(ctx, "draft", i, http.MethodPost, "/drafts", s.form(saved, i, saved), http.StatusSeeOther)
	}
}

// submitAll keeps so many submissions unfinished, and returns how many it made.
func (s *site) submitAll(ctx context.Context, waiting int) (made int) {
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		figures, err := s.figures(ctx)
		if err != nil {
			continue
		}
		for n := int(figures["redeliver_submissions_unfinished"]); n < waiting && ctx.Err() == nil; n++ {
			// Without ctx: what was sent is counted.
			s.ask(context.WithoutCancel(ctx), "submission", 1_000_000+made, http.MethodPost, "/submissions", s.form(0, -1, made), http.StatusSeeOther)
			made++
		}
	}
	return made
}

func (s *site) form(base, candidate, n int) url.Values {
	return url.Values{views.BaseField: {strconv.Itoa(base)}, views.FieldOf("handler.go"): {fmt.Sprintf("%s\n// %d %d\n", s.source, candidate, n)}}
}

// ask sends one request of a browser and notes its time.
func (s *site) ask(ctx context.Context, kind string, browser int, method, path string, form url.Values, want int) {
	req, err := http.NewRequestWithContext(ctx, method, s.base+"/en/exercises/core/charge-once"+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.note(kind, 0, err)
		return
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-Forwarded-For", fmt.Sprintf("11.%d.%d.%d", browser>>16&255, browser>>8&255, browser&255))
	req.AddCookie(&http.Cookie{Name: "redeliver", Value: fmt.Sprintf("%026d", browser)})
	begin := time.Now()
	res, err := s.client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			s.note(kind, 0, err)
		}
		return
	}
	body, err := io.ReadAll(res.Body)
	err = errors.Join(err, res.Body.Close())
	if err == nil && res.StatusCode != want {
		err = fmt.Errorf("%s %s: %s\n%.500s", method, path, res.Status, body)
	}
	if ctx.Err() == nil || err == nil {
		s.note(kind, time.Since(begin), err)
	}
}

func (s *site) note(kind string, took time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.errors = append(s.errors, err)
		return
	}
	s.took[kind] = append(s.took[kind], took)
}

// print shows the times of the requests.
func (s *site) print() {
	for _, kind := range []string{"page", "draft", "submission"} {
		t := s.took[kind]
		if len(t) == 0 {
			continue
		}
		slices.Sort(t)
		at := func(share float64) time.Duration {
			return t[int(share*float64(len(t)-1))].Round(100 * time.Microsecond)
		}
		fmt.Printf("%-10s %6d requests, median %s, p99 %s, slowest %s\n", kind, len(t), at(.5), at(.99), at(1))
	}
	fmt.Printf("errors %d\n", len(s.errors))
}

// figures reads /metrics; the series of a name are added.
func (s *site) figures(ctx context.Context) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+metricsToken)
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	figures := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseFloat(value, 64); ok && err == nil && name != "#" {
			name, _, _ = strings.Cut(name, "{")
			figures[name] += n
		}
	}
	return figures, nil
}
