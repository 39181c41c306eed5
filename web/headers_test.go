package web

import (
	"net/http/httptest"
	"testing"

	"redeliver/static"
)

// What every answer tells browsers, whatever it is. That they shall come over https
// only is said when the proxy says that they did; who is not in a private network is
// no proxy.
func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	for _, path := range []string{"/en/", "/en/nothing", "/healthz", "/api/v1/openapi.json", "/api/v1/assignments", static.URL("app.css")} {
		for peer, hsts := range map[string]string{"10.0.0.1:1": "max-age=31536000; includeSubdomains", "203.0.113.1:1": ""} {
			r := httptest.NewRequest("GET", path, nil)
			r.RemoteAddr = peer
			r.Header.Set("X-Forwarded-Proto", "https")
			r.Header.Set("Origin", "https://evil.example")
			w := httptest.NewRecorder()
			b.srv.ServeHTTP(w, r)
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
					"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
				"Strict-Transport-Security":   hsts,
				"X-Content-Type-Options":      "nosniff",
				"X-Frame-Options":             "DENY",
				"Referrer-Policy":             "same-origin",
				"Access-Control-Allow-Origin": "",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s from %s: %s is %q, want %q", path, peer, name, got, want)
				}
			}
		}
	}
}
