package web

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// press presses a button of a lab and waits for what it says.
func (b *browserBundle) press(t *testing.T, action, then string) {
	t.Helper()
	b.do(t,
		chromedp.Evaluate[chromedp.Void](`document.querySelector("#stage").dataset.old = "1"`),
		chromedp.Click(chromedp.CSS("#do-"+action)),
		chromedp.WaitVisible(chromedp.CSS("#stage:not([data-old]) "+then)),
	)
}

func TestBrowserLabs(t *testing.T) {
	b := setupBrowser(t)
	b.do(t, command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collectViolations + ";" + collectShifts}))
	for _, tc := range []struct{ lang, without, with string }{
		{"en", "€353.00", "€402.00"}, {"ru", "353,00\u00a0€", "402,00\u00a0€"}, {"de", "353,00\u00a0€", "402,00\u00a0€"},
	} {
		b.do(t, chromedp.Navigate(b.ts.URL+"/"+tc.lang+"/labs/lost-ack"), chromedp.WaitVisible(chromedp.CSS("#stage form")))
		b.settle(t)
		if moved := run(t, b, chromedp.Evaluate[[]string]("shifted")); len(moved) > 0 {
			t.Errorf("%s: something moved by itself: %q", tc.lang, moved)
		}
		if tc.lang == "en" {
			b.press(t, "start", ".account")
		} else { // the lab is the visitor's in every language
			b.do(t, chromedp.Click(chromedp.CSS("#set-idempotence-off")))
			b.press(t, "restart", ".account")
		}
		b.press(t, "buy", ".log tbody tr")
		b.press(t, "buy-lost", ".log .is-copy")
		if got := run(t, b, chromedp.Text(chromedp.CSS(".balance"))); got != tc.without {
			t.Errorf("%s: without protection the balance is %q", tc.lang, got)
		}
		b.inspect(t, "lab-lost-ack-"+tc.lang)
		b.do(t, chromedp.Click(chromedp.CSS("#set-idempotence-on")))
		b.press(t, "restart", ".account")
		b.press(t, "buy", ".log tbody tr")
		b.press(t, "buy-lost", ".log tbody tr:nth-child(2)")
		if got := run(t, b, chromedp.Text(chromedp.CSS(".balance"))); got != tc.with {
			t.Errorf("%s: with an idempotent producer the balance is %q", tc.lang, got)
		}
		// htmx puts the focus back a moment after the stage has come.
		if err := b.poll(`document.activeElement.id === "do-buy-lost"`); err != nil {
			t.Errorf("%s: the focus is lost: %v; it is on %s", tc.lang, err, run(t, b, chromedp.Evaluate[string](`document.activeElement.outerHTML.slice(0, 200)`)))
		}
		b.obeys(t)
	}

	// Who clicks as soon as the new stage is there meets htmx's form, not the plain one.
	b.do(t, chromedp.Evaluate[chromedp.Void](`window.sameDocument = true;
		document.addEventListener("htmx:afterSwap", () => setTimeout(() => document.querySelector("#do-buy-lost").click()), {once: true})`))
	b.press(t, "buy", ".log tbody tr:nth-child(4)")
	if !run(t, b, chromedp.Evaluate[bool]("window.sameDocument === true")) {
		t.Error("a quick click has loaded the whole page")
	}

	b.do(t, chromedp.Navigate(b.ts.URL+"/en/labs"), chromedp.WaitVisible(chromedp.CSS(".labs")))
	b.inspect(t, "labs")
	b.play(t, "pid-and-sequence", [][2]string{{"start", ".log"}, {"send", ".log tbody th"}, {"deliver", ".log"}, {"send", ".log"}, {"lose", ".log"}})
	// PID and sequence on the page are those in the log.
	shown := run(t, b, chromedp.Evaluate[string](`document.querySelector(".log tbody tr:last-child").innerText`))
	pid := run(t, b, chromedp.Evaluate[string](`document.querySelector(".stage-view > :nth-child(2) .pid").innerText`))
	if fields := strings.Fields(shown); len(fields) != 5 || fields[2] != pid || fields[4] != "1" {
		t.Errorf("the log says %q, the producer %q", shown, pid)
	}
	b.play(t, "crash-before-commit", [][2]string{{"start", ".log"}, {"run", ".runs"}})
	b.play(t, "transactions", [][2]string{{"start", ".log"}, {"copy", ".is-open"}, {"commit", ".is-committed"}, {"copy", ".is-open"}, {"abort", ".is-aborted"}})
	b.play(t, "two-instances", [][2]string{{"start", ".log"}, {"step-a", ".log"}, {"step-a", ".log"}, {"rebalance", ".log"}, {"step-b", ".log"}})

	// Another tab changes the lab, and this page follows.
	b.do(t, chromedp.WaitVisible(chromedp.CSS(".instance")),
		chromedp.Evaluate[chromedp.Void](`document.querySelector("#stage").dataset.old = "1"`),
		chromedp.Evaluate[chromedp.Void](`fetch("/en/labs/two-instances", {method: "POST", body: new URLSearchParams({action: "step-b"})}).then(() => {})`, chromedp.EvalAwaitPromise),
		chromedp.WaitVisible(chromedp.CSS("#stage:not([data-old]) .instance")))
}

// play opens a lab, presses its buttons and looks at the page.
func (b *browserBundle) play(t *testing.T, slug string, actions [][2]string) {
	t.Helper()
	b.do(t, chromedp.Navigate(b.ts.URL+"/en/labs/"+slug), chromedp.WaitVisible(chromedp.CSS("#do-start")))
	for _, a := range actions {
		b.press(t, a[0], a[1])
	}
	b.inspect(t, "lab-"+slug)
	b.obeys(t)
}

func TestBrowserLabWithoutScript(t *testing.T) {
	b := setupBrowser(t)
	b.do(t,
		command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}),
		chromedp.Navigate(b.ts.URL+"/de/labs/lost-ack"),
		chromedp.Click(chromedp.CSS("#do-start")), chromedp.WaitVisible(chromedp.CSS(".stage")),
		chromedp.Click(chromedp.CSS("#do-buy-lost")), chromedp.WaitVisible(chromedp.CSS(".log .is-copy")),
	)
	if got := run(t, b, chromedp.Text(chromedp.CSS(".balance"))); got != "402,00\u00a0€" { // one purchase, debited twice
		t.Errorf("the balance is %q", got)
	}
}
