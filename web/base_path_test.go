package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/net/html"

	"redeliver/exercises"
	"redeliver/grader/verdict"
	"redeliver/static"
	"redeliver/web/auth"
	"redeliver/web/jobs"
	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/views/htmlcheck"
)

// The site of these tests shares its host with others.
const (
	basePath  = "/redeliver"
	sharedURL = "https://shared.example"
)

// crawler follows the addresses that the pages of a site contain, as one visitor.
type crawler struct {
	v        *visitor
	router   *echo.Echo
	routes   map[string]bool // by method and path
	asked    map[string]int  // addresses that were asked for, by method, route and language
	seen     map[string]bool
	waiting  []string // paths
	followed int
}

func newCrawler(t *testing.T, v *visitor) *crawler {
	t.Helper()
	router, ok := v.b.srv.handler.(*echo.Echo)
	if !ok {
		t.Fatalf("the handler is a %T", v.b.srv.handler)
	}
	c := &crawler{v: v, router: router, routes: map[string]bool{}, asked: map[string]int{}, seen: map[string]bool{}}
	for _, r := range router.Routes() {
		c.routes[r.Method+" "+r.Path] = true
	}
	return c
}

// route is what answers an address; "" for nothing.
func (c *crawler) route(method, path string) string {
	r := httptest.NewRequest(method, path, nil)
	found := c.router.NewContext(r, nil)
	c.router.Router().Find(method, r.URL.EscapedPath(), found)
	if !c.routes[method+" "+found.Path()] { // or the one that answers what is not there
		return ""
	}
	return found.Path()
}

// kind is what addresses have in common of which two are enough to be asked for.
func (c *crawler) kind(method, path string) string {
	lang, _, _ := strings.Cut(strings.TrimPrefix(path, basePath+"/"), "/")
	return method + " " + c.route(method, path) + " " + lang
}

// found notes an address of a page.
func (c *crawler) found(t *testing.T, where, method, address string) {
	t.Helper()
	base, err := url.Parse(sharedURL + where)
	if err != nil {
		t.Fatal(err)
	}
	u, err := base.Parse(address)
	if err != nil {
		t.Errorf("%s: %q: %v", where, address, err)
		return
	}
	own := strings.TrimPrefix(c.v.b.ts.URL, "http://")
	if u.Host != "shared.example" && u.Host != own || strings.HasPrefix(address, "#") {
		return
	}
	if !strings.HasPrefix(u.Path, basePath+"/") {
		t.Errorf("%s leads to %s", where, address)
		return
	}
	u.Scheme, u.Host, u.Fragment = "", "", ""
	path := u.String()
	if c.seen[method+path] {
		return
	}
	c.seen[method+path] = true
	if c.route(method, path) == "" && !strings.HasSuffix(path, "/none") {
		t.Errorf("%s: nothing answers %s %s", where, method, path)
		return
	}
	if kind := c.kind(method, path); method == http.MethodGet && c.asked[kind] < 2 {
		c.asked[kind]++
		c.waiting = append(c.waiting, path)
	}
}

// read finds every address in a page: in the attributes that hold one, and in any other
// that begins like one. Addresses in the text begin with scheme and host.
func (c *crawler) read(t *testing.T, where, page string) {
	t.Helper()
	for _, site := range []string{sharedURL, c.v.b.ts.URL} {
		for i, after := range strings.Split(page, site) {
			if i > 0 && !strings.HasPrefix(after, basePath+"/") {
				t.Errorf("%s names %s%.30s", where, site, after)
			}
		}
	}
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			switch a.Key {
			case "href", "src", "hx-get", "sse-connect":
				c.found(t, where, http.MethodGet, a.Val)
			case "action", "formaction":
				c.found(t, where, methodOf(n), a.Val)
			case "hx-post", "data-drafts":
				c.found(t, where, http.MethodPost, a.Val)
			default:
				if strings.HasPrefix(a.Val, "/") || strings.HasPrefix(a.Val, sharedURL) || strings.HasPrefix(a.Val, c.v.b.ts.URL) {
					c.found(t, where, http.MethodGet, a.Val)
				}
			}
		}
	}
}

// methodOf is how the form of an element is sent.
func methodOf(n *html.Node) string {
	for ; n != nil; n = n.Parent {
		for _, a := range n.Attr {
			if n.Data == "form" && a.Key == "method" {
				return strings.ToUpper(a.Val)
			}
		}
	}
	return http.MethodGet
}

// ask asks for one address and reads what comes. What is outside of the prefix is not
// there, and neither is none, whose addresses without a language lead to those with one.
func (c *crawler) ask(t *testing.T, path string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.v.b.ts.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	c.followed++
	outside, none := path != basePath && !strings.HasPrefix(path, basePath+"/"), strings.HasSuffix(path, "/none")
	if missing := res.StatusCode == http.StatusNotFound; outside && !missing || !missing && res.StatusCode >= http.StatusBadRequest || missing && !outside && !none {
		t.Errorf("%s: status %d", path, res.StatusCode)
	}
	if to := res.Header.Get("Location"); to != "" {
		c.found(t, path, http.MethodGet, to)
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		var page bytes.Buffer
		if _, err := page.ReadFrom(res.Body); err != nil {
			t.Fatal(err)
		}
		c.read(t, path, page.String())
	}
}

// crawl begins at some addresses and goes on until there are no new ones.
func (c *crawler) crawl(t *testing.T, from ...string) {
	t.Helper()
	for _, path := range from {
		c.ask(t, path)
	}
	for len(c.waiting) > 0 {
		path := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.ask(t, path)
	}
}

// sharedSite is a site under a prefix with something on each of its pages.
type sharedSite struct {
	*testBundle
	by store.Actor
}

func setupShared(t *testing.T) *sharedSite {
	t.Helper()
	b := setup(t, Config{
		BaseURL: sharedURL, BasePath: basePath, Provider: newTestProvider(t).config(), Webhooks: allowing(t, "hooks.example"),
		RunsPerMinute: 10_000, DrawingsPerMinute: 10_000,
	}, exercises.Open(exercises.Builtin(), nil))
	b.start(t)
	return &sharedSite{b, newOwner(t, b)}
}

// starter is the form with the starter of core/charge-once as it was handed out.
func (b *sharedSite) starter(t *testing.T) url.Values {
	t.Helper()
	e, ok := b.srv.catalog.Exercise("core/charge-once")
	if !ok {
		t.Fatal("core/charge-once is not there")
	}
	sent := url.Values{views.BaseField: {"0"}}
	for _, f := range e.Starter {
		sent.Set(views.FieldOf(f.Name), string(f.Content))
	}
	return sent
}

// submit hands the starter in at the page of the exercise and returns where that leads.
func (b *sharedSite) submit(t *testing.T, v *visitor, page string) string {
	t.Helper()
	a := v.post(t, page+"/submissions", b.starter(t))
	path, _, _ := strings.Cut(a.header.Get("Location"), "?")
	if a.status != http.StatusSeeOther || !strings.HasPrefix(path, basePath+"/en/") {
		t.Fatalf("status %d to %q", a.status, path)
	}
	return path
}

// Whatever a page leads to lies under the prefix and is there, in every language.
func TestBasePathOfEveryAddress(t *testing.T) {
	t.Parallel()
	b := setupShared(t)
	story := b.story(t)
	exercise := basePath + exercisePage

	reader := b.visitor(t)
	failed := b.submit(t, reader, exercise)
	b.grader.say("happy-path")
	reader.get(t, failed, http.StatusOK)
	b.grader.verdicts <- story
	b.graded(t, reader, failed)

	assignment := newAssignment(t, b.testBundle, b.by, store.Assignment{
		Exercises: []string{"core/charge-once", "core/check-then-insert"}, Limit: time.Hour, WarmUp: "core/state-not-increment", AllPhases: true, Hints: true, Approaches: true,
	})
	sits, _ := newCandidate(t, b.testBundle, b.by, assignment)
	candidate, sitting := b.visitor(t), basePath+"/en/a/"+sits
	candidate.post(t, sitting+"/start", nil)
	for _, text := range []string{"package handler // a text\n", "package handler // b text\n"} {
		token, _ := newCandidate(t, b.testBundle, b.by, assignment)
		v, link := b.visitor(t), basePath+"/en/a/"+token
		v.post(t, link+"/start", nil)
		sent := b.starter(t)
		sent.Set(views.FieldOf("handler.go"), strings.Repeat(text, 10))
		v.post(t, link+"/exercises/core/charge-once/submissions", sent)
		b.grader.verdicts <- story
		if a := v.post(t, link+"/end", nil); a.status != http.StatusSeeOther || a.header.Get("Location") != link {
			t.Errorf("the end: status %d to %q", a.status, a.header.Get("Location"))
		}
	}
	b.submit(t, candidate, sitting+"/exercises/core/charge-once")
	b.grader.verdicts <- story
	invited, _ := newCandidate(t, b.testBundle, b.by, assignment)

	// From here on the grader is asked for what is watched.
	b.grader.samples = func(jobs.Request) verdict.Finding { return story.Findings[0] }

	t.Run("Reader", func(t *testing.T) {
		reader.post(t, exercise+"/drafts", b.starter(t))
		c := newCrawler(t, reader)
		c.crawl(t, basePath, basePath+"/", failed, exercise+"?version=0", basePath+"/en/search?q=commit", basePath+"/en/runs/"+story.Findings[0].Schedule,
			basePath+"/en/runs/none", basePath+"/en/none", basePath+"/none", "/", "/en/", "/en/exercises", "/none", basePath+"x/en/", basePath+"/healthz/none")
		if c.followed < 100 {
			t.Errorf("%d addresses were followed", c.followed)
		}
	})

	t.Run("Candidate", func(t *testing.T) {
		c := newCrawler(t, candidate)
		c.crawl(t, sitting, basePath+"/en/a/"+invited, basePath+"/en/a/none")
		if c.followed < 30 {
			t.Errorf("%d addresses were followed", c.followed)
		}
	})

	t.Run("Owner", func(t *testing.T) {
		owner := b.visitor(t)
		if a := owner.post(t, basePath+"/en/sign-in", url.Values{views.LoginField: {"ada"}, views.PasswordField: {testPassword}}); a.header.Get("Location") != basePath+"/en/account" {
			t.Fatalf("signing in: status %d to %q", a.status, a.header.Get("Location"))
		}
		c := newCrawler(t, owner)
		// Pages that answer a form with what they show once.
		links := fmt.Sprintf("%s/en/assign/%d/", basePath, assignment.ID)
		for path, form := range map[string]url.Values{
			"/en/account/tokens":                {views.NameField: {"a program"}},
			"/en/people/invitations":            {views.RoleField: {"interviewer"}},
			"/en/people/webhooks":               {views.URLField: {"https://hooks.example/x"}},
			links[len(basePath):] + "links":     {views.NameField: {"Linus"}},
			links[len(basePath):] + "open-link": nil,
		} {
			a := owner.post(t, basePath+path, form)
			if a.status != http.StatusOK {
				t.Errorf("%s: status %d: %s", path, a.status, a.body)
			}
			c.read(t, basePath+path, a.body)
		}
		c.crawl(t, basePath+"/", basePath+"/en/people/webhooks", fmt.Sprintf("%s/en/assign/%d/compare?a=2&b=3", basePath, assignment.ID))
		if c.followed < 200 {
			t.Errorf("%d addresses were followed", c.followed)
		}
	})
}

// The prefix without a slash leads to the first page; what machines ask has none.
func TestBasePathRedirects(t *testing.T) {
	t.Parallel()
	b := setupShared(t)
	v := b.visitor(t)
	for path, want := range map[string]string{
		basePath:                            basePath + "/",
		basePath + "?x=1":                   basePath + "/",
		basePath + "/":                      basePath + "/en/",
		basePath + "/en":                    basePath + "/en/",
		basePath + "/questions?topic=x":     basePath + "/en/questions?topic=x",
		basePath + exercisePage + "/drafts": basePath + exercisePage,
		basePath + "/exercises//evil.example/%0d%0aX:1": basePath + "/en/exercises//evil.example/%0D%0AX:1",
	} {
		a := v.do(t, http.MethodGet, path, nil, nil)
		if got := a.header.Get("Location"); a.status/100 != 3 || got != want {
			t.Errorf("%s: status %d to %q, want %q", path, a.status, got, want)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		v.get(t, path, http.StatusOK)
		v.get(t, basePath+path, http.StatusNotFound)
	}
	for _, path := range []string{"/", "/en/", "/exercises", "/api/v1/openapi.json", static.URL("app.css"), OIDCCallback, "/redeliver%2Fen/", "/%72edeliver/en/", "/redeliver.example/en/", "//redeliver/en/"} {
		v.get(t, path, http.StatusNotFound)
	}
	asset := v.get(t, basePath+static.URL("app.css"), http.StatusOK)
	if asset.header.Get("Cache-Control") != "public, max-age=31536000, immutable" || !strings.HasPrefix(asset.header.Get("Content-Type"), "text/css") {
		t.Errorf("a style sheet has %v", asset.header)
	}
}

// Sites on one host have cookies of their own, and each keeps to its own.
func TestBasePathCookies(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		names := map[string]bool{}
		for _, path := range []views.BasePath{"", "/a", "/a/b", "/a.b"} {
			b := setup(t, Config{BasePath: path, SecureCookies: secure, Provider: newTestProvider(t).config()}, testCatalog())
			by := newOwner(t, b)
			v := b.visitor(t)
			var set []string
			note := func(a answer) {
				set = append(set, a.header.Values("Set-Cookie")...)
			}
			note(v.get(t, string(path)+exercisePage, http.StatusOK))
			note(v.get(t, string(path)+"/en/sign-in/oidc", http.StatusFound))
			note(v.post(t, string(path)+"/en/sign-in", url.Values{views.LoginField: {by.Person.Login}, views.PasswordField: {testPassword}}))
			if len(set) != 4 {
				t.Fatalf("%q: %q", path, set)
			}
			for _, line := range set {
				name, attributes, _ := strings.Cut(line, "=")
				if names[name] {
					t.Errorf("two sites on a host have the cookie %s", name)
				}
				names[name] = true
				if !strings.Contains(attributes, "Path=/;") || strings.Contains(attributes, "Domain") || strings.Contains(attributes, "Secure;") != secure {
					t.Errorf("%s", line)
				}
				if strings.HasPrefix(name, "__Host-") != secure {
					t.Errorf("%s is for this host alone? %v", name, secure)
				}
			}
		}
		for _, want := range []string{"session", "session+a", "redeliver+a+b", "language+a.b", "oidc+a"} {
			if !names[want] && !names["__Host-"+want] {
				t.Errorf("no cookie %s in %v", want, names)
			}
		}
	}
}

// Storage has no paths: emptying it would empty that of the other sites on the host.
func TestBasePathForget(t *testing.T) {
	t.Parallel()
	v := setup(t, Config{BasePath: basePath}, testCatalog()).visitor(t)
	v.post(t, basePath+exercisePage+"/drafts", form(0, "package handler\n"))
	a := v.post(t, basePath+"/en/progress/forget", url.Values{"sure": {"yes"}})
	if a.status != http.StatusSeeOther || a.header.Values("Clear-Site-Data") != nil {
		t.Errorf("status %d, header %v", a.status, a.header)
	}
}

// The provider sends browsers back to the prefix, and the site leads on from there.
func TestBasePathProvider(t *testing.T) {
	t.Parallel()
	p := newTestProvider(t)
	p.site = sharedURL + basePath
	b := setup(t, Config{BaseURL: sharedURL, BasePath: basePath, Provider: p.config()}, testCatalog())
	token, _, err := b.srv.auth.Invite(t.Context(), newOwner(t, b), store.Interviewer, "")
	if err != nil {
		t.Fatal(err)
	}
	v := b.visitor(t)
	a := v.through(t, p, basePath+"/de/invitations/"+token+"/oidc", map[string]any{"sub": "bob", "email": "bob@example.org", "email_verified": true, "name": "Bob"})
	if got := a.header.Get("Location"); a.status != http.StatusSeeOther || got != basePath+"/de/account" {
		t.Fatalf("status %d to %q", a.status, got)
	}
	htmlcheck.Page(t, v.get(t, basePath+"/de/account", http.StatusOK).body, htmlcheck.In(".account-nav a", htmlcheck.Text("Bob")))
}

// Programs find the API by its description, and everything else by what the API and
// webhooks say.
func TestBasePathAPI(t *testing.T) {
	t.Parallel()
	b := setupShared(t)
	token := auth.NewToken()
	if err := b.st.AddToken(t.Context(), b.by, store.HashToken(token), store.Token{Name: "a test"}, b.srv.cfg.Now()); err != nil {
		t.Fatal(err)
	}
	hook, err := b.st.AddWebhook(t.Context(), b.by, store.Webhook{URL: "https://hooks.example/x", Secret: "whsec_x"}, b.srv.cfg.Now())
	if err != nil {
		t.Fatal(err)
	}
	v := b.visitor(t)
	ask := func(method, path, body string) map[string]any {
		t.Helper()
		a := v.do(t, method, path, strings.NewReader(body), http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}})
		var out map[string]any
		if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status/100 != 2 {
			t.Fatalf("%s %s: status %d, %v: %s", method, path, a.status, err, a.body)
		}
		return out
	}
	site := at(t, ask("GET", basePath+"/api/v1/openapi.json", ""), "servers", 0, "url")
	if site != sharedURL+basePath {
		t.Fatalf("the description is of %v", site)
	}
	for range 2 {
		ask("POST", basePath+"/api/v1/assignments", `{"title":"Backend","lang":"de","exercises":["core/charge-once"],"minutes":60,"retain_days":30}`)
	}
	next, _ := ask("GET", basePath+"/api/v1/assignments?limit=1", "")["next"].(string)
	first := at(t, ask("GET", next, ""), "items", 0, "id")

	link, _ := ask("POST", fmt.Sprintf("%s/api/v1/assignments/%v/candidates", basePath, first), `{"name":"Grace"}`)["link"].(string)
	sitting, ok := strings.CutPrefix(link, sharedURL)
	if !ok || !strings.HasPrefix(sitting, basePath+"/de/a/") {
		t.Fatalf("the link is %q", link)
	}
	if a := v.post(t, sitting+"/start", nil); a.status != http.StatusSeeOther || a.header.Get("Location") != sitting {
		t.Fatalf("status %d to %q", a.status, a.header.Get("Location"))
	}
	sent, err := b.st.Deliveries(t.Context(), hook, 0, 1)
	if err != nil || len(sent) != 1 {
		t.Fatal(sent, err)
	}
	var message struct{ Data struct{ Report string } }
	if err := json.Unmarshal([]byte(sent[0].Body), &message); err != nil {
		t.Fatal(err)
	}
	if report := ask("GET", message.Data.Report, ""); report["name"] != "Grace" {
		t.Errorf("%s leads to %v", message.Data.Report, report)
	}

	for _, path := range []string{"/api/v1/none", "/api/v1/assignments"} { // problems are for programs, too
		if a := v.do(t, "GET", basePath+path, nil, nil); !strings.HasPrefix(a.header.Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: %v", path, a.header)
		}
	}
}

// The description says as much of the site as is known.
func TestAPIDescriptionNamesTheSite(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]Config{
		"/":                  {},
		basePath:             {BasePath: basePath},
		sharedURL:            {BaseURL: sharedURL},
		sharedURL + basePath: {BaseURL: sharedURL, BasePath: basePath},
	} {
		a := setup(t, cfg, testCatalog()).visitor(t).get(t, string(cfg.BasePath)+"/api/v1/openapi.json", http.StatusOK)
		var described struct{ Servers []struct{ URL string } }
		if err := json.Unmarshal([]byte(a.body), &described); err != nil || len(described.Servers) != 1 || described.Servers[0].URL != want {
			t.Errorf("%+v, want %s, err %v", described, want, err)
		}
	}
}
