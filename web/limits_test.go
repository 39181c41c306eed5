package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"redeliver/web/jobs"
	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/views/htmlcheck"
)

func TestFormsFromElsewhereAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	for _, tc := range []struct {
		name   string
		header http.Header
		status int
	}{
		{"CrossSite", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"SiblingDomain", http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
		{"ForeignOrigin", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"OpaqueOrigin", http.Header{"Origin": {"null"}}, 403},
		{"SameOrigin", http.Header{"Sec-Fetch-Site": {"same-origin"}}, 303},
		{"NoBrowser", http.Header{}, 303},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.header.Set("Content-Type", "application/x-www-form-urlencoded")
			a := b.visitor(t).do(t, "POST", exercisePage+"/submissions", strings.NewReader(form(0, "x").Encode()), tc.header)
			if a.status != tc.status {
				t.Errorf("status %d, want %d", a.status, tc.status)
			}
			if tc.status == 403 {
				htmlcheck.Page(t, a.body, htmlcheck.In("h1", htmlcheck.Text("This form was sent from another site")))
			}
		})
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()

	t.Run("TooMuchSourceKeepsTheText", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		for _, action := range []string{"drafts", "checks", "submissions"} {
			a := v.post(t, exercisePage+"/"+action, form(0, "the text"+strings.Repeat("x", maxSource)))
			if a.status != http.StatusRequestEntityTooLarge || !strings.Contains(a.body, ">\nthe textxxx") {
				t.Errorf("%s: status %d", action, a.status)
			}
			htmlcheck.Page(t, a.body, htmlcheck.In("[role=alert]", htmlcheck.Contains("at most 65536 are accepted")))
		}
	})

	t.Run("TheLargestSourceFits", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		room := maxSource - len("-- empty\n")
		// The worst text: each line end is one byte of the source and six of the form.
		b.visitor(t).submit(t, 0, strings.Repeat("\n", room))
	})

	t.Run("LargerBodyIsCutOff", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		for _, length := range []int64{1 << 20, -1} { // -1: the length is not told
			r := httptest.NewRequest("POST", exercisePage+"/submissions", strings.NewReader(form(0, strings.Repeat("x", 1<<20)).Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.ContentLength = length
			w := httptest.NewRecorder()
			b.srv.ServeHTTP(w, r)
			if w.Code != http.StatusRequestEntityTooLarge {
				t.Errorf("length %d: status %d", length, w.Code)
			}
			// Not the page of the exercise: the body was not read.
			htmlcheck.Page(t, w.Body.String(), htmlcheck.In("h1", htmlcheck.Text("That is too much text")))
		}
	})
}

func TestRefusedSubmissionsAreKeptAsDrafts(t *testing.T) {
	t.Parallel()

	// insert adds submissions of one browser, as a crowd would.
	insert := func(t *testing.T, b *testBundle, n int, state, browser string, at time.Time) {
		t.Helper()
		_, err := b.st.Write.ExecContext(t.Context(), `
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO submissions (public_id, browser_id, exercise, exercise_version, engine, seed, files, source_hash,
			  state, outcome, verdict, finished_at, created_at)
			SELECT 'p' || n.i, b.id, 'core/task-' || n.i, '1', '1', 1, '[]', 'h', $2,
			  CASE WHEN $2 = 'graded' THEN 'passed' ELSE '' END, CASE WHEN $2 = 'graded' THEN '{}' ELSE '' END,
			  CASE WHEN $2 = 'graded' THEN 1 END, $3
			FROM n, browsers b WHERE b.token_hash = $4`, n, state, at.UnixMilli(), browser)
		if err != nil {
			t.Fatal(err)
		}
	}
	browserOf := func(t *testing.T, b *testBundle) (hash string) {
		t.Helper()
		if err := b.st.Read.QueryRowContext(t.Context(), "SELECT token_hash FROM browsers ORDER BY id LIMIT 1").Scan(&hash); err != nil {
			t.Fatal(err)
		}
		return hash
	}
	refused := func(t *testing.T, a answer, status int, words string) {
		t.Helper()
		if a.status != status || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, ">\nnew text</textarea>") {
			t.Errorf("status %d, header %v", a.status, a.header)
		}
		htmlcheck.Page(t, a.body, htmlcheck.NothingInline, htmlcheck.LinksWithin,
			htmlcheck.In("[role=alert]", htmlcheck.Contains(words)))
	}

	t.Run("QueueFull", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		b.visitor(t).submit(t, 0, "first")
		insert(t, b, jobs.MaxUnfinished, "queued", browserOf(t, b), time.Now())
		a := b.visitor(t).post(t, exercisePage+"/submissions", form(0, "new text")) // without a cookie yet
		refused(t, a, http.StatusServiceUnavailable, "The queue of the grader is full.")
		htmlcheck.Page(t, a.body, htmlcheck.In("input[name=base]", htmlcheck.Attr("value", "1")))
		if n := len(a.header.Values("Set-Cookie")); n != 2 { // the browser and the language
			t.Errorf("%d cookies", n)
		}
	})

	t.Run("TooManyInAnHour", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		v.post(t, exercisePage+"/drafts", form(0, "first"))
		insert(t, b, jobs.MaxPerHour, "graded", browserOf(t, b), time.Now())
		refused(t, v.post(t, exercisePage+"/submissions", form(1, "new text")), http.StatusTooManyRequests,
			"This browser has handed in 60 submissions within an hour")
	})
}

func TestRates(t *testing.T) {
	t.Parallel()

	// post sends a form from an address and, unless it is "", for another
	// client behind it.
	post := func(b *testBundle, address, forwarded string) int {
		r := httptest.NewRequest("POST", exercisePage+"/drafts", strings.NewReader(form(0, "x").Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.RemoteAddr = address
		if forwarded != "" {
			r.Header.Set("X-Forwarded-For", forwarded)
		}
		w := httptest.NewRecorder()
		b.srv.ServeHTTP(w, r)
		return w.Code
	}
	frozen := func() time.Time { return time.UnixMilli(1) }

	t.Run("ForgedAddressDoesNotHelp", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{DraftsPerMinute: 3, Now: frozen}, testCatalog())
		for i := range 3 {
			if code := post(b, "10.0.0.1:1", fmt.Sprint("203.0.113.", i)); code != http.StatusSeeOther {
				t.Fatalf("form %d: status %d", i, code)
			}
		}
		if code := post(b, "10.0.0.1:1", "203.0.113.99"); code != http.StatusTooManyRequests {
			t.Errorf("status %d", code)
		}
		if code := post(b, "10.0.0.2:1", ""); code != http.StatusSeeOther {
			t.Errorf("another address: status %d", code)
		}
	})

	t.Run("ClientsBehindTheProxyAreApart", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{DraftsPerMinute: 1, TrustProxy: true, Now: frozen}, testCatalog())
		for i := range 5 {
			if code := post(b, "10.0.0.1:1", fmt.Sprint("203.0.113.", i)); code != http.StatusSeeOther {
				t.Fatalf("client %d: status %d", i, code)
			}
		}
		if code := post(b, "10.0.0.1:1", "203.0.113.1"); code != http.StatusTooManyRequests {
			t.Errorf("status %d", code)
		}
	})

	t.Run("NewBrowsersOfOneAddress", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{NewBrowsersPerHour: 2, Now: frozen}, testCatalog())
		known := b.visitor(t)
		saved := known.post(t, exercisePage+"/drafts", form(0, "x"))
		other := b.visitor(t).post(t, exercisePage+"/drafts", form(0, "x"))
		refused := b.visitor(t).post(t, exercisePage+"/drafts", form(0, "x"))
		if saved.status != 303 || other.status != 303 || refused.status != http.StatusTooManyRequests {
			t.Errorf("status %d, %d, %d", saved.status, other.status, refused.status)
		}
		if a := known.post(t, exercisePage+"/drafts", form(1, "y")); a.status != 303 {
			t.Errorf("a browser that has written before: status %d", a.status)
		}
	})

	// One address is a lecture hall: each sitting has what is allowed to one.
	t.Run("EachSittingForItself", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{DraftsPerMinute: 2, Now: frozen}, testCatalog())
		a := newAssignment(t, b, newOwner(t, b), store.Assignment{})
		save := func(token string, base int) int {
			return b.visitor(t).post(t, "/en/a/"+token+"/exercises/core/charge-once/drafts", form(base, fmt.Sprint(base))).status
		}
		came := 0
		for range crowd {
			token, c := newCandidate(t, b, store.Actor{Person: store.Person{ID: 1}}, a)
			if err := b.queue.StartSitting(t.Context(), c, ""); err != nil {
				t.Fatal(err)
			}
			for i, want := range []int{303, 303, http.StatusTooManyRequests} {
				if status := save(token, i); status != want {
					t.Fatalf("sitting %d, draft %d: status %d", c.ID, i, status)
				}
			}
			came += 2
		}
		token, c := newCandidate(t, b, store.Actor{Person: store.Person{ID: 1}}, a)
		if err := b.queue.StartSitting(t.Context(), c, ""); err != nil {
			t.Fatal(err)
		}
		if status := save(token, 0); came != crowd*2 || status != http.StatusTooManyRequests {
			t.Errorf("after %d drafts from the address: status %d", came, status)
		}
		if code := post(b, "10.0.0.9:1", ""); code != http.StatusSeeOther { // who practises is counted apart
			t.Errorf("status %d", code)
		}
	})

	t.Run("PlacesOfAnOpenLink", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{PlacesPerHour: 2, Now: frozen}, testCatalog())
		by := newOwner(t, b)
		a := newAssignment(t, b, by, store.Assignment{})
		if err := b.st.SetOpenLink(t.Context(), by, a.ID, store.HashToken("open"), frozen()); err != nil {
			t.Fatal(err)
		}
		come := func(name string) answer {
			return b.visitor(t).post(t, "/en/a/open", url.Values{views.NameField: {name}})
		}
		come("") // takes no place
		if first, second := come("Grace"), come("Ada"); first.status != 303 || second.status != 303 {
			t.Fatalf("status %d, %d", first.status, second.status)
		}
		third := come("Linus")
		if third.status != http.StatusTooManyRequests || third.header.Get("Retry-After") == "" {
			t.Errorf("status %d, header %v", third.status, third.header)
		}
		checked(t, third.body, htmlcheck.In("form", htmlcheck.Contains("Many have come from your network")), htmlcheck.In("#name", htmlcheck.Attr("value", "Linus")))
	})

	t.Run("StreamsAreBounded", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{MaxStreams: 1}, testCatalog())
		v := b.visitor(t)
		path, _ := v.submit(t, 0, "x")
		until(t, v.stream(t, path+"/events", ""), "event: status")
		v.get(t, path+"/events", http.StatusServiceUnavailable)
	})
}

func TestLimiter(t *testing.T) {
	t.Parallel()

	t.Run("AllowsAgainAfterThePeriod", func(t *testing.T) {
		t.Parallel()
		now := time.UnixMilli(1)
		l := newLimiter(2, time.Minute, func() time.Time { return now })
		if first, second, third := l.allow("a"), l.allow("a"), l.allow("a"); !first || !second || third {
			t.Fatal("not two of three")
		}
		now = now.Add(30 * time.Second)
		if !l.allow("a") || l.allow("a") {
			t.Error("not one after half the period")
		}
	})

	t.Run("MemoryIsBounded", func(t *testing.T) {
		t.Parallel()
		now := time.UnixMilli(1)
		l := newLimiter(1, time.Minute, func() time.Time { return now })
		for i := range maxAddresses {
			l.allow(fmt.Sprint("client ", i))
		}
		if l.allow("one more") || len(l.addresses) != maxAddresses {
			t.Errorf("%d addresses", len(l.addresses))
		}
		now = now.Add(time.Minute)
		if !l.allow("one more") || len(l.addresses) != 1 {
			t.Errorf("%d addresses after a minute", len(l.addresses))
		}
	})

	t.Run("NetworkOfAClient", func(t *testing.T) {
		t.Parallel()
		for address, want := range map[string]string{
			"203.0.113.7":          "203.0.113.7",
			"::ffff:203.0.113.7":   "203.0.113.7",
			"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
			"fe80::1%eth0":         "fe80::/64",
			"unknown":              "unknown",
		} {
			if got := network(address); got != want {
				t.Errorf("%s: %s, want %s", address, got, want)
			}
		}
	})
}
