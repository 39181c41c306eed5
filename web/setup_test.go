package web

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redeliver/exercises"
	"redeliver/grader/verdict"
	"redeliver/web/auth"
	"redeliver/web/jobs"
	"redeliver/web/store"
	"redeliver/web/store/storetest"
	"redeliver/web/views"
	"redeliver/web/webhook"
)

// fakeGrader says and answers what the test tells it to. It imitates neither a
// compiler nor a sandbox, nor the time that they take.
type fakeGrader struct {
	preparing atomic.Bool
	progress  chan jobs.Progress
	verdicts  chan verdict.Verdict
	// replay answers a request for one schedule; nil makes a test fail that asks.
	replay func(ctx context.Context, r jobs.Request) (verdict.Verdict, error)
	// samples grades what comes with an exercise; nil leaves that to verdicts.
	samples func(r jobs.Request) verdict.Finding
}

func (f *fakeGrader) Grade(ctx context.Context, r jobs.Request, progress func(jobs.Progress)) (verdict.Verdict, error) {
	if r.Replay != "" {
		return f.replay(ctx, r)
	}
	if f.samples != nil {
		first := f.samples(r)
		progress(jobs.Progress{Stage: "explore", Finding: &first})
		<-ctx.Done() // whoever wanted only the first finding ends the grading
		return verdict.Verdict{}, ctx.Err()
	}
	for {
		select {
		case p := <-f.progress:
			progress(p)
		case v := <-f.verdicts:
			return v, nil
		case <-ctx.Done():
			return verdict.Verdict{}, ctx.Err()
		}
	}
}

func (f *fakeGrader) Preparing() string {
	if f.preparing.Load() {
		return "Preparing the compiler."
	}
	return ""
}

// say reports that a phase has ended.
func (f *fakeGrader) say(phases ...string) {
	for _, phase := range phases {
		f.progress <- jobs.Progress{Stage: "explore", Coverage: &verdict.Coverage{Phase: phase, Schedules: 3, Failed: 1, Complete: true}}
	}
}

func verdictOf(o verdict.Outcome) verdict.Verdict {
	return verdict.Verdict{
		Exercise: "core/charge-once", ExerciseVersion: "1.0.0", Engine: verdict.Engine, Outcome: o,
		Summary: "This is the sentence of the verdict.", Findings: []verdict.Finding{}, Coverage: []verdict.Coverage{},
	}
}

// fakeCatalog is exercises by name.
type fakeCatalog []*exercises.Exercise

func (c fakeCatalog) Exercise(name string) (*exercises.Exercise, bool) {
	for _, e := range c {
		if e.Name() == name {
			return e, true
		}
	}
	return nil, false
}

func (c fakeCatalog) Public() (out []*exercises.Head) {
	for _, e := range c {
		if e.Visibility == "public" {
			out = append(out, &e.Head)
		}
	}
	return out
}

func (fakeCatalog) Problems() exercises.Problems { return nil }

func testCatalog() fakeCatalog {
	return fakeCatalog{{
		Head: exercises.Head{
			Pack: "core", Slug: "charge-once", Version: "1.0.0", Level: 1, Entry: "handler", Minutes: 20, Visibility: "public",
			Title: map[string]string{"en": "Charge once"},
		},
		Statement: map[string]string{"en": "Charge **once**.\n\n## Tables\n\n```sql\nCREATE TABLE t (id TEXT)\n```\n\n<script>alert(1)</script>"},
		Hints:     map[string][]exercises.Hint{"en": {{Title: "A hint & a half", Text: "Look *here*."}}},
		Starter: []exercises.File{
			{Name: "handler.go", Content: []byte("\npackage handler // starter\n")},
			{Name: "schema.sql", Content: []byte("-- empty\n")},
		},
	}, {
		Head: exercises.Head{
			Pack: "core", Slug: "secret", Version: "1.0.0", Level: 4, Minutes: 30, Visibility: "assigned",
			Title: map[string]string{"en": "A secret task"},
		},
		Starter: []exercises.File{{Name: "handler.go"}},
	}}
}

func (c fakeCatalog) All() (out []*exercises.Head) {
	for _, e := range c {
		out = append(out, &e.Head)
	}
	return out
}

type testBundle struct {
	st     *store.Store
	queue  *jobs.Queue
	grader *fakeGrader
	srv    *Server
	ts     *httptest.Server
}

// setup starts a server with an empty database. Its queue is not started.
func setup(t *testing.T, cfg Config, catalog Catalog) *testBundle {
	t.Helper()
	return setupOn(t, filepath.Join(t.TempDir(), "redeliver.db"), cfg, catalog)
}

func setupOn(t *testing.T, pathOrURL string, cfg Config, catalog Catalog) *testBundle {
	t.Helper()
	b := &testBundle{
		st:     storetest.Open(t, pathOrURL, jobs.Migrate),
		grader: &fakeGrader{progress: make(chan jobs.Progress), verdicts: make(chan verdict.Verdict)},
	}
	var err error
	b.queue, err = jobs.New(t.Context(), b.st, b.grader, jobs.Config{
		Workers: 1, SoftStop: 10 * time.Millisecond, Now: cfg.Now, Log: slog.New(slog.DiscardHandler), Webhooks: webhook.New(cfg.Webhooks, nil),
		BasePath: string(cfg.BasePath),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.queue.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if cfg.PasswordCost == (auth.Cost{}) {
		cfg.PasswordCost = auth.Cost{MemoryKiB: 64, Iterations: 1}
	}
	if cfg.PostsPerMinute == 0 {
		cfg.PostsPerMinute = 10_000
	}
	if b.srv, err = New(cfg, b.st, b.queue, catalog); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.srv.rooms.Close)
	b.ts = httptest.NewServer(b.srv)
	t.Cleanup(b.ts.Close)
	return b
}

func (b *testBundle) start(t *testing.T) {
	t.Helper()
	if err := b.queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// graded waits until the submission behind an address has its verdict.
func (b *testBundle) graded(t *testing.T, v *visitor, path string) {
	t.Helper()
	until(t, v.stream(t, path+"/events", ""), "event: done")
}

// visitor is a browser with cookies and without script.
type visitor struct {
	person store.Person // who is signed in, where a test needs it
	b      *testBundle
	client *http.Client
}

func (b *testBundle) visitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{b: b, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
}

// answer is a response that was read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

func (v *visitor) do(t *testing.T, method, path string, body io.Reader, header http.Header) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, v.b.ts.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for k, values := range header {
		r.Header[k] = values
	}
	resp, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// get wants a page with this status.
func (v *visitor) get(t *testing.T, path string, status int) answer {
	t.Helper()
	a := v.do(t, "GET", path, nil, nil)
	if a.status != status {
		t.Fatalf("GET %s: status %d, want %d", path, a.status, status)
	}
	return a
}

const exercisePage = "/en/exercises/core/charge-once"

// form is what a browser sends for a text in handler.go.
func form(base int, text string) url.Values {
	return url.Values{
		views.BaseField:             {fmt.Sprint(base)},
		views.FieldOf("handler.go"): {strings.ReplaceAll(text, "\n", "\r\n")},
		views.FieldOf("schema.sql"): {"-- empty\r\n"},
	}
}

func (v *visitor) post(t *testing.T, path string, values url.Values) answer {
	t.Helper()
	return v.do(t, "POST", path, strings.NewReader(values.Encode()),
		http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
}

// submit hands in a text and returns the address that the answer leads to,
// without its query.
func (v *visitor) submit(t *testing.T, base int, text string) (path, query string) {
	t.Helper()
	a := v.post(t, exercisePage+"/submissions", form(base, text))
	if a.status != http.StatusSeeOther {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	path, query, _ = strings.Cut(a.header.Get("Location"), "?")
	return path, query
}
