package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redeliver/exercises"
	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/views/htmlcheck"
)

// become signs somebody new in, through the page behind a link.
func (v *visitor) become(t *testing.T, token, login string) {
	t.Helper()
	a := v.post(t, "/en/invitations/"+token, newcomer(login))
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/en/account" {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
}

func newcomer(login string) url.Values {
	return url.Values{views.NameField: {"Name of " + login}, views.LoginField: {login}, views.PasswordField: {testPassword}}
}

// owner starts a site anew and signs its owner in.
func (b *testBundle) owner(t *testing.T) *visitor {
	t.Helper()
	token, _, err := b.srv.FirstOwner(t.Context())
	if err != nil || token == "" {
		t.Fatal(token, err)
	}
	v := b.visitor(t)
	v.become(t, token, "ada")
	return v
}

// invited makes a link on the page of an owner and returns its token.
func (v *visitor) invited(t *testing.T, role string) string {
	t.Helper()
	a := v.post(t, "/en/people/invitations", url.Values{views.RoleField: {role}, views.NoteField: {"for a test"}})
	return tokenIn(t, a)
}

func tokenIn(t *testing.T, a answer) string {
	t.Helper()
	_, rest, ok := strings.Cut(a.body, "/en/invitations/")
	if a.status != http.StatusOK || !ok || len(rest) < auth.TokenLength {
		t.Fatalf("status %d, no link in %s", a.status, a.body)
	}
	return rest[:auth.TokenLength]
}

func (v *visitor) signIn(t *testing.T, login, password string) answer {
	t.Helper()
	return v.post(t, "/en/sign-in", url.Values{views.LoginField: {login}, views.PasswordField: {password}})
}

func TestOwnersStory(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	htmlcheck.Page(t, b.visitor(t).get(t, "/en/sign-in", http.StatusOK).body,
		htmlcheck.In("[role=alert]", htmlcheck.Contains("Nobody owns this site yet.")))
	ada := b.owner(t)
	if token, _, err := b.srv.FirstOwner(t.Context()); token != "" || err != nil {
		t.Errorf("a second start makes a link: %q, err %v", token, err)
	}
	htmlcheck.Page(t, b.visitor(t).get(t, "/en/sign-in", http.StatusOK).body, htmlcheck.NotIn("[role=alert]"))
	htmlcheck.Page(t, ada.get(t, "/en/", http.StatusOK).body,
		htmlcheck.In(".account-nav a", htmlcheck.Text("Name of ada")),
		htmlcheck.In(".account-nav a[href='/en/people']"), htmlcheck.NotIn("footer a[href='/en/sign-in']"))

	// Invites Bob, who cannot do what she can.
	token := ada.invited(t, "interviewer")
	people := ada.get(t, "/en/people", http.StatusOK).body
	htmlcheck.Page(t, people, htmlcheck.LinksWithin, htmlcheck.NothingInline,
		htmlcheck.Count("tbody tr", 1), htmlcheck.In(".links li", htmlcheck.Contains("Interviewer · for a test")))
	if strings.Contains(people, token) {
		t.Error("the link is shown a second time")
	}
	bob := b.visitor(t)
	htmlcheck.Page(t, bob.get(t, "/en/invitations/"+token, http.StatusOK).body, htmlcheck.LinksWithin, htmlcheck.NothingInline,
		htmlcheck.In("main", htmlcheck.Contains("you become an interviewer")),
		htmlcheck.In("input[type=password]", htmlcheck.Attr("autocomplete", "new-password")))
	bob.become(t, token, "bob")
	again := b.visitor(t).post(t, "/en/invitations/"+token, newcomer("mallory"))
	if again.status != http.StatusNotFound || !strings.Contains(again.body, "This link cannot be used") {
		t.Errorf("the link works twice: status %d", again.status)
	}
	htmlcheck.Page(t, bob.get(t, "/en/account", http.StatusOK).body,
		htmlcheck.In(".facts", htmlcheck.Contains("Interviewer")), htmlcheck.NotIn(".account-nav a[href='/en/people']"))

	// Makes a link for a new password, signs him out, removes him.
	person := bobsPage(t, b)
	reset := tokenIn(t, ada.post(t, person+"/password-link", nil))
	bob2 := b.visitor(t)
	if a := bob2.post(t, "/en/invitations/"+reset, url.Values{views.PasswordField: {"a new " + testPassword}}); a.status != http.StatusSeeOther {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	bob.get(t, "/en/account", http.StatusNotFound) // his other browser
	bob2.get(t, "/en/account", http.StatusOK)
	if a := ada.post(t, person+"/sign-out", nil); a.status != http.StatusSeeOther {
		t.Errorf("status %d", a.status)
	}
	bob2.get(t, "/en/account", http.StatusNotFound)
	if a := bob2.signIn(t, "bob", "a new "+testPassword); a.status != http.StatusSeeOther {
		t.Fatalf("status %d", a.status)
	}
	if a := ada.post(t, person+"/remove", nil); a.status != http.StatusSeeOther {
		t.Errorf("status %d", a.status)
	}
	bob2.get(t, "/en/account", http.StatusNotFound)
	if a := bob2.signIn(t, "bob", "a new "+testPassword); a.status != http.StatusUnprocessableEntity {
		t.Errorf("who was removed signs in: status %d", a.status)
	}
	ada.get(t, person, http.StatusNotFound)

	// Reads it all in the log.
	log := ada.get(t, "/en/people/log", http.StatusOK).body
	htmlcheck.Page(t, log, htmlcheck.LinksWithin, htmlcheck.NothingInline,
		htmlcheck.In("tbody tr:nth-child(1)", htmlcheck.Contains("wrong name or password")),
		htmlcheck.In("tbody tr:nth-child(2)", htmlcheck.Contains("ada removed an account bob 127.0.0.1")))
	for _, secret := range []string{token, reset, testPassword} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

// bobsPage is the address at which an owner finds bob.
func bobsPage(t *testing.T, b *testBundle) string {
	t.Helper()
	p, _, err := b.st.Password(t.Context(), "bob")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint("/en/people/", p.ID)
}

func TestLogHasPages(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	ada := b.owner(t)
	for i := range logPage {
		if err := b.st.Note(t.Context(), store.Actor{}, store.SignInRefused, fmt.Sprint("number ", i), time.UnixMilli(1)); err != nil {
			t.Fatal(err)
		}
	}
	first := ada.get(t, "/en/people/log", http.StatusOK).body
	htmlcheck.Page(t, first, htmlcheck.Count("tbody tr", logPage), htmlcheck.In("main a[href*=before]", htmlcheck.Text("Older entries")))
	_, rest, _ := strings.Cut(first, `/en/people/log?before=`)
	before, _, _ := strings.Cut(rest, `"`)
	htmlcheck.Page(t, ada.get(t, "/en/people/log?before="+before, http.StatusOK).body,
		htmlcheck.Count("tbody tr", 3), htmlcheck.NotIn("main a[href*=before]")) // the link, the owner, the sign-in
	ada.get(t, "/en/people/log?before=x", http.StatusBadRequest)
	ada.get(t, "/en/people/log?before=-1", http.StatusBadRequest)
}

// A form that is not accepted comes back with what was typed, but for passwords.
func TestFormsKeepWhatWasTyped(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	ada := b.owner(t)
	token := ada.invited(t, "owner")
	v := b.visitor(t)
	bad := newcomer("b ob<")
	a := v.post(t, "/en/invitations/"+token, bad)
	if a.status != http.StatusUnprocessableEntity || strings.Contains(a.body, testPassword) {
		t.Errorf("status %d: %s", a.status, a.body)
	}
	htmlcheck.Page(t, a.body, htmlcheck.LinksWithin,
		htmlcheck.In("#login", htmlcheck.Attr("value", "b ob<"), htmlcheck.Attr("aria-invalid", "true"), htmlcheck.Attr("aria-describedby", "login-hint login-problem")),
		htmlcheck.In("#login-problem[role=alert]", htmlcheck.Contains("without spaces")),
		htmlcheck.In("#name", htmlcheck.Attr("value", "Name of b ob<")))
	v.become(t, token, "bob") // the link still works

	a = b.visitor(t).signIn(t, "Bob", "wrong password")
	if a.status != http.StatusUnprocessableEntity || strings.Contains(a.body, "wrong password") {
		t.Errorf("status %d: %s", a.status, a.body)
	}
	htmlcheck.Page(t, a.body, htmlcheck.In("#login", htmlcheck.Attr("value", "Bob")), htmlcheck.In("[role=alert]"))

	long := strings.Repeat("x", auth.MaxNote+1)
	a = ada.post(t, "/en/people/invitations", url.Values{views.RoleField: {"owner"}, views.NoteField: {long}})
	if a.status != http.StatusUnprocessableEntity {
		t.Errorf("status %d", a.status)
	}
	htmlcheck.Page(t, a.body, htmlcheck.In("#note", htmlcheck.Attr("value", long)), htmlcheck.In("[value=owner][checked]"), htmlcheck.In("#note-problem"))
	if a := ada.post(t, "/en/people/invitations", url.Values{views.RoleField: {"root"}}); a.status != http.StatusBadRequest {
		t.Errorf("an unknown role: status %d", a.status)
	}
	// What stands in an address is not taken for what was typed.
	if a := b.visitor(t).do(t, "POST", "/en/sign-in?login=bob&password="+url.QueryEscape(testPassword), nil, nil); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a password in the address: status %d", a.status)
	}
}

func TestPasswordChange(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	ada := b.owner(t)
	other := b.visitor(t)
	other.signIn(t, "ADA", testPassword)
	htmlcheck.Page(t, other.get(t, "/en/account", http.StatusOK).body, htmlcheck.In("main", htmlcheck.Contains("2 browsers are signed in with your account")))
	change := func(old, chosen string) answer {
		return ada.post(t, "/en/account/password", url.Values{views.OldPasswordField: {old}, views.PasswordField: {chosen}})
	}
	a := change("wrong", "another password")
	if a.status != http.StatusUnprocessableEntity {
		t.Errorf("status %d", a.status)
	}
	htmlcheck.Page(t, a.body, htmlcheck.LinksWithin, htmlcheck.In("#old-problem", htmlcheck.Contains("not your present password")))
	htmlcheck.Page(t, change(testPassword, "short").body, htmlcheck.In("#password-problem", htmlcheck.Contains("at least 12")))
	before := sessionCookie(t, ada)
	if a := change(testPassword, "another password"); a.header.Get("Location") != "/en/account?notice=password" {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	if sessionCookie(t, ada) == before {
		t.Error("the token of the session is the old one")
	}
	htmlcheck.Page(t, ada.get(t, "/en/account?notice=password", http.StatusOK).body,
		htmlcheck.In("[role=status]"), htmlcheck.In("main", htmlcheck.Contains("1 browser is signed in with your account.")))
	other.get(t, "/en/account", http.StatusNotFound)
}

func sessionCookie(t *testing.T, v *visitor) string {
	t.Helper()
	site, err := url.Parse(v.b.ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.client.Jar.Cookies(site) {
		if c.Name == "session" {
			return c.Value
		}
	}
	return ""
}

func TestSessionCookies(t *testing.T) {
	t.Parallel()

	t.Run("NoneWithoutSignIn", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		b.owner(t)
		v := b.visitor(t)
		v.submit(t, 0, "x")
		v.signIn(t, "ada", "wrong password")
		v.get(t, "/en/account", http.StatusNotFound)
		if sessionCookie(t, v) != "" {
			t.Error("somebody without an account has a session")
		}
	})

	t.Run("ANewTokenForEachSignIn", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		ada := b.owner(t)
		first := sessionCookie(t, ada)
		if a := ada.signIn(t, "ada", testPassword); a.status != http.StatusSeeOther {
			t.Fatalf("status %d", a.status)
		}
		if second := sessionCookie(t, ada); second == first || second == "" {
			t.Errorf("tokens %q, %q", first, second)
		}
		old := b.visitor(t).do(t, "GET", "/en/account", nil, http.Header{"Cookie": {"session=" + first}})
		if old.status != http.StatusNotFound {
			t.Errorf("the old token: status %d", old.status)
		}
		// A token that somebody planted before is not taken over.
		planted := b.visitor(t).do(t, "POST", "/en/sign-in", strings.NewReader(url.Values{
			views.LoginField: {"ada"}, views.PasswordField: {testPassword},
		}.Encode()), http.Header{"Cookie": {"session=planted"}, "Content-Type": {"application/x-www-form-urlencoded"}})
		if planted.status != http.StatusSeeOther || strings.Contains(strings.Join(planted.header.Values("Set-Cookie"), " "), "session=planted") {
			t.Errorf("status %d, cookies %q", planted.status, planted.header.Values("Set-Cookie"))
		}
	})

	t.Run("OnlyTheHashIsStored", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		token := sessionCookie(t, b.owner(t))
		var rows, plain int
		err := b.st.Read.QueryRowContext(t.Context(), "SELECT count(*), count(*) FILTER (WHERE token_hash = $1) FROM sessions", token).Scan(&rows, &plain)
		if err != nil || rows != 1 || plain != 0 || len(token) < 40 {
			t.Errorf("%d rows, %d with the token %q, err %v", rows, plain, token, err)
		}
	})

	t.Run("SignOutEndsItOnTheServer", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		ada := b.owner(t)
		token := sessionCookie(t, ada)
		if a := ada.post(t, "/en/sign-out", nil); a.status != http.StatusSeeOther || sessionCookie(t, ada) != "" {
			t.Errorf("status %d, cookie %q", a.status, sessionCookie(t, ada))
		}
		if a := b.visitor(t).do(t, "GET", "/en/account", nil, http.Header{"Cookie": {"session=" + token}}); a.status != http.StatusNotFound {
			t.Errorf("a copy of the cookie: status %d", a.status)
		}
	})

	t.Run("SignOutEverywhere", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		ada, other := b.owner(t), b.visitor(t)
		other.signIn(t, "ada", testPassword)
		other.get(t, "/en/account", http.StatusOK)
		ada.post(t, "/en/account/sign-out-everywhere", nil)
		other.get(t, "/en/account", http.StatusNotFound)
		htmlcheck.Page(t, other.get(t, "/en/", http.StatusOK).body, htmlcheck.NotIn(".account-nav"))
	})

	t.Run("Attributes", func(t *testing.T) {
		t.Parallel()
		for secure, want := range map[bool]string{
			false: "HttpOnly; SameSite=Lax", true: "HttpOnly; Secure; SameSite=Lax",
		} {
			b := setup(t, Config{SecureCookies: secure}, testCatalog())
			token, _, err := b.srv.FirstOwner(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			cookies := b.visitor(t).post(t, "/en/invitations/"+token, newcomer("ada")).header.Values("Set-Cookie")
			name, found := "session=", false
			if secure {
				name = "__Host-session="
			}
			for _, c := range cookies {
				found = found || strings.HasPrefix(c, name) && strings.Contains(c, "Path=/;") && strings.HasSuffix(c, want)
			}
			if !found {
				t.Errorf("secure %v: cookies %q", secure, cookies)
			}
		}
	})
}

func TestSignInLimits(t *testing.T) {
	t.Parallel()

	type limitBundle struct {
		*testBundle
		now time.Time
	}
	setupLimits := func(t *testing.T) *limitBundle {
		t.Helper()
		b := &limitBundle{now: time.Now()}
		b.testBundle = setup(t, Config{TrustProxy: true, Now: func() time.Time { return b.now }}, testCatalog())
		b.owner(t)
		return b
	}
	// try signs in from behind a proxy on a private address.
	try := func(b *limitBundle, client, login, password string) *httptest.ResponseRecorder {
		form := url.Values{views.LoginField: {login}, views.PasswordField: {password}}
		r := httptest.NewRequest("POST", "/en/sign-in", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-Forwarded-For", client)
		r.RemoteAddr = "10.0.0.1:1"
		w := httptest.NewRecorder()
		b.srv.ServeHTTP(w, r)
		return w
	}
	// until tries until it is limited, and counts.
	until := func(t *testing.T, b *limitBundle, client func(i int) string, login func(i int) string) int {
		t.Helper()
		for i := range 1000 {
			switch w := try(b, client(i), login(i), "wrong password"); w.Code {
			case http.StatusTooManyRequests:
				if w.Header().Get("Retry-After") != "900" {
					t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
				}
				htmlcheck.Page(t, w.Body.String(), htmlcheck.In("[role=alert]", htmlcheck.Contains("Wait a quarter of an hour")),
					htmlcheck.In("#login", htmlcheck.Attr("value", login(i))))
				return i
			case http.StatusUnprocessableEntity:
			default:
				t.Fatalf("attempt %d: status %d", i, w.Code)
			}
		}
		return 1000
	}
	one := func(s string) func(int) string { return func(int) string { return s } }
	many := func(format string) func(int) string {
		return func(i int) string { return fmt.Sprintf(format, i) }
	}

	t.Run("OneNameFromOneAddress", func(t *testing.T) {
		t.Parallel()
		for _, login := range []string{"ada", "bob"} { // who is there, and who is not
			b := setupLimits(t)
			if n := until(t, b, one("203.0.113.1"), one(login)); n != signInsPerPlace {
				t.Errorf("%s: limited after %d attempts", login, n)
			}
			// Another person behind another address of the same proxy is not held back.
			if w := try(b, "203.0.113.2", "ada", testPassword); w.Code != http.StatusSeeOther {
				t.Errorf("%s: another client: status %d", login, w.Code)
			}
			b.now = b.now.Add(signInPeriod)
			if w := try(b, "203.0.113.1", "ada", testPassword); w.Code != http.StatusSeeOther {
				t.Errorf("%s: after the period: status %d", login, w.Code)
			}
		}
	})

	t.Run("ManyNamesFromOneAddress", func(t *testing.T) {
		t.Parallel()
		b := setupLimits(t)
		if n := until(t, b, one("203.0.113.1"), many("name%d")); n != signInsPerNetwork {
			t.Errorf("limited after %d attempts", n)
		}
	})

	t.Run("OneNameFromManyAddresses", func(t *testing.T) {
		t.Parallel()
		for _, login := range []string{"ada", "bob"} {
			b := setupLimits(t)
			if n := until(t, b, many("203.0.113.%d"), one(login)); n != signInsPerName {
				t.Errorf("%s: limited after %d attempts", login, n)
			}
		}
	})

	t.Run("AStrangerCannotLockSomebodyOut", func(t *testing.T) {
		t.Parallel()
		b := setupLimits(t)
		const home = "198.51.100.7"
		if w := try(b, home, "ada", testPassword); w.Code != http.StatusSeeOther {
			t.Fatalf("status %d", w.Code)
		}
		until(t, b, many("203.0.113.%d"), one("ada"))
		if w := try(b, home, "ada", testPassword); w.Code != http.StatusSeeOther {
			t.Errorf("from where she signed in before: status %d", w.Code)
		}
		if w := try(b, "198.51.100.8", "ada", testPassword); w.Code != http.StatusTooManyRequests {
			t.Errorf("from elsewhere: status %d", w.Code)
		}
	})

	t.Run("TheOldPasswordIsGuessedNoFaster", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		ada := b.owner(t)
		form := url.Values{views.OldPasswordField: {"wrong"}, views.PasswordField: {"another password"}}
		for range signInsPerPlace {
			if a := ada.post(t, "/en/account/password", form); a.status != http.StatusUnprocessableEntity {
				t.Fatalf("status %d", a.status)
			}
		}
		a := ada.post(t, "/en/account/password", form)
		if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
			t.Errorf("status %d", a.status)
		}
	})
}

func TestFormsOfAccountsFromElsewhere(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	ada := b.owner(t)
	for _, row := range accessTable() {
		if row.method != http.MethodPost {
			continue
		}
		a := ada.do(t, "POST", strings.ReplaceAll(row.path, "{person}", "1"), strings.NewReader("role=owner"), http.Header{
			"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"cross-site"},
		})
		if a.status != http.StatusForbidden {
			t.Errorf("%s: status %d", row.path, a.status)
		}
	}
	ada.get(t, "/en/account", http.StatusOK) // not even signed out
}

// Every page about accounts in every language.
func TestPagesOfAccounts(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{BaseURL: "https://practice.example"}, testCatalog())
	ada := b.owner(t)
	token := ada.invited(t, "interviewer")
	for _, lang := range []string{"en", "de", "ru"} {
		for path, v := range map[string]*visitor{
			"/sign-in": b.visitor(t), "/invitations/" + token: b.visitor(t),
			"/account": ada, "/people": ada, "/people/1": ada, "/people/log": ada,
		} {
			a := v.get(t, "/"+lang+path, http.StatusOK)
			htmlcheck.Page(t, a.body, htmlcheck.NothingInline, htmlcheck.LinksWithin, htmlcheck.Count("h1", 1), htmlcheck.In("html", htmlcheck.Attr("lang", lang)))
			if !strings.HasPrefix(a.header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'; ") ||
				!strings.HasPrefix(a.header.Get("Cache-Control"), "no-store") {
				t.Errorf("%s: header %v", path, a.header)
			}
		}
		a := ada.post(t, "/"+lang+"/people/invitations", url.Values{views.RoleField: {"owner"}})
		htmlcheck.Page(t, a.body, htmlcheck.NothingInline, htmlcheck.LinksWithin)
		if !strings.Contains(a.body, `value="https://practice.example/`+lang+`/invitations/`) {
			t.Error("the link does not begin with the base URL")
		}
	}
	// An action of a newer version has no words, and the page is there all the same.
	for _, action := range append(store.Actions(), "of-tomorrow") {
		if err := b.st.Note(t.Context(), store.Actor{}, action, "", time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	for _, lang := range []string{"en", "de", "ru"} {
		body := ada.get(t, "/"+lang+"/people/log", http.StatusOK).body
		if !strings.Contains(body, ">of-tomorrow<") {
			t.Error("an unknown action is not shown")
		}
		for _, action := range store.Actions() {
			if strings.Contains(body, ">"+string(action)+"<") {
				t.Errorf("%s: the action %s has no words", lang, action)
			}
		}
	}
}

// Why packs are left out is told to owners, on the page of the exercises, and to
// nobody else.
func TestBrokenPacksAreTheOwners(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tea-house")
	if err := os.CopyFS(dir, exercises.Example()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "grant-once", "events.yaml"), []byte("fields: [<script>"), 0o600); err != nil {
		t.Fatal(err)
	}
	catalog := exercises.Open(nil, []string{dir})
	catalog.Verify(t.Context())
	b := setup(t, Config{}, catalog)
	ada := b.owner(t)
	bob := b.visitor(t)
	bob.become(t, ada.invited(t, "interviewer"), "bob")
	for _, lang := range []string{"en", "ru", "de"} {
		htmlcheck.Page(t, ada.get(t, "/"+lang+"/exercises", http.StatusOK).body,
			htmlcheck.In("main .alert li code", htmlcheck.Contains("grant-once/events.yaml:")), htmlcheck.NotIn("main .alert script"))
	}
	for _, v := range []*visitor{bob, b.visitor(t)} {
		body := v.get(t, "/en/exercises", http.StatusOK).body
		htmlcheck.Page(t, body, htmlcheck.NotIn("main .alert"))
		if strings.Contains(body, "events.yaml") {
			t.Error("a problem is on the page")
		}
	}
}
