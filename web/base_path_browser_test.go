package web

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"redeliver/grader/verdict"
	"redeliver/web/store"
)

// setupProxy is a browser in front of a proxy that has the site under a prefix. Nobody
// may ask it for anything else.
func setupProxy(t *testing.T, cfg Config) *browserBundle {
	t.Helper()
	cfg.BasePath = basePath
	b := setupBrowserWith(t, cfg)
	site, err := url.Parse(b.ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(basePath+"/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(site)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the browser asks the other site for %s %s", r.Method, r.URL)
		http.NotFound(w, r)
	})
	proxy := httptest.NewServer(mux)
	t.Cleanup(func() {
		proxy.CloseClientConnections() // event streams
		proxy.Close()
	})
	direct := *b.testBundle
	b.testBundle = &direct
	b.ts = &httptest.Server{URL: proxy.URL + basePath}
	b.do(t, command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collectViolations}))
	return b
}

// types puts the cursor into the first editor and types.
func (b *browserBundle) types(t *testing.T, text string) {
	t.Helper()
	b.do(t,
		chromedp.WaitVisible(chromedp.CSS(".code")),
		chromedp.Evaluate[chromedp.Void](`document.querySelector(".code").shadowRoot.querySelector(".cm-content").focus()`),
		chromedp.KeyEvent(text),
	)
}

// eventually waits for a condition of the page.
func (b *browserBundle) eventually(t *testing.T, condition string) {
	t.Helper()
	if err := b.poll(condition); err != nil {
		t.Fatalf("%s: %v at %s", condition, err, run(t, b, chromedp.Evaluate[string]("location.href")))
	}
}

// Who practises behind a proxy with a prefix: a draft, a check, a grading that is
// watched, its timeline with its files, a run, a lab.
func TestBrowserBasePath(t *testing.T) {
	b := setupProxy(t, Config{})
	story := b.story(t)
	b.do(t, chromedp.Navigate(b.ts.URL), chromedp.Click(chromedp.CSS("a.button")))
	b.types(t, wrongCode)
	b.eventually(t, `document.querySelector("[name=base]").value === "1"`)
	b.do(t, chromedp.Click(chromedp.CSS("button[data-check]")))
	b.grader.verdicts <- refused()
	b.eventually(t, `document.querySelector("#draft-news").classList.contains("is-problem")`)
	b.obeys(t)

	b.do(t,
		chromedp.Click(chromedp.CSS("main form button:not(.second)")), chromedp.WaitVisible(chromedp.CSS("section.progress")),
		chromedp.Evaluate[chromedp.Void]("window.sameDocument = true"),
	)
	b.grader.say("happy-path", "redelivery")
	b.do(t, chromedp.WaitVisible(chromedp.CSS(".phases .done:nth-child(2)")))
	b.grader.verdicts <- story
	b.do(t, chromedp.WaitVisible(chromedp.CSS(".verdict.is-failed")))
	if !run(t, b, chromedp.Evaluate[bool]("window.sameDocument === true")) {
		t.Error("the page was loaded anew to show the verdict")
	}
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		b.do(t, command(browser.SetPermission, browser.SetPermissionParams{Permission: &browser.PermissionDescriptor{Name: name}, Setting: "granted"}))
	}
	b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("[data-copy]").click()`))
	b.eventually(t, `document.querySelector("[data-copied]").textContent === "Copied."`)
	b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("[data-copied]").textContent = ""; document.querySelector("[data-copy=address]").click()`))
	b.eventually(t, `document.querySelector("[data-copied]").textContent === "Copied."`)
	address := run(t, b, chromedp.Evaluate[string](`navigator.clipboard.readText()`, chromedp.EvalAwaitPromise))
	if want := b.ts.URL + "/en/runs/" + story.Findings[0].Schedule; address != want {
		t.Errorf("copied %q, want %q", address, want)
	}
	b.do(t, chromedp.Click(chromedp.CSS("a[data-twin]")), chromedp.WaitVisible(chromedp.CSS(".tl-twin .tl")))
	b.obeys(t)
	b.do(t, chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS(".run .tl")))
	b.obeys(t)

	b.do(t, chromedp.Click(chromedp.CSS(`.languages a[lang=de]`)), chromedp.WaitVisible(chromedp.CSS(`html[lang=de] .run .tl`)),
		chromedp.Navigate(b.ts.URL+"/labs/lost-ack"), chromedp.WaitVisible(chromedp.CSS("html[lang=de] #stage form")))
	b.press(t, "start", ".account")
	b.press(t, "buy", ".log tbody tr")
	b.obeys(t)
}

// A candidate behind such a proxy: the link, the start, what is typed, the end by the clock.
func TestBrowserBasePathSitting(t *testing.T) {
	var ahead atomic.Int64
	b := setupProxy(t, Config{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	by := newOwner(t, b.testBundle)
	a := newAssignment(t, b.testBundle, by, store.Assignment{})
	token, _ := newCandidate(t, b.testBundle, by, a)
	b.do(t,
		chromedp.Navigate(b.ts.URL+"/a/"+token),
		chromedp.Click(chromedp.CSS(`section[aria-labelledby=start] button`)),
		chromedp.Click(chromedp.CSS(`section[aria-labelledby=exercises] a`)),
	)
	b.types(t, "// in time\n")
	b.eventually(t, `document.querySelector("[name=base]").value === "1"`)
	ahead.Store(int64(a.Limit - 10*time.Second))
	b.do(t, chromedp.Navigate(b.ts.URL+"/a/"+token+"/exercises/core/charge-once"))
	b.types(t, "// late\n")
	b.do(t, chromedp.WaitNotPresent(chromedp.CSS(".code")))
	ahead.Add(int64(2 * store.Grace))
	b.do(t, chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#handed-in")))
	if at := run(t, b, chromedp.Evaluate[string]("location.pathname")); at != basePath+"/en/a/"+token {
		t.Errorf("the end is at %s", at)
	}
	b.obeys(t)
	b.grader.verdicts <- verdictOf(verdict.Passed)

	b.signInAs(t, "ada")
	b.do(t,
		chromedp.Click(chromedp.CSS(`.account-nav a[href$="/assign"]`)), chromedp.Click(chromedp.CSS("tbody th a")),
		chromedp.Click(chromedp.CSS("tbody th a")), chromedp.WaitVisible(chromedp.CSS("svg.axis")),
		chromedp.Click(chromedp.CSS(".exercise-report a")), chromedp.WaitVisible(chromedp.CSS("form.playback")),
		chromedp.Click(chromedp.CSS("nav.playback a:last-child")), chromedp.WaitVisible(chromedp.CSS("nav.playback a[rel=prev]")),
	)
	if source := run(t, b, chromedp.Text(chromedp.CSS(".source"))); !strings.Contains(source, "// late") {
		t.Errorf("handed in was %q", source)
	}
	b.obeys(t)
	b.do(t, chromedp.Click(chromedp.CSS(".account-nav form button")), chromedp.WaitVisible(chromedp.CSS("a.button")))
	if at := run(t, b, chromedp.Evaluate[string]("location.pathname")); at != basePath+"/en/" {
		t.Errorf("signing out leads to %s", at)
	}
}
