package web

import (
	"net/http"
	"strings"
	"testing"
)

func TestAddressesWithoutLanguage(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	for _, address := range [][2]string{
		{"/", "/en/"},
		{"/exercises/core/charge-once?version=1&x=%0d", "/en/exercises/core/charge-once?version=1&x=%0d"},
		{"/submissions/abc", "/en/submissions/abc"},
		{"/en", "/en/"},
		{"/exercises//evil.example/%0d%0aX:1", "/en/exercises//evil.example/%0D%0AX:1"},
	} {
		path, want := address[0], address[1]
		a := b.visitor(t).do(t, "GET", path, nil, http.Header{"Accept-Language": {"tlh, en;q=0.5"}})
		if a.status != http.StatusFound || a.header.Get("Location") != want {
			t.Errorf("%s: status %d, leads to %q, want %q", path, a.status, a.header.Get("Location"), want)
		}
		if path != "/en" && !strings.Contains(a.header.Get("Vary"), "Accept-Language") {
			t.Errorf("%s: Vary %q", path, a.header.Get("Vary"))
		}
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	v := b.visitor(t)

	page := v.get(t, "/de/exercises/core/charge-once?version=0&notice=saved", http.StatusOK)
	for _, want := range []string{
		`<html lang="de">`,
		`<link rel="alternate" hreflang="ru" href="/ru/exercises/core/charge-once?version=0">`,
		`Entwurf speichern`,
		`ihr Text steht hier auf Englisch`, // the pack of the test speaks English only
		`<h1 lang="en">Charge once</h1>`,
		`Charge <strong>once</strong>`,
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the German page lacks %q", want)
		}
	}
	if strings.Contains(page.body, `hreflang="ru" href="/ru/exercises/core/charge-once?notice`) {
		t.Error("a notice is carried into another language")
	}

	if home := v.get(t, "/ru/", http.StatusOK); !strings.Contains(home.body, "Обработать сообщения Kafka один раз") {
		t.Error("the home page is not in Russian")
	}
	next := v.do(t, "GET", "/", nil, http.Header{"Accept-Language": {"en"}})
	if at := next.header.Get("Location"); at != "/ru/" {
		t.Errorf("after a Russian page, / leads to %q", at)
	}
	if missing := v.get(t, "/nowhere?x=1", http.StatusNotFound); !strings.Contains(missing.body, `href="/de/"`) {
		t.Error("an error page has no link to the German home page")
	}
}

func TestCookies(t *testing.T) {
	t.Parallel()

	cookies := func(t *testing.T, b *testBundle) map[string]string {
		t.Helper()
		out := map[string]string{}
		for _, line := range b.visitor(t).get(t, exercisePage, http.StatusOK).header.Values("Set-Cookie") {
			name, rest, _ := strings.Cut(line, "=")
			_, attributes, _ := strings.Cut(rest, "; ")
			out[name] = attributes
		}
		return out
	}

	t.Run("OverHTTP", func(t *testing.T) {
		t.Parallel()
		got := cookies(t, setup(t, Config{}, testCatalog()))
		for _, name := range []string{"redeliver", "language"} {
			if got[name] != "Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax" {
				t.Errorf("%s has %q", name, got[name])
			}
		}
	})

	t.Run("OverHTTPS", func(t *testing.T) {
		t.Parallel()
		got := cookies(t, setup(t, Config{SecureCookies: true}, testCatalog()))
		for _, name := range []string{"__Host-redeliver", "__Host-language"} {
			if got[name] != "Path=/; Max-Age=31536000; HttpOnly; Secure; SameSite=Lax" {
				t.Errorf("%s has %q", name, got[name])
			}
		}
		if len(got) != 2 {
			t.Errorf("cookies are %v", got)
		}
	})

	t.Run("LanguageThatANeighbourPlanted", func(t *testing.T) {
		t.Parallel()
		v := setup(t, Config{SecureCookies: true}, testCatalog()).visitor(t)
		for cookie, want := range map[string]string{"language=de": "/en/", "__Host-language=de": "/de/"} {
			a := v.do(t, "GET", "/", nil, http.Header{"Cookie": {cookie}})
			if got := a.header.Get("Location"); a.status != http.StatusFound || got != want {
				t.Errorf("%s: %d to %s, want %s", cookie, a.status, got, want)
			}
		}
	})

	t.Run("TokenIsNotInTheDatabase", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		a := v.get(t, exercisePage, http.StatusOK)
		v.submit(t, 0, "x")
		var token string
		for _, line := range a.header.Values("Set-Cookie") {
			if rest, ok := strings.CutPrefix(line, "redeliver="); ok {
				token, _, _ = strings.Cut(rest, ";")
			}
		}
		var rows, withToken int
		err := b.st.Read.QueryRowContext(t.Context(),
			"SELECT count(*), count(*) FILTER (WHERE token_hash = $1) FROM browsers", token).Scan(&rows, &withToken)
		if err != nil || len(token) != tokenLength || rows != 1 || withToken != 0 {
			t.Errorf("token %q, %d rows, %d with it, err %v", token, rows, withToken, err)
		}
	})

	t.Run("ReadingLeavesNoRow", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		v.get(t, exercisePage, http.StatusOK)
		v.get(t, "/en/", http.StatusOK)
		var rows int
		if err := b.st.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM browsers").Scan(&rows); err != nil || rows != 0 {
			t.Errorf("%d rows, err %v", rows, err)
		}
	})

	t.Run("UnusableCookieIsReplaced", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		a := b.visitor(t).do(t, "GET", exercisePage, nil, http.Header{"Cookie": {"redeliver=short; language=tlh"}})
		if n := len(a.header.Values("Set-Cookie")); n != 2 {
			t.Errorf("%d cookies set", n)
		}
	})
}
