package web

import (
	"io"
	"net/http"
	"regexp"
	"testing"

	"redeliver/exercises"
	"redeliver/web/labs"
)

// assets are what a page loads before it is read: styles and scripts.
var assets = regexp.MustCompile(`(?:src|href)="(/static/[^"]+\.(?:css|js))"`)

// transferred is what a first visit to a page sends, compressed, with its styles
// and scripts, in bytes.
func (v *visitor) transferred(t *testing.T, path string) int {
	t.Helper()
	total := v.compressed(t, path)
	page := v.get(t, path, http.StatusOK).body
	for _, m := range assets.FindAllStringSubmatch(page, -1) {
		total += v.compressed(t, m[1])
	}
	return total
}

func (v *visitor) compressed(t *testing.T, path string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", v.b.ts.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip") // by hand, so that the client does not undo it
	resp, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, err %v", path, resp.StatusCode, err)
	}
	if n > 2000 && resp.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%s is not compressed", path)
	}
	return int(n)
}

// A page is small: what is read comes in under 50 KB, an exercise with its editor in
// under 220 KB.
func TestPageSizes(t *testing.T) {
	t.Parallel()
	const reading, exercise = 50_000, 220_000
	b := setup(t, Config{}, exercises.Open(exercises.Builtin(), nil))
	v := b.visitor(t)
	largest := map[int]string{}
	most := map[int]int{}
	for _, lang := range []string{"en", "ru", "de"} {
		limits := map[string]int{"": reading, "questions": reading, "glossary": reading, "exercises": reading, "labs": reading, "search?q=kafka": reading, "review": reading, "progress": reading}
		for _, q := range b.srv.bank.All() {
			limits["questions/"+q.Slug] = reading
		}
		for _, slug := range labs.Slugs() {
			limits["labs/"+slug] = reading
		}
		for _, e := range b.srv.catalog.Public() {
			limits["exercises/"+e.Name()] = exercise
		}
		for path, limit := range limits {
			path = "/" + lang + "/" + path
			n := v.transferred(t, path)
			if n >= limit {
				t.Errorf("%s: %d bytes, want less than %d", path, n, limit)
			}
			if n > most[limit] {
				most[limit], largest[limit] = n, path
			}
		}
	}
	for limit, path := range largest {
		t.Logf("of pages below %d the largest is %s: %d bytes", limit, path, most[limit])
	}
}
