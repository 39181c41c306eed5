package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"redeliver/static"
	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
)

// access is what one address answers to each role: a stranger without a cookie,
// the candidate whose browser wrote the submission and started the lab, an
// interviewer, and an owner. A place in braces is filled by accessBundle.
//
// An address that is not in the table makes the test fail, so whoever adds one
// decides here whom it is for.
type access struct {
	method, route, path string

	stranger, candidate, interviewer, owner int

	form url.Values
}

// anybody gets the same answer.
func anybody(method, route, path string, status int, form ...string) access {
	return access{method, route, path, status, status, status, status, values(form)}
}

// writer is for the browser that wrote something: accounts open no door to it.
func writer(method, route, path string, status int, form ...string) access {
	return access{method, route, path, 404, status, 404, 404, values(form)}
}

// staff is for everybody with an account.
func staff(method, route, path string, status int, form ...string) access {
	return access{method, route, path, 404, 404, status, status, values(form)}
}

// ownersOnly is for owners.
func ownersOnly(method, route, path string, status int, form ...string) access {
	return access{method, route, path, 404, 404, 404, status, values(form)}
}

func values(pairs []string) url.Values {
	out := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		out.Set(pairs[i], pairs[i+1])
	}
	return out
}

const testPassword = "words of a test password"

func accessTable() []access {
	task := []string{views.BaseField, "99", views.FieldOf("handler.go"), "package handler", views.FieldOf("schema.sql"), ""}
	return []access{
		anybody("GET", "/healthz", "/healthz", 200),
		anybody("GET", "/readyz", "/readyz", 200),
		anybody("GET", "/metrics", "/metrics", 404), // for machines with a token only
		anybody("GET", static.Prefix+"*", static.URL("app.css"), 200),

		anybody("GET", "/", "/", 302),
		anybody("GET", "/questions", "/questions", 302),
		anybody("GET", "/questions/*", "/questions/x", 302),
		anybody("GET", "/glossary", "/glossary", 302),
		anybody("GET", "/exercises", "/exercises", 302),
		anybody("GET", "/exercises/*", "/exercises/x", 302),
		anybody("GET", "/search", "/search", 302),
		anybody("GET", "/labs", "/labs", 302),
		anybody("GET", "/labs/*", "/labs/x", 302),
		anybody("GET", "/submissions/*", "/submissions/x", 302),
		anybody("GET", "/runs/*", "/runs/x", 302),
		anybody("GET", "/review", "/review", 302),
		anybody("GET", "/progress", "/progress", 302),
		anybody("GET", "/sign-in", "/sign-in", 302),
		anybody("GET", "/invitations/*", "/invitations/x", 302),
		anybody("GET", "/account", "/account", 302),
		anybody("GET", "/people", "/people", 302),
		anybody("GET", "/people/*", "/people/1", 302),

		anybody("GET", "/:lang", "/en", 302),
		anybody("GET", "/:lang/", "/en/", 200),
		anybody("GET", "/:lang/card.png", "/en/card.png", 200),
		anybody("GET", "/:lang/questions/:slug/card.png", "/en/questions/process-idempotently/card.png", 200),
		anybody("GET", "/:lang/exercises/:pack/:slug/card.png", exercisePage+"/card.png", 200),
		anybody("GET", "/:lang/exercises/:pack/:slug/card.png", "/en/exercises/core/secret/card.png", 404),
		anybody("GET", "/:lang/labs/:slug/card.png", "/en/labs/lost-ack/card.png", 200),
		anybody("GET", "/:lang/questions", "/en/questions", 200),
		anybody("GET", "/:lang/questions/:slug", "/en/questions/process-idempotently", 200),
		// An answer is its writer's: these addresses name nobody.
		anybody("GET", "/:lang/questions/:slug/own-answer", "/en/questions/process-idempotently/own-answer", 303),
		anybody("POST", "/:lang/questions/:slug/own-answer", "/en/questions/process-idempotently/own-answer", 303, views.AnswerField, "With a key."),
		anybody("GET", "/:lang/glossary", "/en/glossary", 200),
		anybody("GET", "/:lang/search", "/en/search?q=offset", 200),
		anybody("GET", "/:lang/exercises", "/en/exercises", 200),
		anybody("GET", "/:lang/exercises/:pack/:slug", exercisePage, 200),
		anybody("GET", "/:lang/exercises/:pack/:slug/watch", "/en/exercises/core/nothing/watch", 404),
		anybody("GET", "/:lang/exercises/:pack/:slug/watch/:wrong", exercisePage+"/watch/nothing", 404),
		anybody("GET", "/:lang/exercises/:pack/:slug/drafts", exercisePage+"/drafts", 303),
		anybody("GET", "/:lang/exercises/:pack/:slug/checks", exercisePage+"/checks", 303),
		anybody("POST", "/:lang/exercises/:pack/:slug/checks", exercisePage+"/checks", 400), // no text
		anybody("GET", "/:lang/exercises/:pack/:slug/submissions", exercisePage+"/submissions", 303),
		anybody("GET", "/:lang/exercises/:pack/:slug/reset", exercisePage+"/reset", 303),
		anybody("POST", "/:lang/exercises/:pack/:slug/reset", exercisePage+"/reset", 303, task...),
		// Everybody has a history of its own; a version of a draft is its writer's.
		anybody("GET", "/:lang/exercises/:pack/:slug/history", exercisePage+"/history", 200),
		writer("GET", "/:lang/exercises/:pack/:slug", exercisePage+"?version=1", 200),
		anybody("GET", "/:lang/exercises/:pack/:slug/predictions", exercisePage+"/predictions", 303),
		// Who has handed something in cannot predict any more.
		{"POST", "/:lang/exercises/:pack/:slug/predictions", exercisePage + "/predictions", 303, 422, 303, 303, values([]string{views.GuessField, "passed"})},
		// What was practised is each browser's own: these addresses name nobody.
		anybody("GET", "/:lang/review", "/en/review", 200),
		anybody("POST", "/:lang/review", "/en/review", 400), // no card
		anybody("GET", "/:lang/progress", "/en/progress", 200),
		anybody("GET", "/:lang/progress/redeliver-progress.json", "/en/progress/redeliver-progress.json", 200),
		anybody("GET", "/:lang/progress/import", "/en/progress/import", 303),
		anybody("GET", "/:lang/progress/forget", "/en/progress/forget", 303),
		anybody("POST", "/:lang/progress/import", "/en/progress/import", 400), // no file
		anybody("POST", "/:lang/progress/forget", "/en/progress/forget", 303, "sure", "yes"),
		// Exercises that are only assigned are there for nobody yet.
		anybody("GET", "/:lang/exercises/:pack/:slug", "/en/exercises/core/secret", 404),
		anybody("POST", "/:lang/exercises/:pack/:slug/drafts", exercisePage+"/drafts", 303, task...),
		anybody("POST", "/:lang/exercises/:pack/:slug/submissions", exercisePage+"/submissions", 303, task...),
		anybody("POST", "/:lang/exercises/:pack/:slug/submissions", "/en/exercises/core/secret/submissions", 404, task...),
		writer("GET", "/:lang/submissions/:id", "{submission}", 200),
		writer("GET", "/:lang/submissions/:id/events", "{submission}/events", 200),
		anybody("GET", "/:lang/runs/:token", "/en/runs/nothing", 404),

		anybody("GET", "/:lang/labs", "/en/labs", 200),
		anybody("GET", "/:lang/labs/:slug", "/en/labs/lost-ack", 200),
		anybody("POST", "/:lang/labs/:slug", "/en/labs/lost-ack", 303, "action", "start"),
		anybody("GET", "/:lang/labs/:slug/events", "/en/labs/nothing/events", 404),

		// Who is signed in is led on.
		{"GET", "/:lang/sign-in", "/en/sign-in", 200, 200, 303, 303, nil},
		anybody("POST", "/:lang/sign-in", "/en/sign-in", 422, views.LoginField, "nobody", views.PasswordField, testPassword),
		anybody("GET", "/:lang/sign-in/oidc", "/en/sign-in/oidc", 302),
		anybody("GET", "/:lang/invitations/:token/oidc", "/en/invitations/{link}/oidc", 302),
		anybody("GET", OIDCCallback, OIDCCallback, 400), // was not begun here
		anybody("GET", "/:lang/invitations/:token", "/en/invitations/{link}", 200),
		anybody("GET", "/:lang/invitations/:token", "/en/invitations/"+strings.Repeat("A", auth.TokenLength), 404),
		anybody("POST", "/:lang/invitations/:token", "/en/invitations/{link}", 303,
			views.NameField, "New", views.LoginField, "{login}", views.PasswordField, testPassword),
		anybody("POST", "/:lang/invitations/:token", "/en/invitations/"+strings.Repeat("A", auth.TokenLength), 404,
			views.NameField, "New", views.LoginField, "{login}", views.PasswordField, testPassword),

		staff("POST", "/:lang/sign-out", "/en/sign-out", 303),
		staff("GET", "/:lang/account", "/en/account", 200),
		staff("GET", "/:lang/account/password", "/en/account/password", 303),
		staff("POST", "/:lang/account/password", "/en/account/password", 303,
			views.OldPasswordField, testPassword, views.PasswordField, "another "+testPassword),
		staff("POST", "/:lang/account/sign-out-everywhere", "/en/account/sign-out-everywhere", 303),

		ownersOnly("GET", "/:lang/people", "/en/people", 200),
		ownersOnly("GET", "/:lang/people/log", "/en/people/log", 200),
		ownersOnly("GET", "/:lang/people/invitations", "/en/people/invitations", 303),
		ownersOnly("POST", "/:lang/people/invitations", "/en/people/invitations", 200, views.RoleField, "owner"),
		ownersOnly("POST", "/:lang/people/invitations/:id/cancel", "/en/people/invitations/{invitation}/cancel", 303),
		ownersOnly("GET", "/:lang/people/:id", "/en/people/{person}", 200),
		ownersOnly("GET", "/:lang/people/:id", "/en/people/123456", 404),
		ownersOnly("GET", "/:lang/people/:id", "/en/people/x", 404),
		ownersOnly("GET", "/:lang/people/:id/password-link", "/en/people/{person}/password-link", 303),
		ownersOnly("POST", "/:lang/people/:id/password-link", "/en/people/{person}/password-link", 200),
		ownersOnly("POST", "/:lang/people/:id/sign-out", "/en/people/{person}/sign-out", 303),
		ownersOnly("POST", "/:lang/people/:id/remove", "/en/people/{person}/remove", 303),
	}
}

// accessBundle makes what the places of the table stand for, anew for each
// request: some of them use it up.
type accessBundle struct {
	*testBundle
	root  store.Actor // an owner that is never signed in
	made  int
	owned string // the submission of the candidate at hand
}

func setupAccess(t *testing.T) *accessBundle {
	t.Helper()
	b := &accessBundle{testBundle: setup(t, Config{NewBrowsersPerHour: 10_000, Provider: newTestProvider(t).config()}, testCatalog())}
	token, _, err := b.srv.FirstOwner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	root, err := b.srv.auth.Accept(t.Context(), token, auth.Newcomer{Login: "root", Name: "Root", Password: testPassword}, "")
	if err != nil {
		t.Fatal(err)
	}
	b.root = store.Actor{Person: root.Person}
	return b
}

// candidate is a new browser that has handed something in.
func (b *accessBundle) candidate(t *testing.T) *visitor {
	t.Helper()
	v := b.visitor(t)
	b.owned, _ = v.submit(t, 0, "package handler // of the candidate\n")
	return v
}

func (b *accessBundle) login() string {
	b.made++
	return fmt.Sprint("person-", b.made)
}

func (b *accessBundle) link(t *testing.T, role store.Role) string {
	t.Helper()
	token, _, err := b.srv.auth.Invite(t.Context(), b.root, role, "")
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// person is somebody new, and not signed in.
func (b *accessBundle) person(t *testing.T) store.Person {
	t.Helper()
	p, err := b.srv.auth.Accept(t.Context(), b.link(t, store.Interviewer),
		auth.Newcomer{Login: b.login(), Name: "Somebody", Password: testPassword}, "")
	if err != nil {
		t.Fatal(err)
	}
	return p.Person
}

// signedIn is a new browser of a new person.
func (b *accessBundle) signedIn(t *testing.T, role store.Role) *visitor {
	t.Helper()
	v := b.visitor(t)
	a := v.post(t, "/en/invitations/"+b.link(t, role), url.Values{
		views.NameField: {"Somebody"}, views.LoginField: {b.login()}, views.PasswordField: {testPassword},
	})
	if a.status != http.StatusSeeOther {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	return v
}

// fill puts something new in the places.
func (b *accessBundle) fill(t *testing.T, s string) string {
	t.Helper()
	replace := func(place string, with func() string) {
		if strings.Contains(s, place) {
			s = strings.ReplaceAll(s, place, with())
		}
	}
	replace("{submission}", func() string { return b.owned })
	replace("{login}", b.login)
	replace("{link}", func() string { return b.link(t, store.Interviewer) })
	replace("{person}", func() string { return fmt.Sprint(b.person(t).ID) })
	replace("{invitation}", func() string {
		b.link(t, store.Interviewer)
		open, err := b.st.Invitations(t.Context(), b.srv.cfg.Now())
		if err != nil || len(open) == 0 {
			t.Fatal(open, err)
		}
		return fmt.Sprint(open[len(open)-1].ID)
	})
	return s
}

// status is what a request gets. It does not read on: streams have no end.
func (b *accessBundle) status(t *testing.T, v *visitor, row access) int {
	t.Helper()
	form := url.Values{}
	for name, list := range row.form {
		form.Set(name, b.fill(t, list[0]))
	}
	r, err := http.NewRequestWithContext(t.Context(), row.method, b.ts.URL+b.fill(t, row.path), strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}

func TestAccess(t *testing.T) {
	t.Parallel()
	b := setupAccess(t)
	for _, row := range accessTable() {
		for _, role := range []struct {
			name string
			v    *visitor
			want int
		}{
			{"stranger", b.visitor(t), row.stranger},
			{"candidate", b.candidate(t), row.candidate},
			{"interviewer", b.signedIn(t, store.Interviewer), row.interviewer},
			{"owner", b.signedIn(t, store.Owner), row.owner},
		} {
			if got := b.status(t, role.v, row); got != role.want {
				t.Errorf("%s %s as %s: %d, want %d", row.method, row.path, role.name, got, role.want)
			}
		}
	}
}

// The table has every address that the server knows, and no other.
func TestAccessTableIsWhole(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	e, ok := b.srv.handler.(*echo.Echo)
	if !ok {
		t.Fatalf("the handler is a %T", b.srv.handler)
	}
	known, listed := map[string]bool{}, map[string]bool{}
	for _, r := range e.Routes() {
		if r.Method != http.MethodHead && r.Method != echo.RouteNotFound { // HEAD goes with GET
			known[r.Method+" "+r.Path] = true
		}
	}
	for _, row := range accessTable() {
		listed[row.method+" "+row.route] = true
	}
	for route := range known {
		if !listed[route] {
			t.Errorf("%s is not in the table of access", route)
		}
	}
	for route := range listed {
		if !known[route] {
			t.Errorf("the table of access has %s, which is no address", route)
		}
	}
	if !slices.ContainsFunc(accessTable(), func(a access) bool { return a.owner != a.interviewer }) {
		t.Error("the table tells owners and interviewers nowhere apart")
	}
}
