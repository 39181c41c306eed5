package web

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"redeliver/web/store"
)

// pastes lets the clipboard bring a text to the end of a file, as Ctrl+V does.
func (b *browserBundle) pastes(t *testing.T, text string) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const editor = document.querySelector(".file .code").shadowRoot.querySelector(".cm-content");
		editor.focus();
		editor.dispatchEvent(new KeyboardEvent("keydown", {key: "End", code: "End", keyCode: 35, ctrlKey: true, bubbles: true, cancelable: true}));
		const clipboardData = new DataTransfer();
		clipboardData.setData("text/plain", %s);
		editor.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
	})()`, strconv.Quote(text))))
}

// What comes out of the clipboard is seen in the report, also when it was pasted while
// there was no connection and the page was loaded anew.
func TestBrowserPaste(t *testing.T) {
	b := setupBrowser(t)
	by := newOwner(t, b.testBundle)
	a := newAssignment(t, b.testBundle, by, store.Assignment{})
	token, candidate := newCandidate(t, b.testBundle, by, a)
	if err := b.queue.StartSitting(t.Context(), candidate, ""); err != nil {
		t.Fatal(err)
	}
	saves := func(version string) {
		t.Helper()
		if err := b.poll(`document.querySelector("[name=base]").value === "` + version + `"`); err != nil {
			t.Fatalf("version %s was not saved: %v", version, err)
		}
	}
	byHand := chromedp.Evaluate[chromedp.Void](`document.querySelector("form[data-drafts]").dispatchEvent(new Event("save"))`)
	b.do(t, command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collectViolations}),
		chromedp.Navigate(b.ts.URL+"/en/a/"+token+"/exercises/core/charge-once"), chromedp.WaitVisible(chromedp.CSS(".code")))
	starter := run(t, b, chromedp.Evaluate[string](`document.querySelector("#file-0").value`))
	lines := strings.Count(starter, "\n") + 1 // the paste begins in the last one

	b.pastes(t, "// small\n")
	b.pastes(t, "func pastedOne() int {\n\treturn 1\n}\n")
	b.do(t, chromedp.KeyEvent("// typed below\n"), byHand)
	saves("1")
	b.pastes(t, "func pastedOne() int {\n\treturn 1\n}\n") // it is the candidate's by now
	b.do(t, byHand)
	saves("2")

	b.connect(t, false)
	b.pastes(t, "var a = 1\nvar b = 2\nvar c = 3\n")
	if err := b.poll(`sessionStorage.getItem(Object.keys(sessionStorage).find((k) => k.startsWith("redeliver draft"))) !== null`); err != nil {
		t.Fatalf("the text is not kept: %v", err)
	}
	b.connect(t, true)
	b.do(t, byHand)
	saves("3")

	// What could not be saved when the page went comes back with it, and so does its mark.
	b.do(t, chromedp.Evaluate[chromedp.Void](`(() => {
		const {dataset, elements} = document.querySelector("form[data-drafts]");
		const text = JSON.stringify([...document.querySelectorAll("textarea[name]")].map((f) => [f.name, "// a\n// b\n// c\n" + f.value]));
		sessionStorage.setItem("redeliver draft " + dataset.name, JSON.stringify({base: elements.base.value, sending: null, text}));
		sessionStorage.setItem("redeliver pastes " + dataset.name, JSON.stringify([
			{file: "handler.go", id: "00000000000000ff", at: Date.now(), from: 0, to: 15, lines: 3, size: 15, moved: false}]));
	})()`), chromedp.Navigate(b.ts.URL+"/en/a/"+token+"/exercises/core/charge-once"), chromedp.WaitVisible(chromedp.CSS(".code")))
	saves("4")
	if left := run(t, b, chromedp.Evaluate[int]("sessionStorage.length")); left != 0 {
		t.Errorf("%d things were left in the storage of the tab", left)
	}
	b.obeys(t)

	kept, err := b.st.Pastes(t.Context(), candidate.Browser, "core/charge-once")
	if err != nil || len(kept) != 4 {
		t.Fatalf("%+v, err %v", kept, err)
	}
	first := kept[0]
	if first.File != "handler.go" || first.From != lines+1 || first.To != lines+3 || first.Lines != 3 || first.Moved || first.Version != 1 {
		t.Errorf("the first mark is %+v, and the starter had %d lines", first, lines)
	}
	if !kept[1].Moved || kept[1].Version != 2 {
		t.Errorf("the second mark is %+v", kept[1])
	}
	if kept[2].Moved || kept[2].Version != 3 {
		t.Errorf("the third mark is %+v", kept[2])
	}

	if last := kept[3]; last.Mark != "00000000000000ff" || last.From != 1 || last.To != 3 || last.Version != 4 {
		t.Errorf("the last mark is %+v", last)
	}

	b.signInAs(t, "ada")
	report := fmt.Sprintf("%s/en/assign/%d/candidates/%d", b.ts.URL, a.ID, candidate.ID)
	b.do(t, chromedp.Navigate(report), chromedp.WaitVisible(chromedp.CSS(".axis-paste:not(.is-moved)")))
	b.accessible(t, "report-pastes light")
	b.do(t, chromedp.Click(chromedp.CSS(".pastes a")), chromedp.WaitVisible(chromedp.CSS(".source .pasted")))
	b.do(t, scheme("dark"))
	b.accessible(t, "playback-pastes dark") // the marks have colours of their own
	b.obeys(t)
	if text := run(t, b, chromedp.Evaluate[string](`[...document.querySelectorAll(".source .pasted")].map((l) => l.textContent).join("")`)); text != "func pastedOne() int {\n\treturn 1\n}\n" {
		t.Errorf("marked is %q", text)
	}
}
