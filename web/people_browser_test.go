package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"redeliver/web/auth"
	"redeliver/web/store"
)

// The owner's story in a browser: the link of the first start, an invitation, the
// pages of accounts, signing out and in again.
func TestBrowserPeople(t *testing.T) {
	b := setupBrowser(t)
	token, _, err := b.srv.FirstOwner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	password := chromedp.CSS("#password")
	b.do(t,
		command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collectViolations}),
		chromedp.Navigate(b.ts.URL+"/en/invitations/"+token),
		chromedp.WaitVisible(password),
	)
	b.inspect(t, "invitation")
	b.do(t,
		chromedp.SendKeys(chromedp.CSS("#name"), "Ada Lovelace"),
		chromedp.SendKeys(chromedp.CSS("#login"), "ada lovelace"), // not accepted: a space
		chromedp.SendKeys(password, testPassword+"\r"),
		chromedp.WaitVisible(chromedp.CSS("#login-problem")),
	)
	b.inspect(t, "invitation-refused")
	b.do(t,
		chromedp.Evaluate[chromedp.Void](`document.querySelector("#login").value = ""`),
		chromedp.SendKeys(chromedp.CSS("#login"), "ada@example.org"),
		chromedp.SendKeys(password, testPassword+"\r"),
		chromedp.WaitVisible(chromedp.CSS("#old")),
	)
	b.inspect(t, "account")
	b.do(t,
		chromedp.Navigate(b.ts.URL+"/ru/account"),
		chromedp.WaitVisible(chromedp.CSS("#old")),
	)
	b.inspect(t, "account-ru")
	b.do(t,
		chromedp.Navigate(b.ts.URL+"/en/people"),
		chromedp.SendKeys(chromedp.CSS("#note"), "Bob, backend team\r"),
		chromedp.WaitVisible(chromedp.CSS("#link")),
	)
	b.inspect(t, "link")
	b.do(t,
		chromedp.Navigate(b.ts.URL+"/de/people"),
		chromedp.WaitVisible(chromedp.CSS(".links li")),
	)
	b.inspect(t, "people")
	b.do(t,
		chromedp.Navigate(b.ts.URL+"/en/people/log"),
		chromedp.WaitVisible(chromedp.CSS("tbody tr")),
	)
	b.inspect(t, "log")
	person := newPersonIn(t, b.testBundle)
	b.do(t,
		chromedp.Navigate(b.ts.URL+"/en/people/"+person),
		chromedp.WaitVisible(chromedp.CSS("button.danger")),
	)
	b.inspect(t, "person")
	b.obeys(t)
	b.do(t,
		chromedp.Click(chromedp.CSS(".account-nav button")),
		chromedp.WaitVisible(chromedp.CSS(`footer a[href="/en/sign-in"]`)),
		chromedp.Click(chromedp.CSS(`footer a[href="/en/sign-in"]`)),
		chromedp.SendKeys(chromedp.CSS("#login"), "ada@example.org"),
		chromedp.SendKeys(password, "not the password\r"),
		chromedp.WaitVisible(chromedp.CSS(".alert")),
	)
	b.inspect(t, "sign-in")
	b.do(t,
		chromedp.SendKeys(password, testPassword+"\r"),
		chromedp.WaitVisible(chromedp.CSS(".account-nav")),
	)
	b.obeys(t)
}

// newPersonIn makes an interviewer beside the browser and returns its number.
func newPersonIn(t *testing.T, b *testBundle) string {
	t.Helper()
	token, _, err := auth.InviteFromServer(t.Context(), b.st, store.Interviewer, b.srv.cfg.Now())
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.srv.auth.Accept(t.Context(), token, auth.Newcomer{Login: "bob@example.org", Name: "Bob", Password: testPassword}, "")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(p.ID)
}
