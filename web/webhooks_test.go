package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/views/htmlcheck"
	"redeliver/web/webhook"
)

func allowing(t *testing.T, list ...string) webhook.Policy {
	t.Helper()
	p, err := webhook.ParsePolicy(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The owner makes a webhook, sends a test, reads in the log what became of it, sends it
// again and deletes the webhook.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	answers := make(chan int, 10)
	ids := make(chan string, 10)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(<-answers)
		ids <- r.Header.Get("webhook-id")
	}))
	t.Cleanup(ts.Close)
	b := setup(t, Config{Webhooks: allowing(t, "public", "127.0.0.1")}, testCatalog())
	ada := b.owner(t)
	htmlcheck.Page(t, ada.get(t, "/en/people", http.StatusOK).body, htmlcheck.In("main a[href='/en/people/webhooks']"))

	made := ada.post(t, "/en/people/webhooks", url.Values{views.URLField: {ts.URL + "/a?key=1"}})
	secret := regexp.MustCompile(`whsec_[A-Za-z0-9+/]{32}`).FindString(strings.ReplaceAll(made.body, "&#43;", "+"))
	if made.status != http.StatusOK || secret == "" {
		t.Fatalf("status %d: %s", made.status, made.body)
	}
	htmlcheck.Page(t, made.body, htmlcheck.NothingInline, htmlcheck.LinksWithin)
	page := "/en/people/webhooks/1"
	if list := ada.get(t, "/en/people/webhooks", http.StatusOK).body; strings.Contains(list, secret) || !strings.Contains(list, ts.URL+"/a?key=1") {
		t.Error("the secret is shown a second time, or the address is not")
	}
	if one := ada.get(t, page, http.StatusOK).body; strings.Contains(one, secret) || !strings.Contains(one, "Nothing was sent yet.") {
		t.Errorf("%s", one)
	}

	if a := ada.post(t, page+"/test", nil); a.status != http.StatusSeeOther || a.header.Get("Location") != page+"?notice=test" {
		t.Fatalf("status %d, %v", a.status, a.header)
	}
	htmlcheck.Page(t, ada.get(t, page+"?notice=test", http.StatusOK).body, htmlcheck.In("[role=status]", htmlcheck.Contains("on its way")),
		htmlcheck.In("tbody tr", htmlcheck.Contains("is being tried")), htmlcheck.NotIn("tbody button"))
	answers <- http.StatusGone
	b.start(t)
	first := <-ids
	row := func(want string) {
		t.Helper()
		for range 500 { // the log is written after the answer
			if strings.Contains(ada.get(t, page, http.StatusOK).body, want) {
				break
			}
		}
		htmlcheck.Page(t, ada.get(t, page, http.StatusOK).body, htmlcheck.NothingInline, htmlcheck.LinksWithin, htmlcheck.Count("tbody tr", 1),
			htmlcheck.In("tbody tr", htmlcheck.Contains(want)))
	}
	row("410 the answer is not 2xx")
	row("not delivered")
	answers <- http.StatusNoContent
	if a := ada.post(t, page+"/deliveries/1/repeat", nil); a.status != http.StatusSeeOther {
		t.Fatalf("status %d", a.status)
	}
	if again := <-ids; again != first {
		t.Errorf("sent again with the id %q, it was %q", again, first)
	}
	row("204")

	if a := ada.post(t, page+"/delete", nil); a.status != http.StatusSeeOther {
		t.Fatalf("status %d", a.status)
	}
	ada.get(t, page, http.StatusNotFound)
	log := ada.get(t, "/en/people/log", http.StatusOK).body
	if !strings.Contains(log, "added a webhook") || !strings.Contains(log, "deleted a webhook") || strings.Contains(log, "key=1") {
		t.Error("the log says nothing, or too much")
	}
}

func TestWebhookForm(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{Webhooks: allowing(t, "public")}, testCatalog())
	ada := b.owner(t)
	for address, words := range map[string]string{
		"": "Type an address", "hooks.example": "Type an address", "https://user:x@hooks.example/": "Type an address",
		"https://hooks.example/" + strings.Repeat("x", webhook.MaxURL): "Type an address",
		"https://hooks.example/\r\nX-Evil: 1":                          "Type an address",
		"http://hooks.example/":                                        "Use https.",
		"https://127.0.0.1/":                                           "may not send anything there",
		"https://[::ffff:169.254.169.254]/latest":                      "may not send anything there",
	} {
		a := ada.post(t, "/en/people/webhooks", url.Values{views.URLField: {address}})
		if a.status != http.StatusUnprocessableEntity {
			t.Errorf("%q: status %d", address, a.status)
		}
		htmlcheck.Page(t, a.body, htmlcheck.NothingInline, htmlcheck.In("#url-problem[role=alert]", htmlcheck.Contains(words)))
	}
	for i := range store.MaxWebhooks {
		if a := ada.post(t, "/en/people/webhooks", url.Values{views.URLField: {fmt.Sprint("https://hooks.example/", i)}}); a.status != http.StatusOK {
			t.Fatalf("status %d", a.status)
		}
	}
	if a := ada.post(t, "/en/people/webhooks", url.Values{views.URLField: {"https://hooks.example/x"}}); a.status != http.StatusConflict {
		t.Errorf("status %d", a.status)
	}

	// Started without the flag, the site says so of what is there, and takes nothing.
	b.srv.cfg.Webhooks = webhook.Policy{}
	for _, lang := range []string{"en", "de", "ru"} {
		htmlcheck.Page(t, ada.get(t, "/"+lang+"/people/webhooks", http.StatusOK).body, htmlcheck.NothingInline, htmlcheck.LinksWithin,
			htmlcheck.In("main code", htmlcheck.Text("--webhook-allow")), htmlcheck.NotIn("#url"), htmlcheck.In(".links .wrong"))
		htmlcheck.Page(t, ada.get(t, "/"+lang+"/people/webhooks/1", http.StatusOK).body, htmlcheck.NothingInline, htmlcheck.LinksWithin, htmlcheck.In("p.wrong"))
	}
	if a := ada.post(t, "/en/people/webhooks", url.Values{views.URLField: {"https://hooks.example/x"}}); a.status != http.StatusUnprocessableEntity {
		t.Errorf("status %d", a.status)
	}
}

func TestWebhookLogHasPages(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{Webhooks: allowing(t, "public")}, testCatalog())
	ada := b.owner(t)
	ada.post(t, "/en/people/webhooks", url.Values{views.URLField: {"https://hooks.example/"}})
	for range logPage + 2 {
		ada.post(t, "/en/people/webhooks/1/test", nil)
	}
	first := ada.get(t, "/en/people/webhooks/1", http.StatusOK).body
	htmlcheck.Page(t, first, htmlcheck.Count("tbody tr", logPage))
	older := regexp.MustCompile(`/en/people/webhooks/1\?before=\d+`).FindString(first)
	htmlcheck.Page(t, ada.get(t, older, http.StatusOK).body, htmlcheck.Count("tbody tr", 2))
	for _, bad := range []string{"x", "-1", "0"} {
		ada.get(t, "/en/people/webhooks/1?before="+bad, http.StatusBadRequest)
	}
}
