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
	"redeliver/web/webhook"
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
	// body is sent to addresses for programs instead, with a token of who has an
	// account and without cookies.
	body string
}

// anybody gets the same answer.
func anybody(method, route, path string, status int, form ...string) access {
	return access{method, route, path, status, status, status, status, values(form), ""}
}

// writer is for the browser that wrote something: accounts open no door to it.
func writer(method, route, path string, status int, form ...string) access {
	return access{method, route, path, 404, status, 404, 404, values(form), ""}
}

// staff is for everybody with an account.
func staff(method, route, path string, status int, form ...string) access {
	return access{method, route, path, 404, 404, status, status, values(form), ""}
}

// ownersOnly is for owners.
func ownersOnly(method, route, path string, status int, form ...string) access {
	return access{method, route, path, 404, 404, 404, status, values(form), ""}
}

// tokens is for programs of everybody with an account.
func tokens(method, route, path string, status int, body string) access {
	return access{method, route, path, 401, 401, status, status, nil, body}
}

// ownersTokens is for programs of owners.
func ownersTokens(method, route, path string, status int, body string) access {
	return access{method, route, path, 401, 401, 404, status, nil, body}
}

func values(pairs []string) url.Values {
	out := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		out.Set(pairs[i], pairs[i+1])
	}
	return out
}

// The beginnings of the addresses of a report and of a sitting.
const (
	reportRoute       = "/:lang/assign/:aid/candidates/:cid"
	apiCandidateRoute = "/api/v1/assignments/:aid/candidates/:cid"
	sittingRoute      = "/:lang/a/:token"
)

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
		anybody("GET", "/account/*", "/account/tokens", 302),

		anybody("GET", "/assign", "/assign", 302),
		anybody("GET", "/assign/*", "/assign/1", 302),
		anybody("GET", "/a/*", "/a/x", 302),

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
		{"POST", "/:lang/exercises/:pack/:slug/predictions", exercisePage + "/predictions", 303, 422, 303, 303, values([]string{views.GuessField, "passed"}), ""},
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
		{"GET", "/:lang/sign-in", "/en/sign-in", 200, 200, 303, 303, nil, ""},
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

		staff("GET", "/:lang/account/tokens", "/en/account/tokens", 303),
		staff("POST", "/:lang/account/tokens", "/en/account/tokens", 200, views.NameField, "a program"),
		staff("POST", "/:lang/account/tokens/:id/revoke", "/en/account/tokens/{token}/revoke", 303),
		staff("POST", "/:lang/account/tokens/:id/revoke", "/en/account/tokens/{their-token}/revoke", 404), // also for owners

		// {assignment} belongs to whoever asks, {theirs} to somebody else.
		staff("GET", "/:lang/assign", "/en/assign", 200),
		staff("GET", "/:lang/assign/new", "/en/assign/new", 200),
		staff("POST", "/:lang/assign", "/en/assign", 303, views.TitleField, "Backend", views.ExercisesField, "core/charge-once",
			views.LangField, "en", views.MinutesField, "60", views.RetainField, "30"),
		staff("GET", "/:lang/assign/:id", "/en/assign/{assignment}", 200),
		ownersOnly("GET", "/:lang/assign/:id", "/en/assign/{theirs}", 200),
		staff("GET", "/:lang/assign/:id", "/en/assign/x", 404),
		staff("GET", "/:lang/assign/:id/links", "/en/assign/{assignment}/links", 303),
		staff("GET", "/:lang/assign/:id/open-link", "/en/assign/{assignment}/open-link", 303),
		staff("POST", "/:lang/assign/:id/links", "/en/assign/{assignment}/links", 200, views.NameField, "Grace"),
		ownersOnly("POST", "/:lang/assign/:id/links", "/en/assign/{theirs}/links", 200, views.NameField, "Grace"),
		staff("POST", "/:lang/assign/:id/open-link", "/en/assign/{assignment}/open-link", 200),
		ownersOnly("POST", "/:lang/assign/:id/open-link", "/en/assign/{theirs}/open-link", 200),
		staff("POST", "/:lang/assign/:id/open-link/cancel", "/en/assign/{assignment}/open-link/cancel", 303),
		ownersOnly("POST", "/:lang/assign/:id/open-link/cancel", "/en/assign/{theirs}/open-link/cancel", 303),
		staff("POST", "/:lang/assign/:id/delete", "/en/assign/{assignment}/delete", 303),
		ownersOnly("POST", "/:lang/assign/:id/delete", "/en/assign/{theirs}/delete", 303),
		staff("GET", "/:lang/assign/:id/compare", "/en/assign/{pair}", 200),
		ownersOnly("GET", "/:lang/assign/:id/compare", "/en/assign/{their-pair}", 200),
		staff("GET", "/:lang/assign/:id/compare", "/en/assign/{half-pair}", 404), // one of them sits elsewhere
		staff("GET", "/:lang/assign/:id/candidates.csv", "/en/assign/{assignment}/candidates.csv", 200),
		ownersOnly("GET", "/:lang/assign/:id/candidates.csv", "/en/assign/{theirs}/candidates.csv", 200),
		staff("GET", "/:lang/assign/:id/candidates.json", "/en/assign/{assignment}/candidates.json", 200),
		ownersOnly("GET", "/:lang/assign/:id/candidates.json", "/en/assign/{theirs}/candidates.json", 200),

		staff("GET", reportRoute, "/en/assign/{candidate}", 200),
		ownersOnly("GET", reportRoute, "/en/assign/{their-candidate}", 200),
		staff("GET", reportRoute+"/candidate.json", "/en/assign/{candidate}/candidate.json", 200),
		ownersOnly("GET", reportRoute+"/candidate.json", "/en/assign/{their-candidate}/candidate.json", 200),
		staff("GET", reportRoute+"/exercises/:pack/:slug", "/en/assign/{candidate}/exercises/core/charge-once", 200),
		ownersOnly("GET", reportRoute+"/exercises/:pack/:slug", "/en/assign/{their-candidate}/exercises/core/charge-once", 200),
		staff("GET", reportRoute+"/exercises/:pack/:slug", "/en/assign/{candidate}/exercises/core/secret", 404), // not assigned
		staff("GET", reportRoute+"/exercises/:pack/:slug/history", "/en/assign/{candidate}/exercises/core/charge-once/history", 200),
		ownersOnly("GET", reportRoute+"/exercises/:pack/:slug/history", "/en/assign/{their-candidate}/exercises/core/charge-once/history", 200),
		staff("GET", reportRoute+"/submissions/:id", "/en/assign/{candidate}/submissions/x", 404),
		staff("GET", reportRoute+"/submissions/:id/events", "/en/assign/{candidate}/submissions/x/events", 404),
		staff("GET", reportRoute+"/submissions/:id", "/en/assign/{handed-in}", 200),
		staff("GET", reportRoute+"/cancel", "/en/assign/{candidate}/cancel", 303),
		staff("GET", reportRoute+"/extra", "/en/assign/{candidate}/extra", 303),
		staff("GET", reportRoute+"/notes", "/en/assign/{candidate}/notes", 303),
		staff("GET", reportRoute+"/delete", "/en/assign/{candidate}/delete", 303),
		staff("POST", reportRoute+"/cancel", "/en/assign/{candidate}/cancel", 303),
		ownersOnly("POST", reportRoute+"/cancel", "/en/assign/{their-candidate}/cancel", 303),
		staff("POST", reportRoute+"/extra", "/en/assign/{candidate}/extra", 303, views.ExtraField, "15"),
		ownersOnly("POST", reportRoute+"/extra", "/en/assign/{their-candidate}/extra", 303, views.ExtraField, "15"),
		staff("POST", reportRoute+"/notes", "/en/assign/{candidate}/notes", 303, views.NoteField, "Good."),
		ownersOnly("POST", reportRoute+"/notes", "/en/assign/{their-candidate}/notes", 303, views.NoteField, "Good."),
		staff("POST", reportRoute+"/delete", "/en/assign/{candidate}/delete", 303),
		ownersOnly("POST", reportRoute+"/delete", "/en/assign/{their-candidate}/delete", 303),

		anybody("GET", "/api/v1/openapi.json", "/api/v1/openapi.json", 200),
		anybody("GET", "/api/v1/assignments", "/api/v1/assignments", 401), // a cookie does not count there
		tokens("GET", "/api/v1/assignments", "/api/v1/assignments", 200, "-"),
		tokens("POST", "/api/v1/assignments", "/api/v1/assignments", 201, `{"title":"x","lang":"en","exercises":["core/charge-once"],"retain_days":30}`),
		tokens("GET", "/api/v1/assignments/:aid", "/api/v1/assignments/{assignment}", 200, "-"),
		ownersTokens("GET", "/api/v1/assignments/:aid", "/api/v1/assignments/{theirs}", 200, "-"),
		tokens("POST", "/api/v1/assignments/:aid/close", "/api/v1/assignments/{assignment}/close", 200, "-"),
		ownersTokens("POST", "/api/v1/assignments/:aid/close", "/api/v1/assignments/{theirs}/close", 200, "-"),
		tokens("GET", "/api/v1/assignments/:aid/candidates", "/api/v1/assignments/{assignment}/candidates", 200, "-"),
		ownersTokens("GET", "/api/v1/assignments/:aid/candidates", "/api/v1/assignments/{theirs}/candidates", 200, "-"),
		tokens("POST", "/api/v1/assignments/:aid/candidates", "/api/v1/assignments/{assignment}/candidates", 201, `{"name":"Grace"}`),
		ownersTokens("POST", "/api/v1/assignments/:aid/candidates", "/api/v1/assignments/{theirs}/candidates", 201, `{"name":"Grace"}`),
		tokens("GET", apiCandidateRoute, "/api/v1/assignments/{candidate}", 200, "-"),
		ownersTokens("GET", apiCandidateRoute, "/api/v1/assignments/{their-candidate}", 200, "-"),
		tokens("GET", apiCandidateRoute+"/export", "/api/v1/assignments/{candidate}/export", 200, "-"),
		ownersTokens("GET", apiCandidateRoute+"/export", "/api/v1/assignments/{their-candidate}/export", 200, "-"),
		tokens("GET", apiCandidateRoute+"/submissions/:id", "/api/v1/assignments/{handed-in}", 200, "-"),
		ownersTokens("GET", apiCandidateRoute+"/submissions/:id", "/api/v1/assignments/{their-handed-in}", 200, "-"),
		tokens("GET", apiCandidateRoute+"/exercises/:pack/:slug/drafts/:version", "/api/v1/assignments/{drafted}", 200, "-"),
		ownersTokens("GET", apiCandidateRoute+"/exercises/:pack/:slug/drafts/:version", "/api/v1/assignments/{their-drafted}", 200, "-"),
		tokens("POST", apiCandidateRoute+"/cancel", "/api/v1/assignments/{candidate}/cancel", 200, "-"),
		ownersTokens("POST", apiCandidateRoute+"/cancel", "/api/v1/assignments/{their-candidate}/cancel", 200, "-"),
		tokens("PUT", apiCandidateRoute+"/extra-time", "/api/v1/assignments/{candidate}/extra-time", 200, `{"extra_minutes":5}`),
		ownersTokens("PUT", apiCandidateRoute+"/extra-time", "/api/v1/assignments/{their-candidate}/extra-time", 200, `{"extra_minutes":5}`),

		// Who has a candidate's link is that candidate, whoever else it is.
		anybody("GET", sittingRoute, "/en/a/{sitting}", 200),
		anybody("GET", sittingRoute, "/en/a/{open}", 200),
		anybody("GET", sittingRoute, "/en/a/nothing", 404),
		anybody("POST", sittingRoute, "/en/a/{open}", 303, views.NameField, "Linus"),
		anybody("POST", sittingRoute, "/en/a/{sitting}", 404, views.NameField, "Linus"),
		anybody("GET", sittingRoute+"/start", "/en/a/{sitting}/start", 303),
		anybody("GET", sittingRoute+"/end", "/en/a/{sitting}/end", 303),
		anybody("POST", sittingRoute+"/start", "/en/a/{invited}/start", 303),
		anybody("POST", sittingRoute+"/start", "/en/a/nothing/start", 404),
		anybody("POST", sittingRoute+"/end", "/en/a/{sitting}/end", 303),
		anybody("POST", sittingRoute+"/end", "/en/a/{open}/end", 404),
		anybody("GET", sittingRoute+"/exercises/:pack/:slug", "/en/a/{sitting}/exercises/core/charge-once", 200),
		anybody("GET", sittingRoute+"/exercises/:pack/:slug", "/en/a/{sitting}/exercises/core/secret", 404),      // not assigned
		anybody("GET", sittingRoute+"/exercises/:pack/:slug", "/en/a/{invited}/exercises/core/charge-once", 404), // before the start
		anybody("GET", sittingRoute+"/exercises/:pack/:slug", "/en/a/{ended}/exercises/core/charge-once", 410),
		anybody("GET", sittingRoute+"/exercises/:pack/:slug/drafts", "/en/a/{sitting}/exercises/core/charge-once/drafts", 303),
		anybody("GET", sittingRoute+"/exercises/:pack/:slug/checks", "/en/a/{sitting}/exercises/core/charge-once/checks", 303),
		anybody("POST", sittingRoute+"/exercises/:pack/:slug/checks", "/en/a/{sitting}/exercises/core/charge-once/checks", 400), // no text
		anybody("POST", sittingRoute+"/exercises/:pack/:slug/checks", "/en/a/{ended}/exercises/core/charge-once/checks", 410, task...),
		anybody("GET", sittingRoute+"/exercises/:pack/:slug/submissions", "/en/a/{sitting}/exercises/core/charge-once/submissions", 303),
		anybody("GET", sittingRoute+"/exercises/:pack/:slug/reset", "/en/a/{sitting}/exercises/core/charge-once/reset", 303),
		anybody("GET", sittingRoute+"/exercises/:pack/:slug/history", "/en/a/{sitting}/exercises/core/charge-once/history", 200),
		anybody("POST", sittingRoute+"/exercises/:pack/:slug/drafts", "/en/a/{sitting}/exercises/core/charge-once/drafts", 303, task...),
		anybody("POST", sittingRoute+"/exercises/:pack/:slug/drafts", "/en/a/{ended}/exercises/core/charge-once/drafts", 410, task...),
		anybody("POST", sittingRoute+"/exercises/:pack/:slug/reset", "/en/a/{sitting}/exercises/core/charge-once/reset", 303, task...),
		anybody("POST", sittingRoute+"/exercises/:pack/:slug/reset", "/en/a/{ended}/exercises/core/charge-once/reset", 410, task...),
		anybody("POST", sittingRoute+"/exercises/:pack/:slug/submissions", "/en/a/{sitting}/exercises/core/charge-once/submissions", 303, task...),
		anybody("POST", sittingRoute+"/exercises/:pack/:slug/submissions", "/en/a/{ended}/exercises/core/charge-once/submissions", 410, task...),
		anybody("POST", sittingRoute+"/exercises/:pack/:slug/submissions", "/en/a/{sitting}/exercises/core/secret/submissions", 404, task...),
		anybody("GET", sittingRoute+"/submissions/:id", "/en/a/{sitting}/submissions/x", 404),
		anybody("GET", sittingRoute+"/submissions/:id/events", "/en/a/{sitting}/submissions/x/events", 404),

		ownersOnly("GET", "/:lang/people", "/en/people", 200),
		ownersOnly("GET", "/:lang/people/log", "/en/people/log", 200),
		ownersOnly("GET", "/:lang/people/invitations", "/en/people/invitations", 303),
		ownersOnly("POST", "/:lang/people/invitations", "/en/people/invitations", 200, views.RoleField, "owner"),
		ownersOnly("POST", "/:lang/people/invitations/:id/cancel", "/en/people/invitations/{invitation}/cancel", 303),
		ownersOnly("GET", "/:lang/people/webhooks", "/en/people/webhooks", 200),
		ownersOnly("POST", "/:lang/people/webhooks", "/en/people/webhooks", 200, views.URLField, "https://hooks.example/x"),
		ownersOnly("GET", "/:lang/people/webhooks/:id", "/en/people/webhooks/{webhook}", 200),
		ownersOnly("GET", "/:lang/people/webhooks/:id", "/en/people/webhooks/123456", 404),
		ownersOnly("GET", "/:lang/people/webhooks/:id/test", "/en/people/webhooks/{webhook}/test", 303),
		ownersOnly("GET", "/:lang/people/webhooks/:id/delete", "/en/people/webhooks/{webhook}/delete", 303),
		ownersOnly("GET", "/:lang/people/webhooks/:id/deliveries/:did/repeat", "/en/people/webhooks/{webhook}/deliveries/1/repeat", 303),
		ownersOnly("POST", "/:lang/people/webhooks/:id/test", "/en/people/webhooks/{webhook}/test", 303),
		ownersOnly("POST", "/:lang/people/webhooks/:id/deliveries/:did/repeat", "/en/people/webhooks/{delivery}/repeat", 303),
		ownersOnly("POST", "/:lang/people/webhooks/:id/deliveries/:did/repeat", "/en/people/webhooks/{webhook}/deliveries/123456/repeat", 404),
		ownersOnly("POST", "/:lang/people/webhooks/:id/delete", "/en/people/webhooks/{webhook}/delete", 303),
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
	asks  store.Actor
}

func setupAccess(t *testing.T) *accessBundle {
	t.Helper()
	b := &accessBundle{testBundle: setup(t, Config{NewBrowsersPerHour: 10_000, APIPerMinute: 10_000, Webhooks: allowing(t, "public"), Provider: newTestProvider(t).config()}, testCatalog())}
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
	p, _, err := b.st.Password(t.Context(), fmt.Sprint("person-", b.made))
	if err != nil {
		t.Fatal(err)
	}
	v.person = p
	return v
}

// assignment is a new one of somebody.
func (b *accessBundle) assignment(t *testing.T, by store.Actor) store.Assignment {
	t.Helper()
	return newAssignment(t, b.testBundle, by, store.Assignment{})
}

// as is who asks, or, for who has no account, somebody who is not signed in.
func (b *accessBundle) as() store.Actor {
	if b.asks.Person.ID == 0 {
		return b.root
	}
	return b.asks
}

// candidatePath is the report of a new candidate, without what stands before.
func (b *accessBundle) candidatePath(t *testing.T, by store.Actor) (string, string) {
	t.Helper()
	a := b.assignment(t, by)
	token, c := newCandidate(t, b.testBundle, by, a)
	return fmt.Sprintf("%d/candidates/%d", a.ID, c.ID), token
}

// pair is the comparison of two new candidates, the second one of an assignment of
// somebody else.
func (b *accessBundle) pair(t *testing.T, by, other store.Actor) string {
	t.Helper()
	a := b.assignment(t, by)
	second := a
	if other != by {
		second = b.assignment(t, other)
	}
	_, one := newCandidate(t, b.testBundle, by, a)
	_, two := newCandidate(t, b.testBundle, other, second)
	return fmt.Sprintf("%d/compare?a=%d&b=%d", a.ID, one.ID, two.ID)
}

// sitting is the token of a new candidate who has started.
func (b *accessBundle) sitting(t *testing.T) string {
	t.Helper()
	token, c := newCandidate(t, b.testBundle, b.root, b.assignment(t, b.root))
	if err := b.queue.StartSitting(t.Context(), c, ""); err != nil {
		t.Fatal(err)
	}
	return token
}

// handedIn is the report of a new candidate who has handed something in, and what.
func (b *accessBundle) handedIn(t *testing.T, by store.Actor) (path, id string) {
	t.Helper()
	path, token := b.candidatePath(t, by)
	b.visitor(t).post(t, "/en/a/"+token+"/start", nil)
	a := b.visitor(t).post(t, "/en/a/"+token+"/exercises/core/charge-once/submissions", form(0, "package handler\n"))
	_, id, _ = strings.Cut(a.header.Get("Location"), "/submissions/")
	return path, id
}

// webhook is a new one, in place of the one before.
func (b *accessBundle) webhook(t *testing.T) int64 {
	t.Helper()
	list, err := b.st.Webhooks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range list {
		if err := b.st.DeleteWebhook(t.Context(), b.root, w.ID, b.srv.cfg.Now()); err != nil {
			t.Fatal(err)
		}
	}
	id, err := b.st.AddWebhook(t.Context(), b.root, store.Webhook{URL: "https://hooks.example/", Secret: webhook.NewSecret()}, b.srv.cfg.Now())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// token is a new one for programs of somebody.
func (b *accessBundle) token(t *testing.T, by store.Actor) string {
	t.Helper()
	token := auth.NewToken()
	if err := b.st.AddToken(t.Context(), by, store.HashToken(token), store.Token{Name: "a test"}, b.srv.cfg.Now()); err != nil {
		t.Fatal(err)
	}
	return token
}

func (b *accessBundle) tokenID(t *testing.T, by store.Actor) string {
	t.Helper()
	b.token(t, by)
	list, err := b.st.Tokens(t.Context(), by.Person.ID, b.srv.cfg.Now())
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return fmt.Sprint(list[len(list)-1].ID)
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
	replace("{assignment}", func() string { return fmt.Sprint(b.assignment(t, b.as()).ID) })
	replace("{theirs}", func() string { return fmt.Sprint(b.assignment(t, b.root).ID) })
	replace("{candidate}", func() string { path, _ := b.candidatePath(t, b.as()); return path })
	replace("{their-candidate}", func() string { path, _ := b.candidatePath(t, b.root); return path })
	replace("{invited}", func() string { _, token := b.candidatePath(t, b.root); return token })
	replace("{sitting}", func() string { return b.sitting(t) })
	replace("{ended}", func() string {
		token := b.sitting(t)
		if a := b.visitor(t).post(t, "/en/a/"+token+"/end", nil); a.status != http.StatusSeeOther {
			t.Fatalf("status %d", a.status)
		}
		return token
	})
	replace("{open}", func() string {
		token := auth.NewToken()
		if err := b.st.SetOpenLink(t.Context(), b.root, b.assignment(t, b.root).ID, store.HashToken(token), b.srv.cfg.Now()); err != nil {
			t.Fatal(err)
		}
		return token
	})
	replace("{handed-in}", func() string { path, id := b.handedIn(t, b.as()); return path + "/submissions/" + id })
	replace("{their-handed-in}", func() string { path, id := b.handedIn(t, b.root); return path + "/submissions/" + id })
	replace("{drafted}", func() string { path, _ := b.handedIn(t, b.as()); return path + "/exercises/core/charge-once/drafts/1" })
	replace("{their-drafted}", func() string { path, _ := b.handedIn(t, b.root); return path + "/exercises/core/charge-once/drafts/1" })
	replace("{pair}", func() string { return b.pair(t, b.as(), b.as()) })
	replace("{their-pair}", func() string { return b.pair(t, b.root, b.root) })
	replace("{half-pair}", func() string { return b.pair(t, b.as(), b.root) })
	replace("{webhook}", func() string { return fmt.Sprint(b.webhook(t)) })
	replace("{delivery}", func() string {
		hook := b.webhook(t)
		if err := b.queue.SendTest(t.Context(), b.root, hook); err != nil {
			t.Fatal(err)
		}
		list, err := b.st.Deliveries(t.Context(), hook, 0, 1)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return fmt.Sprintf("%d/deliveries/%d", hook, list[0].ID)
	})
	replace("{token}", func() string { return b.tokenID(t, b.as()) })
	replace("{their-token}", func() string { return b.tokenID(t, b.root) })
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
	b.asks = store.Actor{Person: v.person}
	form := url.Values{}
	for name, list := range row.form {
		form.Set(name, b.fill(t, list[0]))
	}
	r, err := http.NewRequestWithContext(t.Context(), row.method, b.ts.URL+b.fill(t, row.path), strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if row.body != "" {
		if r, err = http.NewRequestWithContext(t.Context(), row.method, r.URL.String(), strings.NewReader(strings.TrimPrefix(row.body, "-"))); err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if v.person.ID != 0 {
			r.Header.Set("Authorization", "Bearer "+b.token(t, b.asks))
			v = b.visitor(t)
		}
	}
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
