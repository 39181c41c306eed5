package web

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
	"redeliver/web/jobs"
)

// story is a verdict whose first finding can be run again here, and has a twin.
func (b *testBundle) story(t *testing.T) verdict.Verdict {
	t.Helper()
	e, ok := b.srv.catalog.Exercise("core/charge-once")
	if !ok {
		t.Fatal("core/charge-once is not installed")
	}
	v := failedVerdict(t)
	f := &v.Findings[0]
	f.Schedule = tokenFor(e, starterOf(e)).String()
	f.PassingTwin = tokenFor(e, starterOf(e), func(t *schedule.Token) { t.Schedule.Deviations = nil }).String()
	b.grader.replay = func(_ context.Context, r jobs.Request) (verdict.Verdict, error) {
		if r.Replay == f.PassingTwin {
			passed := verdictOf(verdict.Passed)
			passed.Replay = &verdict.Replay{Schedule: r.Replay, Trace: f.Trace[:6]}
			return passed, nil
		}
		again := v
		again.Replay = &verdict.Replay{Schedule: r.Replay, Trace: f.Trace}
		return again, nil
	}
	return v
}

// submitStarter hands the starter in and waits for its verdict.
func (b *browserBundle) submitStarter(t *testing.T, v verdict.Verdict) {
	t.Helper()
	b.do(t,
		chromedp.Navigate(b.ts.URL+exercisePage),
		chromedp.Click(chromedp.CSS("main form button:not(.second)")),
		chromedp.WaitVisible(chromedp.CSS("section.progress")),
	)
	b.grader.verdicts <- v
	b.do(t, chromedp.WaitVisible(chromedp.CSS(".verdict.is-failed")))
}

// focused is the number of the step that has the focus, or the text of a fold.
const focused = `(document.activeElement.querySelector(".tl-number") ?? document.activeElement).textContent.trim()`

func TestBrowserTimeline(t *testing.T) {
	b := setupBrowser(t)
	b.do(t, command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collectViolations}))
	v := b.story(t)
	token := v.Findings[0].Schedule
	b.submitStarter(t, v)

	b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector(".tl").focus()`))
	for _, press := range []struct{ key, want string }{
		{"j", "2 steps of A"},
		{"j", "3"},
		{"j", "4"},
		{"k", "3"},
		{"f", "7"},
		{"f", "7"},
		{kb.End, "15"},
		{"j", "15"},
		{kb.Home, "2 steps of A"},
		{kb.Enter, "2 steps of A"},
		{"j", "1"},
		{"j", "2"},
		{"j", "3"}, // Enter has opened the fold
	} {
		b.do(t, chromedp.KeyEvent(press.key))
		if got := run(t, b, chromedp.Evaluate[string](focused)); got != press.want {
			t.Fatalf("%q leads to %q, want %q", press.key, got, press.want)
		}
	}
	b.do(t, chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), chromedp.KeyEvent("j"))
	if run(t, b, chromedp.Evaluate[bool](`document.activeElement !== document.body`)) {
		t.Error("a key outside the timeline moves the focus")
	}

	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		b.do(t, command(browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: "granted",
		}))
	}
	for i, want := range []string{v.Summary + "\n\n", "sequenceDiagram\n", "{\n  \"lanes\": [", b.ts.URL + "/en/runs/" + token} {
		b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("[data-copied]").textContent = ""; document.querySelectorAll("[data-copy]")[`+string(rune('0'+i))+`].click()`))
		err := b.poll(`document.querySelector("[data-copied]")?.textContent === "Copied." || document.querySelector("[data-copied]") === null`)
		if err != nil || run(t, b, chromedp.Evaluate[bool](`document.querySelector("[data-copied]") === null`)) {
			t.Fatalf("the clipboard refused file %d, or its page came instead: %v", i, err)
		}
		got := run(t, b, chromedp.Evaluate[string](`navigator.clipboard.readText()`, chromedp.EvalAwaitPromise))
		if !strings.HasPrefix(strings.ReplaceAll(got, "\r\n", "\n"), want) {
			t.Errorf("copied %.80q, want %.80q", got, want)
		}
	}

	b.do(t, chromedp.Click(chromedp.CSS("a[data-twin]")), chromedp.WaitVisible(chromedp.CSS(".tl-twin .tl")))
	if !run(t, b, chromedp.Evaluate[bool](`document.activeElement.matches(".tl-twin .tl")`)) {
		t.Error("the twin did not take the focus")
	}
	b.inspect(t, "twin")
	b.obeys(t)

	b.do(t, chromedp.Navigate(b.ts.URL+"/en/runs/"+token), chromedp.WaitVisible(chromedp.CSS(".run .tl")))
	b.inspect(t, "run")
	b.obeys(t)
	b.do(t, chromedp.Navigate(b.ts.URL+"/en/runs/rd1.x"), chromedp.WaitVisible(chromedp.CSS("h1")))
	b.inspect(t, "run-malformed")
}

func TestBrowserTimelineWithoutScript(t *testing.T) {
	b := setupBrowser(t)
	b.do(t, command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	b.submitStarter(t, b.story(t))
	b.do(t,
		chromedp.Click(chromedp.CSS(".tl-fold summary")), chromedp.WaitVisible(chromedp.CSS(".tl-fold .tl-row")),
		chromedp.Click(chromedp.CSS(".tl-frame > details summary")), chromedp.WaitVisible(chromedp.CSS(".timeline tbody tr")),
		chromedp.Click(chromedp.CSS("a[data-twin]")), chromedp.WaitVisible(chromedp.CSS(".run .verdict.is-passed")),
	)
	if text := run(t, b, chromedp.Text(chromedp.CSS(".tl-files"))); !strings.HasPrefix(strings.TrimSpace(text), "As text") {
		t.Errorf("without script the links say %q", text)
	}
	b.do(t, chromedp.Click(chromedp.CSS(".tl-files a")), chromedp.WaitVisible(chromedp.CSS("pre")))
	if text := run(t, b, chromedp.Text(chromedp.CSS("pre"))); !strings.HasPrefix(text, "This is the sentence of the verdict.") {
		t.Errorf("the file begins with %.80q", text)
	}
}
