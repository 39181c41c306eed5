package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"redeliver/web/labs"
	"redeliver/web/views/htmlcheck"
)

// act presses a button of a lab and returns the page that it leads to.
func (v *visitor) act(t *testing.T, lang, slug, action string, choices ...string) answer {
	t.Helper()
	form := url.Values{"action": {action}}
	for i := 0; i < len(choices); i += 2 {
		form.Set(choices[i], choices[i+1])
	}
	path := "/" + lang + "/labs/" + slug
	a := v.post(t, path, form)
	if a.status != http.StatusSeeOther || a.header.Get("Location") != path {
		t.Fatalf("%s: status %d to %q: %s", action, a.status, a.header.Get("Location"), a.body)
	}
	return v.get(t, path, http.StatusOK)
}

// Every lab has a text and a stage in every language, and its buttons do what
// they say without a script.
func TestLabs(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	for _, lang := range []string{"en", "ru", "de"} {
		v := b.visitor(t)
		list := v.get(t, "/"+lang+"/labs", http.StatusOK)
		htmlcheck.Page(t, list.body, htmlcheck.NothingInline, htmlcheck.Count(".labs li", len(labs.Slugs())))
		for _, slug := range labs.Slugs() {
			htmlcheck.Page(t, v.get(t, "/"+lang+"/labs/"+slug, http.StatusOK).body, htmlcheck.NothingInline,
				htmlcheck.In("form.stage-start[method=post]"), htmlcheck.In(".shows"))
			a := v.act(t, lang, slug, "start")
			htmlcheck.Page(t, a.body, htmlcheck.NothingInline, htmlcheck.LinksWithin,
				htmlcheck.In("form.stage[method=post]"), htmlcheck.In(".log caption"), htmlcheck.Count("h1", 1))
		}
	}
}

// The worked example: 500 €, a ticket of 49 €, two purchases, one lost
// acknowledgement. The amounts are written as each language does.
func TestLostAckLab(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	for lang, want := range map[string][2]string{
		"en": {"€353.00", "€402.00"},
		"ru": {"353,00\u00a0€", "402,00\u00a0€"},
		"de": {"353,00\u00a0€", "402,00\u00a0€"},
	} {
		v := b.visitor(t)
		for i, choices := range [][]string{{"idempotence", "off"}, {"protection", "table"}} {
			v.act(t, lang, "lost-ack", "restart", choices...)
			v.act(t, lang, "lost-ack", "buy")
			a := v.act(t, lang, "lost-ack", "buy-lost")
			if !strings.Contains(a.body, `<dd class="balance">`+want[i]+`</dd>`) {
				t.Errorf("%s: the balance is not %s", lang, want[i])
			}
		}
	}
}

func TestLabProblems(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	v := b.visitor(t)
	v.get(t, "/en/labs/nothing", http.StatusNotFound)
	if a := v.post(t, "/en/labs/nothing", url.Values{"action": {"start"}}); a.status != http.StatusNotFound {
		t.Errorf("status %d", a.status)
	}
	v.act(t, "en", "lost-ack", "start")
	for _, form := range []url.Values{{"action": {"explode"}}, {"action": {"buy"}, "acks": {"42"}}, {"action": {"buy"}, "moon": {"full"}}} {
		if a := v.post(t, "/en/labs/lost-ack", form); a.status != http.StatusBadRequest {
			t.Errorf("%v: status %d", form, a.status)
		}
	}
	large := url.Values{"action": {strings.Repeat("x", 1<<20)}}
	if a := v.post(t, "/en/labs/lost-ack", large); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: status %d", a.status)
	}
	v.act(t, "en", "pid-and-sequence", "start")
	a := v.post(t, "/en/labs/pid-and-sequence", url.Values{"action": {"deliver"}})
	if a.header.Get("Location") != "/en/labs/pid-and-sequence?notice=stale" {
		t.Errorf("%d %v", a.status, a.header)
	}
	htmlcheck.Page(t, v.get(t, a.header.Get("Location"), http.StatusOK).body, htmlcheck.In("#stage .notice"))
}

// A visitor never sees the lab of another one.
func TestLabsAreTheVisitors(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	one, other := b.visitor(t), b.visitor(t)
	one.act(t, "en", "lost-ack", "buy")
	htmlcheck.Page(t, other.get(t, "/en/labs/lost-ack", http.StatusOK).body, htmlcheck.In(".stage-start"))
}

// A visitor is told before a third lab takes the place of another one.
func TestAThirdLabSaysWhatItCloses(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	v := b.visitor(t)
	closes := htmlcheck.In(".stage-start a", htmlcheck.Attr("href", "/en/labs/lost-ack"))
	v.act(t, "en", "lost-ack", "start")
	htmlcheck.Page(t, v.get(t, "/en/labs/transactions", http.StatusOK).body, htmlcheck.NotIn(".stage-start a"))
	v.act(t, "en", "pid-and-sequence", "start")
	htmlcheck.Page(t, v.get(t, "/en/labs/transactions", http.StatusOK).body, closes)
	v.act(t, "en", "transactions", "start")
	htmlcheck.Page(t, v.get(t, "/en/labs/lost-ack", http.StatusOK).body, htmlcheck.In(".stage-start"))
}

func TestLabEvents(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	v := b.visitor(t)
	v.act(t, "en", "lost-ack", "start")
	stream := v.stream(t, "/en/labs/lost-ack/events?after=1", "")
	v.act(t, "en", "lost-ack", "buy")
	until(t, stream, "data: 2")
}

func TestLabsHaveALimit(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	var last answer
	for range 13 { // visitors from one address
		last = b.visitor(t).post(t, "/en/labs/lost-ack", url.Values{"action": {"start"}})
	}
	if last.status != http.StatusTooManyRequests || !strings.Contains(last.body, "From your network as many labs are in use") {
		t.Errorf("status %d: %s", last.status, last.body)
	}
	if b.visitor(t).get(t, "/en/labs", http.StatusOK).status != http.StatusOK {
		t.Error("reading is limited, too")
	}
}
