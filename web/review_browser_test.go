package web

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"redeliver/content"
	"redeliver/web/store"
)

// A card is reviewed in each language without script: open the answer, press a
// button, see the next card.
func TestBrowserReview(t *testing.T) {
	b := setupBrowser(t)
	b.do(t,
		command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collectViolations}),
	)
	script := func(off bool) chromedp.Action[chromedp.Void] {
		return command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off})
	}
	for i, lang := range content.Languages() {
		b.do(t, script(true), chromedp.Navigate(b.ts.URL+"/"+lang+"/review"),
			chromedp.Click(chromedp.CSS(".answer > summary")),
			chromedp.WaitVisible(chromedp.CSS(".rating button[value=good]")),
			chromedp.Click(chromedp.CSS(".rating button[value=good]")),
			chromedp.WaitVisible(chromedp.CSS(".notice")),
		)
		p, err := b.st.Practice(t.Context(), b.onlyBrowser(t))
		if err != nil || len(p.Cards) != i+1 {
			t.Errorf("%s: %d cards were rated, err %v", lang, len(p.Cards), err)
		}
		b.do(t, script(false), chromedp.Navigate(b.ts.URL+"/"+lang+"/review"),
			chromedp.Click(chromedp.CSS(".answer > summary")), chromedp.WaitVisible(chromedp.CSS(".rating")))
		b.inspect(t, "review-"+lang)
		b.obeys(t)
		b.do(t, chromedp.Navigate(b.ts.URL+"/"+lang+"/progress"), chromedp.WaitVisible(chromedp.CSS("#forget")))
		b.inspect(t, "progress-"+lang)
		b.obeys(t)
	}
	b.do(t, chromedp.Navigate(b.ts.URL+exercisePage), chromedp.Click(chromedp.CSS(".predict summary")), chromedp.WaitVisible(chromedp.CSS(".predict button")))
	b.inspect(t, "predict")
	b.obeys(t)
}

// onlyBrowser is the one that has written something.
func (b *browserBundle) onlyBrowser(t *testing.T) (who store.Browser) {
	t.Helper()
	if err := b.st.Read.QueryRowContext(t.Context(), "SELECT token_hash FROM browsers").Scan(&who); err != nil {
		t.Fatal(err)
	}
	return who
}
