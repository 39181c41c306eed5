package web

import (
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

func TestBrowserSearch(t *testing.T) {
	b := setupBrowser(t)
	b.do(t,
		command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collectViolations}),
		chromedp.Navigate(b.ts.URL+"/ru/labs"),
		chromedp.SendKeys(chromedp.CSS(".search input"), "подтверждение\r"),
		chromedp.WaitVisible(chromedp.CSS(".hits")),
	)
	b.inspect(t, "search")
	b.obeys(t)
	b.do(t, chromedp.Navigate(b.ts.URL+"/de/search?q=xylophon"), chromedp.WaitVisible(chromedp.CSS("main ul")))
	b.inspect(t, "search-none")
}
