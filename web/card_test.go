package web

import (
	"bytes"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"redeliver/web/views"
	"redeliver/web/views/htmlcheck"
)

func TestCards(t *testing.T) {
	t.Parallel()
	const base = "https://practice.example"
	exercise := testCatalog()[0]
	token := tokenFor(exercise, starterOf(exercise)).String()

	t.Run("EachPageHasOne", func(t *testing.T) {
		t.Parallel()
		b, asked := setupRuns(t, Config{BaseURL: base, DrawingsPerMinute: 100})
		seen := map[string]string{}
		for _, path := range []string{
			"/en/", "/ru/", "/de/", exercisePage, "/ru/exercises/core/charge-once", "/de/labs/lost-ack", "/en/runs/" + token,
			"/en/questions/" + b.srv.bank.All()[0].Slug,
		} {
			page := b.visitor(t).get(t, path, http.StatusOK).body
			lang := path[1:3]
			card := strings.TrimSuffix(path, "/") + "/card.png"
			if strings.Contains(path, "/runs/") {
				card = path + ".png"
			}
			htmlcheck.Page(t, page,
				htmlcheck.In("meta[property='og:image']", htmlcheck.Attr("content", base+card)),
				htmlcheck.In("meta[property='og:url']", htmlcheck.Attr("content", base+path)),
				htmlcheck.In("meta[property='og:title']:not([content=''])"), htmlcheck.In("meta[property='og:description']:not([content=''])"),
				htmlcheck.In("link[hreflang=x-default]", htmlcheck.Attr("href", base+path[3:])),
				htmlcheck.In("link[hreflang="+lang+"]", htmlcheck.Attr("href", base+path)))
			a := b.visitor(t).get(t, card, http.StatusOK)
			cfg, err := png.DecodeConfig(bytes.NewReader([]byte(a.body)))
			if err != nil || cfg.Width != views.CardWidth || a.header.Get("Content-Type") != "image/png" {
				t.Errorf("%s: %q, err %v", card, a.header.Get("Content-Type"), err)
			}
			if a.header.Get("Cache-Control") != "public, max-age=86400" || a.header.Get("Set-Cookie") != "" {
				t.Errorf("%s: %v", card, a.header)
			}
			if other, ok := seen[a.body]; ok {
				t.Errorf("%s and %s have one card", card, other)
			}
			seen[a.body] = card
		}
		if asked.Load() != 1 {
			t.Errorf("the run was made %d times", asked.Load())
		}
		for _, path := range []string{
			"/en/questions/none/card.png", "/en/exercises/core/secret/card.png", "/en/labs/none/card.png", "/en/runs/rd1.x.png", "/tlh/card.png",
		} {
			b.visitor(t).get(t, path, http.StatusNotFound)
		}
	})

	t.Run("DrawnOnceAndNotTooOften", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{DrawingsPerMinute: 1, Now: func() time.Time { return time.UnixMilli(1000) }}, testCatalog())
		v := b.visitor(t)
		for range 3 {
			v.get(t, "/en/card.png", http.StatusOK)
		}
		if a := v.get(t, "/ru/card.png", http.StatusTooManyRequests); a.header.Get("Retry-After") != "60" {
			t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
		}
	})

	t.Run("OldestMakeRoom", func(t *testing.T) {
		t.Parallel()
		var k cards
		for i := range maxCards + 1 {
			k.put(string(rune(i)), []byte{1})
		}
		if _, ok := k.get(string(rune(0))); ok || len(k.kept) != maxCards || len(k.order) != maxCards {
			t.Errorf("%d cards are kept", len(k.kept))
		}
	})

	t.Run("SiteWithoutAnAddressNamesNone", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		htmlcheck.Page(t, b.visitor(t).get(t, "/en/", http.StatusOK).body,
			htmlcheck.In("meta[property='og:title']"), htmlcheck.NotIn("meta[property='og:image']"),
			htmlcheck.In("link[hreflang=ru]", htmlcheck.Attr("href", "/ru/")))
	})
}
