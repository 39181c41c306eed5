package web

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"redeliver/exercises"
	"redeliver/web/jobs"
)

// browserBundle is a tab of a real browser on a running server with the
// built-in exercises.
type browserBundle struct {
	*testBundle
	ctx context.Context
	axe string
}

// Tests with a browser run one after another: two browsers on a small machine
// make each other wait for seconds.
//
// setupBrowser skips without Chromium or axe-core, so that `go test` works on a
// bare machine; a full check has both. With -short it skips as well: under the race
// detector these tests take as long as all others together, and what browsers ask for
// the others ask for, too.
func setupBrowser(t *testing.T) *browserBundle {
	t.Helper()
	return setupBrowserWith(t, Config{})
}

func setupBrowserWith(t *testing.T, cfg Config) *browserBundle {
	t.Helper()
	if testing.Short() {
		t.Skip("tests with a browser are left out with -short")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not on PATH")
	}
	axe, err := os.ReadFile("../static/src/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("axe-core is not installed; static/src/build.sh does that")
	}
	b := setup(t, cfg, exercises.Open(exercises.Builtin(), nil))
	b.start(t)
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // against hanging, not slowness
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	bundle := &browserBundle{testBundle: b, ctx: ctx, axe: string(axe)}
	// A page without the focus gets neither keys nor the clipboard, and which page
	// has it is the window system's choice.
	bundle.do(t, scheme("light"), command(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	return bundle
}

func (b *browserBundle) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

func run[T any](t *testing.T, b *browserBundle, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// command sends one DevTools command whose answer does not matter.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// scheme also asks for reduced motion: a page that still scrolls smoothly lets
// the mouse go down on a link and up beside it.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: name},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
}

func width(pixels int64) chromedp.Action[chromedp.Void] {
	return command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: pixels, Height: 900, DeviceScaleFactor: 1,
	})
}

// inspect looks at the page as it is, in both schemes and at two widths: axe
// finds nothing, nothing hangs out sideways. It leaves a picture of each in the
// test's artifacts.
func (b *browserBundle) inspect(t *testing.T, name string) {
	t.Helper()
	for _, look := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"narrow-light", "light", 360}, {"narrow-dark", "dark", 360}} {
		b.do(t, scheme(look.scheme), width(look.width))
		b.accessible(t, name+" "+look.name)
		if over := run(t, b, chromedp.Evaluate[int]("document.documentElement.scrollWidth - document.documentElement.clientWidth")); over > 0 {
			t.Errorf("%s %s: the page is %d pixels too wide", name, look.name, over)
		}
		if cut := run(t, b, chromedp.Evaluate[int](`[...document.querySelectorAll(".scroll:has(> .stacked)")].filter(e => e.scrollWidth > e.clientWidth).length`)); cut > 0 {
			t.Errorf("%s %s: %d tables have to be scrolled sideways to be read", name, look.name, cut)
		}
		shot := run(t, b, chromedp.FullScreenshot(100))
		if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+"-"+look.name+".png"), shot, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.do(t, width(1280))
	b.settle(t)
}

// settle waits until what was asked of the page is on the screen: two frames,
// the first of which may have begun before.
func (b *browserBundle) settle(t *testing.T) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void](
		`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))`, chromedp.EvalAwaitPromise))
}

// poll asks the page until the condition holds. The clock asks, not the next frame,
// of which a busy browser may draw none for long.
func (b *browserBundle) poll(condition string) error {
	_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](condition, chromedp.WithPollingInterval(50*time.Millisecond)))
	return err
}

// accessible runs axe-core. DevTools may evaluate it in spite of the policy of
// the page, which therefore needs no exception for tests.
func (b *browserBundle) accessible(t *testing.T, where string) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void](b.axe))
	type result struct{ ID, Impact, HTML, Summary string }
	raw := run(t, b, chromedp.Evaluate[json.RawMessage](`axe.run().then(r => r.violations.flatMap(v => v.nodes.map(n =>
		({id: v.id, impact: v.impact, html: n.html, summary: n.failureSummary}))))`, chromedp.EvalAwaitPromise))
	var found []result
	if err := json.Unmarshal(raw, &found); err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Errorf("%s: axe: %s (%s): %s\n%s", where, f.ID, f.Impact, f.HTML, f.Summary)
	}
}

const collectViolations = `window.violations = []; document.addEventListener("securitypolicyviolation",
	e => violations.push(e.effectiveDirective + " " + e.blockedURI + " " + e.sourceFile))`

// collectShifts lists what moved without a click, by the measure of the Layout
// Instability API. What moves while the page itself still arrives is left out: a
// busy browser paints the half of a table that it has.
const collectShifts = `window.shifted = []; new PerformanceObserver(l => l.getEntries().forEach(e => {
	const arrived = performance.getEntriesByType("navigation")[0].domInteractive;
	if (arrived === 0 || e.startTime < arrived) return;
	e.sources.forEach(s => shifted.push((s.node?.outerHTML ?? "").slice(0, 60) + " " + JSON.stringify(s.previousRect) + " → " + JSON.stringify(s.currentRect)));
})).observe({type: "layout-shift"})`

// obeys fails when the browser has blocked anything on the page.
func (b *browserBundle) obeys(t *testing.T) {
	t.Helper()
	if got := run(t, b, chromedp.Evaluate[[]string]("violations")); len(got) > 0 {
		t.Errorf("policy violations: %q", got)
	}
}

const wrongCode = "package handler // typed in the browser\n"

func TestBrowser(t *testing.T) {
	b := setupBrowser(t)
	b.do(t,
		command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collectViolations}),
		chromedp.Navigate(b.ts.URL+"/"),
		chromedp.WaitVisible(chromedp.CSS("a.button")),
	)
	b.inspect(t, "home")
	b.obeys(t)

	b.do(t, chromedp.Click(chromedp.CSS("a.button")), chromedp.WaitVisible(chromedp.CSS(".code")))
	b.inspect(t, "exercise")
	b.obeys(t)

	b.do(t,
		chromedp.Evaluate[chromedp.Void](`document.querySelector(".code").shadowRoot.querySelector(".cm-content").focus()`),
		chromedp.KeyEvent(wrongCode),
		chromedp.Click(chromedp.CSS("main form button:not(.second)")),
		chromedp.WaitVisible(chromedp.CSS("section.progress")),
		chromedp.Evaluate[chromedp.Void]("window.sameDocument = true"),
	)
	b.grader.say("happy-path", "redelivery")
	b.do(t, chromedp.WaitVisible(chromedp.CSS(".phases .done:nth-child(2)")))
	b.inspect(t, "running")

	b.do(t, chromedp.Evaluate[chromedp.Void](collectShifts))
	first := failedVerdict(t).Findings[0]
	b.grader.progress <- jobs.Progress{Stage: "explore", Finding: &first}
	b.do(t, chromedp.WaitVisible(chromedp.CSS("#result .first .tl")))
	b.grader.say("crash-points")
	b.do(t, chromedp.WaitVisible(chromedp.CSS(".phases .done:nth-child(4)")))
	if moved := run(t, b, chromedp.Evaluate[[]string]("shifted")); len(moved) > 0 {
		t.Errorf("something moved when the first finding came: %q", moved)
	}
	b.inspect(t, "first-finding")

	b.ts.CloseClientConnections() // the browser connects again and repeats nothing
	b.grader.say("producer-duplicate")
	b.do(t, chromedp.WaitVisible(chromedp.CSS(".phases .done:nth-child(3)")))
	if n := run(t, b, chromedp.Evaluate[int](`document.querySelectorAll(".phases .done").length`)); n != 4 {
		t.Errorf("%d phases on the page", n)
	}

	b.do(t, chromedp.Evaluate[chromedp.Void](shifts))
	b.settle(t)
	b.do(t, chromedp.Evaluate[chromedp.Void](`shiftSum = 0; shifted = []`)) // that of other widths
	b.grader.verdicts <- failedVerdict(t)
	b.do(t, chromedp.WaitVisible(chromedp.CSS(".verdict.is-failed")))
	b.still(t, "the verdict came")
	if !run(t, b, chromedp.Evaluate[bool]("window.sameDocument === true")) {
		t.Error("the page was loaded anew to show the verdict")
	}
	if text := run(t, b, chromedp.Text(chromedp.CSS("#status"))); !strings.HasPrefix(text, "Graded: Failed. ") {
		t.Errorf("the status says %q", text)
	}
	if source := run(t, b, chromedp.Text(chromedp.CSS(".source #f0-L1"))); !strings.Contains(source, "typed in the browser") {
		t.Errorf("the first line of the source is %q", source)
	}
	b.inspect(t, "failed")
	b.obeys(t)
	if kept := run(t, b, chromedp.Evaluate[string]("JSON.stringify([{...localStorage}, {...sessionStorage}])")); strings.Contains(kept, "typed in") {
		t.Errorf("the code was left in the storage of the browser: %s", kept)
	}

	// A form that started from an old version, as another tab would send it.
	b.do(t,
		chromedp.Click(chromedp.CSS(`main a[href="`+exercisePage+`"]`)),
		chromedp.WaitVisible(chromedp.CSS(".code")),
		chromedp.Evaluate[chromedp.Void](`document.querySelector("[name=base]").value = 0; document.querySelector("textarea").value += "// other tab"`),
		chromedp.Click(chromedp.CSS(`main button[formaction$="/drafts"]`)),
		chromedp.WaitVisible(chromedp.CSS("textarea.other")),
	)
	b.inspect(t, "conflict")
	b.obeys(t)
	b.do(t, chromedp.Navigate(b.ts.URL+"/en/nothing"), chromedp.WaitVisible(chromedp.CSS("h1")))
	b.inspect(t, "problem")
	b.obeys(t)

	// The collector of violations works.
	b.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("main").setAttribute("style", "color: red")`))
	if err := b.poll("violations.length > 0"); err != nil {
		t.Errorf("an inline style was not reported: %v", err)
	}
}

func TestBrowserWithoutScript(t *testing.T) {
	b := setupBrowser(t)
	b.do(t,
		command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}),
		chromedp.Navigate(b.ts.URL+exercisePage),
		chromedp.Click(chromedp.CSS("main form button:not(.second)")),
		chromedp.WaitVisible(chromedp.CSS("section.progress")),
	)
	b.grader.say("happy-path")
	b.do(t, chromedp.WaitVisible(chromedp.CSS(".phases .done"))) // after the page has reloaded itself
	b.grader.verdicts <- failedVerdict(t)
	b.do(t, chromedp.WaitVisible(chromedp.CSS(".verdict.is-failed")))
}
