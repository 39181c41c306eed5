package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
)

// newOwner is an owner that no browser has signed in as.
func newOwner(t *testing.T, b *testBundle) store.Actor {
	t.Helper()
	token, _, err := b.srv.FirstOwner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.srv.auth.Accept(t.Context(), token, auth.Newcomer{Login: "ada", Name: "Ada Lovelace", Password: testPassword}, "")
	if err != nil {
		t.Fatal(err)
	}
	return store.Actor{Person: p.Person}
}

// signInAs brings the tab to the account of newOwner.
func (b *browserBundle) signInAs(t *testing.T, login string) {
	t.Helper()
	b.do(t,
		chromedp.Navigate(b.ts.URL+"/en/sign-in"),
		chromedp.SendKeys(chromedp.CSS("#login"), login),
		chromedp.SendKeys(chromedp.CSS("#password"), testPassword+"\r"),
		chromedp.WaitVisible(chromedp.CSS(".account-nav")),
	)
}

// The story of an interviewer and a candidate: an assignment, a link, the rules, the
// start, a connection that is lost and comes back, the end by the clock, the report.
func TestBrowserAssignment(t *testing.T) {
	clock := &testTime{}
	clock.Store(time.Now().UnixMilli())
	b := setupBrowserWith(t, Config{Now: clock.now})
	newOwner(t, b.testBundle)
	b.do(t, command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collectViolations}))
	b.signInAs(t, "ada")
	b.do(t,
		chromedp.Click(chromedp.CSS(`.account-nav a[href="/en/assign"]`)),
		chromedp.Click(chromedp.CSS(`main a.button`)),
		chromedp.SendKeys(chromedp.CSS("#title"), "Backend, spring"),
		chromedp.WaitVisible(chromedp.CSS("#title")),
	)
	b.inspect(t, "assign-new")
	b.do(t,
		chromedp.Click(chromedp.CSS(`input[value="core/charge-once"]`)),
		chromedp.Click(chromedp.CSS(`input[value="core/check-then-insert"]`)),
		chromedp.SendKeys(chromedp.CSS("#note"), "Take your time."),
		chromedp.Click(chromedp.CSS("main form button")),
		chromedp.WaitVisible(chromedp.CSS("#invite")),
		chromedp.SendKeys(chromedp.CSS("#name"), "Grace Hopper\r"),
		chromedp.WaitVisible(chromedp.CSS("#link")),
	)
	b.inspect(t, "assign-link")
	link := run(t, b, chromedp.Evaluate[string](`document.querySelector("#link").value`))
	assignment := run(t, b, chromedp.Evaluate[string](`document.querySelector("main p > a").pathname`))

	// The candidate has a browser of its own.
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	candidate := &browserBundle{testBundle: b.testBundle, ctx: ctx, axe: b.axe}
	candidate.do(t,
		scheme("light"),
		command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collectViolations}),
		chromedp.Navigate(link), chromedp.WaitVisible(chromedp.CSS("#start")),
	)
	candidate.inspect(t, "sitting-rules")
	candidate.obeys(t)
	candidate.do(t,
		chromedp.Click(chromedp.CSS(`section[aria-labelledby=start] button`)),
		chromedp.WaitVisible(chromedp.CSS("#exercises")),
	)
	candidate.inspect(t, "sitting")
	candidate.obeys(t)
	candidate.do(t,
		chromedp.Click(chromedp.CSS(`section[aria-labelledby=exercises] li:first-child a`)),
		chromedp.WaitVisible(chromedp.CSS(".code")),
	)
	if err := candidate.poll(`/^(90:00|8\d:\d\d)$/.test(document.querySelector("[role=timer]").textContent)`); err != nil {
		t.Errorf("the time does not count: %v", err)
	}
	candidate.inspect(t, "sitting-exercise")
	candidate.obeys(t)

	writes := func(text string) {
		t.Helper()
		candidate.do(t,
			chromedp.Evaluate[chromedp.Void](`document.querySelector(".code").shadowRoot.querySelector(".cm-content").focus()`),
			chromedp.KeyEvent(text),
		)
	}
	writes("// before the connection was lost\n")
	if err := candidate.poll(`document.querySelector("[name=base]").value === "1"`); err != nil {
		t.Fatalf("nothing was saved: %v", err)
	}
	candidate.connect(t, false)
	writes("// while it was lost\n")
	if err := candidate.poll(`document.querySelector("#draft-news").textContent !== ""`); err != nil {
		t.Fatalf("the candidate is not told: %v", err)
	}
	candidate.connect(t, true)
	if err := candidate.poll(`document.querySelector("[name=base]").value === "2"`); err != nil {
		t.Fatalf("what was written without a connection was not saved: %v", err)
	}

	clock.advance(91 * time.Minute)
	candidate.do(t, chromedp.Navigate(link), chromedp.WaitVisible(chromedp.CSS("#handed-in")))
	candidate.inspect(t, "sitting-ended")
	candidate.obeys(t)
	b.grader.verdicts <- failedVerdict(t)

	b.do(t, chromedp.Navigate(b.ts.URL+assignment), chromedp.WaitVisible(chromedp.CSS("tbody th a")))
	b.inspect(t, "assignment")
	b.do(t, chromedp.Click(chromedp.CSS("tbody th a")), chromedp.WaitVisible(chromedp.CSS("svg.axis")))
	b.inspect(t, "candidate")
	b.obeys(t)
	b.do(t, chromedp.Click(chromedp.CSS(`.exercise-report a`)), chromedp.WaitVisible(chromedp.CSS("form.playback")))
	b.inspect(t, "playback")
	b.obeys(t)
	b.do(t,
		chromedp.Click(chromedp.CSS(`nav.playback a:last-child`)),
		chromedp.WaitVisible(chromedp.CSS(`nav.playback a[rel=prev]`)),
	)
	if source := run(t, b, chromedp.Text(chromedp.CSS(".source"))); !strings.Contains(source, "while it was lost") {
		t.Errorf("the last step shows %q", source)
	}
}

// Who types without a pause until the time is over loses nothing of it.
func TestBrowserTypesUntilTheEnd(t *testing.T) {
	var ahead atomic.Int64
	b := setupBrowserWith(t, Config{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	a := newAssignment(t, b.testBundle, newOwner(t, b.testBundle), store.Assignment{})
	token, c := newCandidate(t, b.testBundle, store.Actor{Person: store.Person{ID: 1}}, a)
	link := "/en/a/" + token
	if r := b.visitor(t).post(t, link+"/start", nil); r.status != http.StatusSeeOther {
		t.Fatalf("status %d", r.status)
	}
	ahead.Store(int64(a.Limit - 5*time.Second))
	b.do(t,
		chromedp.Navigate(b.ts.URL+link+"/exercises/core/charge-once"), chromedp.WaitVisible(chromedp.CSS(".code")),
		chromedp.Evaluate[chromedp.Void](`document.querySelector(".code").shadowRoot.querySelector(".cm-content").focus()`),
	)
	typed := 0
	for run(t, b, chromedp.Evaluate[bool](`document.querySelector(".code") !== null`)) {
		b.do(t, chromedp.KeyEvent("~"))
		typed++
	}
	d, err := b.st.NewestDraft(t.Context(), c.Browser, "core/charge-once")
	if err != nil {
		t.Fatalf("nothing was saved: %v", err)
	}
	// What was typed while the last answer was awaited came after the end.
	if saved := bytes.Count(d.Files[0].Content, []byte("~")); typed < 50 || saved < typed*9/10 {
		t.Errorf("of %d characters %d were saved", typed, saved)
	}
}

// twoAlike are candidates who handed in nearly the same.
func (b *browserBundle) twoAlike(t *testing.T, by store.Actor, a store.Assignment) {
	t.Helper()
	original := solutionOf(t, "prepared-statements")
	for _, text := range []string{original, copied(original)} {
		token, _ := newCandidate(t, b.testBundle, by, a)
		v, link := b.visitor(t), "/en/a/"+token
		v.post(t, link+"/start", nil)
		r := v.post(t, link+"/exercises/core/charge-once/submissions", url.Values{views.BaseField: {"0"}, views.FieldOf("handler.go"): {text}})
		_, id, ok := strings.Cut(r.header.Get("Location"), "/submissions/")
		if !ok {
			t.Fatalf("status %d: %s", r.status, r.body)
		}
		b.grader.verdicts <- failedVerdict(t)
		b.graded(t, v, link+"/submissions/"+id)
	}
}

// assignmentSamples makes what stands for the changing parts of the addresses of
// interviewers and candidates, and signs the tab in as an owner.
func (b *browserBundle) assignmentSamples(t *testing.T) *strings.Replacer {
	t.Helper()
	by := newOwner(t, b.testBundle)
	b.signInAs(t, "ada")
	a := newAssignment(t, b.testBundle, by, store.Assignment{
		Exercises: []string{"core/charge-once", "core/check-then-insert"}, Limit: time.Hour, WarmUp: "core/state-not-increment", AllPhases: true, Hints: true,
	})
	token, _ := newCandidate(t, b.testBundle, by, a)
	v := b.visitor(t)
	link := "/en/a/" + token
	if r := v.post(t, link+"/start", nil); r.status != http.StatusSeeOther {
		t.Fatalf("status %d", r.status)
	}
	for _, after := range []time.Duration{0, time.Minute} { // the site was down in between
		if err := b.srv.store.Beat(t.Context(), b.srv.cfg.Now().Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	e, ok := b.srv.catalog.Exercise("core/charge-once")
	if !ok {
		t.Fatal("core/charge-once is not there")
	}
	sent := url.Values{views.BaseField: {"0"}}
	for _, f := range e.Starter {
		sent.Set(views.FieldOf(f.Name), string(f.Content))
	}
	r := v.post(t, link+"/exercises/core/charge-once/submissions", sent)
	_, id, ok := strings.Cut(r.header.Get("Location"), "/submissions/")
	if !ok {
		t.Fatalf("status %d: %s", r.status, r.body)
	}
	b.grader.verdicts <- failedVerdict(t)
	b.graded(t, v, link+"/submissions/"+id)
	b.twoAlike(t, by, a)
	report := "/assign/1/candidates/1"
	invitation, _, err := b.srv.auth.Invite(t.Context(), by, store.Interviewer, "")
	if err != nil {
		t.Fatal(err)
	}
	hook, err := b.st.AddWebhook(t.Context(), by, store.Webhook{URL: "https://hooks.example/" + strings.Repeat("long", 50), Secret: "whsec_x"}, b.srv.cfg.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.queue.SendTest(t.Context(), by, hook); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(
		"/people/webhooks/:id/deliveries/:did", fmt.Sprintf("/people/webhooks/%d/deliveries/1", hook), "/people/webhooks/:id", fmt.Sprintf("/people/webhooks/%d", hook),
		"/assign/:aid/candidates/:cid/submissions/:id", report+"/submissions/"+id,
		"/assign/:aid/candidates/:cid/exercises/:pack/:slug", report+"/exercises/core/charge-once",
		"/assign/:aid/candidates/:cid", report, "/assign/:id/compare", "/assign/1/compare?a=2&b=3", "/assign/:id", "/assign/1",
		"/a/:token/submissions/:id", "/a/"+token+"/submissions/"+id,
		"/a/:token/exercises/:pack/:slug", "/a/"+token+"/exercises/core/charge-once", "/a/:token", "/a/"+token,
		"/people/:id", "/people/"+newPersonIn(t, b.testBundle), "/invitations/:token", "/invitations/"+invitation,
	)
}
