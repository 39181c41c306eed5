package web

import (
	"net/http"
	"net/url"
	"testing"

	"redeliver/web/views/htmlcheck"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	v := b.visitor(t)
	for _, tc := range []struct{ lang, query, href string }{
		{"en", "acknowledgement", "/en/labs/lost-ack"},
		{"ru", "подтверждения", "/ru/labs/lost-ack"},
		{"de", "Bestätigung", "/de/labs/lost-ack"},
		{"en", "charge once", exercisePage},
		{"en", "process idempotently", "/en/questions/process-idempotently"},
	} {
		a := v.get(t, "/"+tc.lang+"/search?q="+url.QueryEscape(tc.query), http.StatusOK)
		htmlcheck.Page(t, a.body, htmlcheck.NothingInline,
			htmlcheck.In(".hits a[href='"+tc.href+"']"), htmlcheck.In(".search input", htmlcheck.Attr("value", tc.query)))
	}
	htmlcheck.Page(t, v.get(t, "/en/search?q=xylophone", http.StatusOK).body, htmlcheck.NotIn(".hits"), htmlcheck.In("main ul a"))
	htmlcheck.Page(t, v.get(t, "/en/search", http.StatusOK).body, htmlcheck.NotIn(".hits"))
	htmlcheck.Page(t, v.get(t, "/en/search?q=%ff%22%3Cscript%3E", http.StatusOK).body, htmlcheck.NothingInline)
	// What only interviewers assign is not found.
	htmlcheck.Page(t, v.get(t, "/en/search?q=secret+task", http.StatusOK).body, htmlcheck.NotIn(".hits"))
}
