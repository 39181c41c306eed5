package web

import (
	"net/http"
	"strings"
	"testing"
)

// The figures are for whoever runs the site. Everybody else gets the page of an
// address that does not exist.
func TestMetrics(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{MetricsToken: "t0ken"}, testCatalog())
	v := b.visitor(t)
	v.get(t, "/en/", http.StatusOK)
	v.get(t, "/en/nothing/at/all", http.StatusNotFound)
	v.get(t, "/metrics", http.StatusNotFound)

	for authorization, want := range map[string]int{
		"":             http.StatusNotFound,
		"Bearer ":      http.StatusNotFound,
		"Bearer other": http.StatusNotFound,
		"Basic t0ken":  http.StatusNotFound,
		"Bearer t0ken": http.StatusOK,
	} {
		a := v.do(t, http.MethodGet, "/metrics", nil, http.Header{"Authorization": {authorization}})
		if a.status != want {
			t.Errorf("with %q: status %d, want %d", authorization, a.status, want)
		}
		if want != http.StatusOK {
			continue
		}
		for _, line := range []string{
			`redeliver_http_requests_total{route="/:lang/",status="2xx"} 1`,
			`redeliver_http_requests_total{route="none",status="4xx"} 1`,
			`redeliver_http_request_seconds_count{route="/:lang/"} 1`,
			`redeliver_http_streams_open 0`,
		} {
			if !strings.Contains(a.body, line+"\n") {
				t.Errorf("no line %s in\n%s", line, a.body)
			}
		}
	}

	without := setup(t, Config{}, testCatalog()).visitor(t)
	if a := without.do(t, http.MethodGet, "/metrics", nil, http.Header{"Authorization": {"Bearer "}}); a.status != http.StatusNotFound {
		t.Errorf("without a token: status %d", a.status)
	}
}
