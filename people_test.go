package main

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"redeliver/web/views"
)

var (
	ownerLink   = regexp.MustCompile(`link=(http://[0-9.:]+(?:/redeliver)?/invitations/[A-Z2-7]+)`)
	printedLink = regexp.MustCompile(`^http://site\.example((?:/redeliver)?/invitations/[A-Z2-7]+)\n`)
)

// A server without an owner prints a link; who follows it is the owner, and the
// next start prints none. Who has lost the password makes another owner with the
// command, while the server runs.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "/redeliver"} {
		t.Run("At"+path, func(t *testing.T) {
			t.Parallel()
			firstStart(t, path)
		})
	}
}

// firstStart is TestFirstStart for a site with something before its paths.
func firstStart(t *testing.T, path string) {
	t.Helper()
	data := t.TempDir()
	if err := os.Symlink(compilerCache(t), filepath.Join(data, "build")); err != nil {
		t.Fatal(err)
	}
	serve := []string{"serve", "--addr", "127.0.0.1:0", "--data", data, "--workers", "0", "--base-path", path}
	s := start(t, ownerLink, nil, serve...)
	join := func(address, login string) int {
		t.Helper()
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		v := &visitor{Client: http.Client{Jar: jar}}
		if page, err := v.get(t.Context(), address); err != nil || !strings.Contains(page, "an owner of this site") {
			return http.StatusNotFound
		}
		language := strings.Replace(address, "/invitations/", "/en/invitations/", 1)
		form := url.Values{views.NameField: {"Owner"}, views.LoginField: {login}, views.PasswordField: {"words of a test password"}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, language, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := v.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode == http.StatusOK && res.Request.URL.Path != path+"/en/account" {
			t.Errorf("%s leads to %s", login, res.Request.URL)
		}
		return res.StatusCode
	}
	if status := join(s.base, "ada"); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	if status := join(s.base, "mallory"); status != http.StatusNotFound {
		t.Errorf("the link works twice: status %d", status)
	}
	s.kill(t)

	again := start(t, listening, nil, serve...)
	var out, errOut strings.Builder
	if code := run(t.Context(), []string{"invite", "--data", data, "--base-url", "http://site.example/", "--base-path", path}, &out, &errOut); code != 0 {
		t.Fatalf("status %d: %s", code, errOut.String())
	}
	link := printedLink.FindStringSubmatch(out.String())
	if link == nil || !strings.HasPrefix(link[1], path+"/invitations/") {
		t.Fatalf("no link in %q", out.String())
	}
	if status := join(again.base+link[1], "bob"); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	again.kill(t)
	if log := again.log.String(); ownerLink.MatchString(log) || strings.Contains(log, link[1]) {
		t.Errorf("a site with an owner prints a link, or the requests name one:\n%s", log)
	}
}
