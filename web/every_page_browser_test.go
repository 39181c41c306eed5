package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/labstack/echo/v4"

	"redeliver/web/views"
)

// look is a colour scheme and a width in pixels.
type look struct {
	scheme string
	width  int64
}

// TestBrowserEveryPage looks at every page that has an address, in every language,
// in both schemes and at both widths, each pair of them once: axe finds nothing, nothing hangs out sideways,
// nothing breaks the policy, and nothing moves while it loads. What a page becomes when
// somebody does something there is looked at in the tests of that page.
func TestBrowserEveryPage(t *testing.T) {
	b := setupBrowser(t)
	b.do(t, command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collectViolations + ";" + shifts}))
	v := b.story(t)
	b.submitStarter(t, v)
	submission := run(t, b, chromedp.Evaluate[string]("location.pathname"))
	samples := b.assignmentSamples(t)
	for _, path := range b.addresses(t, strings.TrimPrefix(submission, "/en"), v.Findings[0].Schedule, samples) {
		for lang, looks := range map[string][]look{"en": {{"light", 1280}, {"dark", 360}}, "ru": {{"dark", 1280}}, "de": {{"light", 360}}} {
			b.do(t, width(looks[0].width), chromedp.Navigate(b.ts.URL+"/"+lang+path), chromedp.WaitVisible(chromedp.CSS("h1")))
			b.still(t, lang+path)
			for _, l := range looks {
				where := lang + path + " " + l.scheme
				b.do(t, scheme(l.scheme), width(l.width))
				b.accessible(t, where)
				if over := run(t, b, chromedp.Evaluate[int]("document.documentElement.scrollWidth - document.documentElement.clientWidth")); over > 0 {
					t.Errorf("%s: the page is %d pixels too wide at %d", where, over, l.width)
				}
				if grew := run(t, b, chromedp.Evaluate[int](countdownGrows, chromedp.EvalAwaitPromise)); grew != 0 {
					t.Errorf("%s: at %d the bar of the sitting changes by %d pixels when the countdown begins", where, l.width, grew)
				}
			}
			b.obeys(t)
		}
	}
}

// countdownGrows is by how much the bar of a sitting changes its height when the script
// begins to count. A quick browser has not painted the page before that, so that
// nothing is seen to move.
const countdownGrows = `(async () => {
	const bar = document.querySelector(".sitting"), timer = bar?.querySelector("[role=timer]");
	if (!timer) return 0;
	const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
	const counting = timer.textContent, height = bar.offsetHeight;
	timer.textContent = page.querySelector(".sitting [role=timer]").textContent;
	const grew = height - bar.offsetHeight;
	timer.textContent = counting;
	return grew;
})()`

// addresses are those of the pages, without the language: what the index of the site
// lists, with what stands for the changing parts, and pages of errors.
func (b *browserBundle) addresses(t *testing.T, submission, token string, samples *strings.Replacer) []string {
	t.Helper()
	parts := strings.NewReplacer(
		"/questions/:slug", "/questions/"+b.srv.bank.All()[0].Slug, "/labs/:slug", "/labs/lost-ack",
		":pack/:slug", "core/check-then-insert", "/submissions/:id", submission, "/runs/:token", "/runs/"+token)
	// A search that finds nothing, an old run, a lab that is not there.
	out := []string{"/search?q=commit", "/search?q=xylophon", "/questions?topic=none", "/runs/rd1.x", "/labs/none", "/exercises/core/charge-once"}
	router, ok := b.srv.handler.(*echo.Echo)
	if !ok {
		t.Fatal("the handler has no list of routes")
	}
	staff := b.visitor(t)
	staff.post(t, "/en/sign-in", url.Values{views.LoginField: {"ada"}, views.PasswordField: {testPassword}})
	for _, r := range router.Routes() {
		path, ofSite := strings.CutPrefix(r.Path, "/:lang")
		// Files and streams are no pages; a run to watch leads to the page of a run.
		if !ofSite || path == "" || r.Method != "GET" || strings.Contains(path, "card.png") || strings.HasSuffix(path, ".json") || strings.HasSuffix(path, ".csv") || strings.HasSuffix(path, "/oidc") || strings.Contains(path, "events") || strings.Contains(path, "/watch") {
			continue
		}
		if path = parts.Replace(samples.Replace(path)); strings.Contains(path, ":") {
			t.Errorf("%s: nothing stands for its changing part, so the page is not looked at", r.Path)
			continue
		}
		a := staff.do(t, "HEAD", "/en"+path, nil, nil)
		if a.status == http.StatusSeeOther && strings.Contains(path, "/a") { // the address of a form leads to its page
			continue
		}
		if a.status == http.StatusOK && !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
			continue // a file to keep
		}
		out = append(out, path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
