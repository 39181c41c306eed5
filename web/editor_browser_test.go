package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdpnet "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"redeliver/web/jobs"
	"redeliver/web/store"
)

// editorPage has two files.
const editorPage = "/en/exercises/core/check-then-insert"

const focusEditor = `document.querySelector(".file .code").shadowRoot.querySelector(".cm-content").focus()`

const below = `document.querySelector("form[data-drafts] .buttons").getBoundingClientRect().top + scrollY`

// shifts is the sum of what moved without a click, by the measure of the Layout
// Instability API, from the beginning of the page.
const shifts = `window.shiftSum = 0; window.shifted = []; new PerformanceObserver(l => l.getEntries().forEach(e => {
	if (e.hadRecentInput) return;
	shiftSum += e.value; e.sources.forEach(s => shifted.push((s.node?.outerHTML ?? "").slice(0, 60)));
})).observe({type: "layout-shift", buffered: true})`

// still fails when too much of the page has moved by itself.
func (b *browserBundle) still(t *testing.T, when string) {
	t.Helper()
	b.settle(t)
	if sum := run(t, b, chromedp.Evaluate[float64]("shiftSum")); sum >= 0.02 {
		t.Errorf("%s: layout shift %.4f of %q", when, sum, run(t, b, chromedp.Evaluate[[]string]("shifted")))
	}
}

// connect cuts the browser off, or connects it again.
func (b *browserBundle) connect(t *testing.T, on bool) {
	t.Helper()
	rules := []*cdpnet.Conditions{}
	if !on {
		rules = append(rules, &cdpnet.Conditions{Offline: true})
	}
	b.do(t,
		command(cdpnet.EmulateNetworkConditionsByRule, cdpnet.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: rules}),
		command(cdpnet.OverrideNetworkState, cdpnet.OverrideNetworkStateParams{Offline: !on}))
}

// browser is as whom the server knows this browser.
func (b *browserBundle) browser(t *testing.T) store.Browser {
	t.Helper()
	var found store.Browser
	b.do(t, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		got, err := chromedp.Call(ctx, cdpnet.GetCookies, cdpnet.GetCookiesParams{})
		for _, c := range got.Cookies {
			if c.Name == b.srv.cookieName() {
				found = store.BrowserOf(c.Value)
			}
		}
		return err
	}))
	return found
}

func saysOf(selector, text string) string {
	return `document.querySelector("` + selector + `")?.textContent.includes("` + text + `")`
}

func TestBrowserEditor(t *testing.T) {
	b := setupBrowser(t)
	says := func(selector, text string) {
		t.Helper()
		if err := b.poll(saysOf(selector, text)); err != nil {
			t.Fatalf("%s does not say %q: %v", selector, text, err)
		}
	}
	open := func(path string) {
		t.Helper()
		b.do(t, chromedp.Navigate(b.ts.URL+path), chromedp.WaitVisible(chromedp.CSS(".code")))
	}
	typed := func(text string) {
		t.Helper()
		b.do(t, chromedp.Evaluate[chromedp.Void](focusEditor), chromedp.KeyEvent(text))
	}
	newest := func(version int64, text string) {
		t.Helper()
		var all string
		d, err := b.st.NewestDraft(t.Context(), b.browser(t), "core/check-then-insert")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Files {
			all += string(f.Content)
		}
		if d.Version != version || !strings.Contains(all, text) {
			t.Errorf("version %d is %q, want version %d with %q", d.Version, all, version, text)
		}
	}
	b.do(t, command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collectViolations + ";" + shifts}))

	for _, w := range []int64{1280, 360} {
		b.do(t, width(w))
		open(editorPage)
		b.still(t, "the editor came")
		// A script that is there before the first frame shifts nothing, whatever it
		// does. So what stands below the editor is also looked for without it.
		with := run(t, b, chromedp.Evaluate[float64](below))
		noScript := func(off bool) {
			b.do(t, command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off}))
		}
		noScript(true)
		b.do(t, chromedp.Navigate(b.ts.URL+editorPage), chromedp.WaitVisible(chromedp.CSS("textarea")))
		without := run(t, b, chromedp.Evaluate[float64](below))
		noScript(false)
		if with != without {
			t.Errorf("at %d the buttons below the editor stand at %g, without script at %g", w, with, without)
		}
	}
	b.do(t, width(1280))
	open(editorPage)

	// Typing saves, without a click, and the page says so.
	typed("// one\n")
	says("#draft-state", "Draft version 1, saved")
	newest(1, "// one")
	b.still(t, "a draft was saved")

	// Esc, then Tab leaves the editor; Tab alone does not.
	inEditor := `document.activeElement.matches(".code")`
	b.do(t, chromedp.Evaluate[chromedp.Void](focusEditor), chromedp.KeyEvent(kb.Tab))
	if !run(t, b, chromedp.Evaluate[bool](inEditor)) {
		t.Error("Tab leaves the editor")
	}
	b.do(t, chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Tab))
	if run(t, b, chromedp.Evaluate[bool](inEditor)) {
		t.Error("Esc and Tab do not leave the editor")
	}

	// Ctrl+S saves at once.
	typed("// by hand\n")
	b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector(".code").shadowRoot.querySelector(".cm-content")
		.dispatchEvent(new KeyboardEvent("keydown", {key: "s", code: "KeyS", ctrlKey: true, bubbles: true, cancelable: true}))`))
	says("#draft-news", "The draft is saved.")
	newest(2, "// by hand")

	// A check brings what the compiler says to the gutter; nothing is loaded anew.
	go func() { b.grader.verdicts <- refused() }()
	b.do(t, chromedp.Evaluate[chromedp.Void](`window.samePage = true`), chromedp.Click(chromedp.CSS("button[data-check]")))
	says("#draft-news", "2 problems: this cannot be graded. handler.go:2:3 undefined: <b>")
	marks := func(n int) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".code")].reduce((n, c) => n + c.shadowRoot.querySelectorAll(".cm-lint-marker-error").length, 0) === %d && window.samePage`, n)
	}
	if err := b.poll(marks(2)); err != nil {
		t.Errorf("there are not two marks: %v", err)
	}
	b.inspect(t, "editor-checked")
	go func() { b.grader.progress <- jobs.Progress{Stage: jobs.StageExplore} }()
	b.do(t, chromedp.Click(chromedp.CSS("button[data-check]")))
	says("#draft-news", "It compiles.")
	if err := b.poll(marks(0)); err != nil {
		t.Errorf("there are still marks: %v", err)
	}
	b.still(t, "the text was checked")

	// The other file is one tab away, and needs no script.
	b.do(t, chromedp.Click(chromedp.CSS("label.tab:not(:first-of-type)")), chromedp.WaitVisible(chromedp.CSS("#file-1 + .code")))
	if run(t, b, chromedp.Evaluate[bool](`document.querySelector("#file-0 + .code").checkVisibility()`)) {
		t.Error("both files are shown")
	}
	b.do(t, chromedp.Click(chromedp.CSS("label.tab:first-of-type")), chromedp.WaitVisible(chromedp.CSS("#file-0 + .code")))

	// Without a connection the text stays in the tab, through a reload, too.
	b.connect(t, false)
	typed("// offline\n")
	says("#draft-news", "there is no connection")
	newest(2, "// by hand")
	b.inspect(t, "editor-offline")
	b.connect(t, true)
	says("#draft-news", "The server has the text now.")
	newest(3, "// offline")
	if kept := run(t, b, chromedp.Evaluate[int]("sessionStorage.length")); kept != 0 {
		t.Errorf("%d texts were left in the storage of the tab", kept)
	}

	// What could not be saved when the page went comes back with it.
	b.do(t, chromedp.Evaluate[chromedp.Void](`sessionStorage.setItem("redeliver draft core/check-then-insert", JSON.stringify({
		base: document.querySelector("[name=base]").value, sending: null,
		text: JSON.stringify([...document.querySelectorAll("textarea[name]")].map((f) => [f.name, "// left behind\n" + f.value]))}))`))
	open(editorPage)
	says("#draft-state", "Draft version 4, saved")
	newest(4, "// left behind")

	// Another tab saves; this one is told, and both texts can be seen.
	b.do(t, chromedp.Evaluate[chromedp.Void](`fetch(document.querySelector("form[data-drafts]").dataset.drafts, {method: "POST",
		body: (() => { const f = new URLSearchParams(new FormData(document.querySelector("form[data-drafts]"))); f.set("file.handler.go", "// other tab\n"); return f })()})
		.then(() => {})`, chromedp.EvalAwaitPromise))
	typed("// this tab\n")
	says("#draft-news", "Another tab has saved version 5")
	newest(5, "// other tab")
	b.do(t, chromedp.Click(chromedp.CSS("button[formaction$='/drafts']")), chromedp.WaitVisible(chromedp.CSS("textarea.other")))
	if text := run(t, b, chromedp.Evaluate[string](`document.querySelector("#file-0").value`)); !strings.Contains(text, "// this tab") {
		t.Errorf("the form holds %q", text)
	}
	b.do(t, chromedp.Click(chromedp.CSS("button[formaction$='/drafts']")), chromedp.WaitVisible(chromedp.CSS(".notice")))
	newest(6, "// this tab")

	// The starter comes back, and the history has the rest.
	b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector(".notice").remove()`), // that of the page before
		chromedp.Click(chromedp.CSS("button[formaction$='/reset']")), chromedp.WaitVisible(chromedp.CSS(".notice")))
	b.do(t, chromedp.Click(chromedp.CSS(".keys summary")))
	b.inspect(t, "editor-reset")
	b.do(t, chromedp.Navigate(b.ts.URL+editorPage+"/history?from=v1&to=v6"), chromedp.WaitVisible(chromedp.CSS(".diff")))
	b.inspect(t, "history")
	b.obeys(t)
}

func TestBrowserEditorWithoutScript(t *testing.T) {
	b := setupBrowser(t)
	b.do(t,
		command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}),
		chromedp.Navigate(b.ts.URL+editorPage),
		chromedp.Click(chromedp.CSS("label.tab:not(:first-of-type)")), chromedp.WaitVisible(chromedp.CSS("#file-1")),
		chromedp.SendKeys(chromedp.CSS("#file-1"), "-- typed\n"),
		chromedp.Click(chromedp.CSS("button[formaction$='/drafts']")), chromedp.WaitVisible(chromedp.CSS(".notice")),
		chromedp.Click(chromedp.CSS("a[href$='/history']")), chromedp.WaitVisible(chromedp.CSS(".diff .added")),
	)
}
