package static

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHandler(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, path string
		status     int
	}{
		{"FileByItsHash", URL("app.css"), 200},
		{"FileInAFolder", URL("lib/htmx.js"), 200},
		{"StaleHash", Prefix + "000000000000/app.css", 404},
		{"NoHash", Prefix + "/app.css", 404},
		{"NoHashAndUnknownFile", Prefix + "/nothing.css", 404},
		{"FolderAbove", Prefix + "000000000000/../embed.go", 404},
		{"Nothing", Prefix, 404},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			Handler().ServeHTTP(w, httptest.NewRequest("GET", tc.path, nil))
			if w.Code != tc.status {
				t.Errorf("status %d, want %d", w.Code, tc.status)
			}
			if kept := strings.Contains(w.Header().Get("Cache-Control"), "immutable"); kept != (tc.status == 200) {
				t.Errorf("Cache-Control is %q", w.Header().Get("Cache-Control"))
			}
		})
	}
}

func TestURLPanicsOnUnknownName(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	URL("ap.css")
}

func TestLicencesOfTheScriptsAreThere(t *testing.T) {
	t.Parallel()
	b, err := files.ReadFile("lib/LICENSES.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"== htmx.org 2.", "== htmx-ext-sse 2."} {
		if !strings.Contains(string(b), name) {
			t.Errorf("LICENSES.txt does not name %q", name)
		}
	}
}
