package web

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"golang.org/x/oauth2"

	"redeliver/web/auth"
	"redeliver/web/views/htmlcheck"
)

// testProvider is oidctest's server with the two addresses that it lacks. It asks
// nobody who they are: the test says who comes.
type testProvider struct {
	oidctest.Server
	url  string
	site string // that it sends browsers back to

	mu        sync.Mutex
	sign      func(claims string) (token string)
	challenge string         // of the last visit
	claims    map[string]any // of whom the next code is for
}

func newTestProvider(t *testing.T) *testProvider {
	t.Helper()
	key := newKey(t)
	p := &testProvider{site: "http://site.example", sign: signWith(key), Server: oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.RS256}}}}
	ts := httptest.NewServer(p)
	t.Cleanup(ts.Close)
	p.url = ts.URL
	p.SetIssuer(ts.URL)
	return p
}

func newKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func signWith(key *rsa.PrivateKey) func(claims string) string {
	return func(claims string) string { return oidctest.SignIDToken(key, "k", oidc.RS256, claims) }
}

// unsigned is a token that says so itself.
func unsigned(claims string) string {
	encoded := base64.RawURLEncoding.EncodeToString
	return encoded([]byte(`{"alg":"none","kid":"k"}`)) + "." + encoded([]byte(claims)) + "."
}

func (p *testProvider) config() auth.ProviderConfig {
	return auth.ProviderConfig{Issuer: p.url, ClientID: "redeliver", ClientSecret: "secret", Redirect: p.site + OIDCCallback}
}

// visit is what a browser does at the provider: claims are who signs in there, over
// those that every token has. It returns the path that leads back.
func (p *testProvider) visit(t *testing.T, address string, claims map[string]any) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if u.Path != "/auth" || q.Get("client_id") != "redeliver" || q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" ||
		q.Get("redirect_uri") != p.config().Redirect || q.Get("state") == "" {
		t.Fatalf("the browser is sent to %s", address)
	}
	all := map[string]any{"iss": p.url, "aud": "redeliver", "exp": time.Now().Add(time.Hour).Unix(), "nonce": q.Get("nonce")}
	for k, v := range claims {
		all[k] = v
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.challenge, p.claims = q.Get("code_challenge"), all
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		t.Fatal(err)
	}
	return back.Path + "?code=the-code&state=" + url.QueryEscape(q.Get("state"))
}

func (p *testProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/token" {
		p.Server.ServeHTTP(w, r)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	if id != "redeliver" || secret != "secret" || r.FormValue("code") != "the-code" || oauth2.S256ChallengeFromVerifier(r.FormValue("code_verifier")) != p.challenge {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	claims, err := json.Marshal(p.claims)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{
		"access_token": "unused", "token_type": "Bearer", "id_token": p.sign(string(claims)),
	})
}

// through goes to the provider and back.
func (v *visitor) through(t *testing.T, p *testProvider, path string, claims map[string]any) answer {
	t.Helper()
	away := v.get(t, path, http.StatusFound)
	return v.do(t, "GET", p.visit(t, away.header.Get("Location"), claims), nil, nil)
}

func TestProvider(t *testing.T) {
	t.Parallel()
	p := newTestProvider(t)
	b := setup(t, Config{Provider: p.config()}, testCatalog())
	ada := b.owner(t)
	bob := map[string]any{"sub": "bob at the provider", "email": "Bob@example.org", "email_verified": true, "name": "Bob"}
	in := func(t *testing.T, v *visitor, a answer, name string) {
		t.Helper()
		if a.status != http.StatusSeeOther || !strings.HasSuffix(a.header.Get("Location"), "/account") {
			t.Fatalf("status %d to %q: %s", a.status, a.header.Get("Location"), a.body)
		}
		htmlcheck.Page(t, v.get(t, a.header.Get("Location"), http.StatusOK).body, htmlcheck.In(".account-nav a", htmlcheck.Text(name)))
	}
	refused := func(t *testing.T, v *visitor, a answer, status int, words string) {
		t.Helper()
		if a.status != status || sessionCookie(t, v) != "" {
			t.Errorf("status %d, session %q", a.status, sessionCookie(t, v))
		}
		htmlcheck.Page(t, a.body, htmlcheck.LinksWithin, htmlcheck.In("[role=alert]", htmlcheck.Contains(words)))
	}

	v := b.visitor(t)
	refused(t, v, v.through(t, p, "/en/sign-in/oidc", bob), http.StatusForbidden, "nobody here signs in with it")

	token := ada.invited(t, "interviewer")
	htmlcheck.Page(t, v.get(t, "/de/invitations/"+token, http.StatusOK).body, htmlcheck.In("main a[href='/de/invitations/"+token+"/oidc']"))
	in(t, v, v.through(t, p, "/de/invitations/"+token+"/oidc", bob), "Bob")
	v.get(t, "/en/invitations/"+token+"/oidc", http.StatusNotFound) // used up

	v = b.visitor(t)
	in(t, v, v.through(t, p, "/en/sign-in/oidc", map[string]any{"sub": bob["sub"], "email": "other@example.org"}), "Bob") // the subject counts, not the e-mail
	v = b.visitor(t)
	if a := v.signIn(t, "bob@example.org", ""); a.status != http.StatusUnprocessableEntity {
		t.Errorf("an account without a password takes an empty one: status %d", a.status)
	}

	// Two people cannot have one account, and the link is not used up by that.
	token = ada.invited(t, "interviewer")
	v = b.visitor(t)
	refused(t, v, v.through(t, p, "/en/invitations/"+token+"/oidc", map[string]any{"sub": bob["sub"], "preferred_username": "robert"}), http.StatusConflict, "Somebody else signs in with this account")
	refused(t, v, v.through(t, p, "/en/invitations/"+token+"/oidc", map[string]any{"sub": "eve", "preferred_username": "ADA"}), http.StatusConflict, "Somebody else signs in with this name")
	// An e-mail address that nobody has verified is no name.
	in(t, v, v.through(t, p, "/en/invitations/"+token+"/oidc", map[string]any{"sub": "eve", "email": "boss@example.org"}), "eve")

	// Ada connects hers with a link for a password; her other sessions end.
	reset := tokenIn(t, ada.post(t, "/en/people/1/password-link", nil))
	v = b.visitor(t)
	in(t, v, v.through(t, p, "/en/invitations/"+reset+"/oidc", map[string]any{"sub": "ada"}), "Name of ada")
	ada.get(t, "/en/account", http.StatusNotFound)
}

func TestProviderIsNotBelieved(t *testing.T) {
	t.Parallel()
	p := newTestProvider(t)
	b := setup(t, Config{Provider: p.config()}, testCatalog())
	token, _, err := b.srv.FirstOwner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	owner := map[string]any{"sub": "ada", "preferred_username": "ada"}
	if a := b.visitor(t).through(t, p, "/en/invitations/"+token+"/oidc", owner); a.status != http.StatusSeeOther {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	for name, tc := range map[string]struct {
		claims map[string]any
		back   func(string) string
		status int
	}{
		"OtherAudience": {map[string]any{"sub": "ada", "aud": "another site"}, nil, 502},
		"OtherIssuer":   {map[string]any{"sub": "ada", "iss": "https://evil.example"}, nil, 502},
		"Expired":       {map[string]any{"sub": "ada", "exp": time.Now().Add(-time.Hour).Unix()}, nil, 502},
		"OtherNonce":    {map[string]any{"sub": "ada", "nonce": "replayed"}, nil, 502},
		"NoSubject":     {map[string]any{}, nil, 502},
		"OtherCode":     {owner, func(s string) string { return strings.Replace(s, "the-code", "stolen", 1) }, 502},
		"OtherState":    {owner, func(s string) string { return s + "x" }, 400},
		"NoState":       {owner, func(s string) string { s, _, _ = strings.Cut(s, "&"); return s }, 400},
	} {
		t.Run(name, func(t *testing.T) {
			v := b.visitor(t)
			away := v.get(t, "/en/sign-in/oidc", http.StatusFound)
			back := p.visit(t, away.header.Get("Location"), tc.claims)
			if tc.back != nil {
				back = tc.back(back)
			}
			a := v.do(t, "GET", back, nil, nil)
			if a.status != tc.status || sessionCookie(t, v) != "" {
				t.Errorf("status %d, session %q", a.status, sessionCookie(t, v))
			}
		})
	}
	t.Run("AnotherBrowserCannotEndIt", func(t *testing.T) {
		away := b.visitor(t).get(t, "/en/sign-in/oidc", http.StatusFound)
		victim := b.visitor(t)
		if a := victim.do(t, "GET", p.visit(t, away.header.Get("Location"), owner), nil, nil); a.status != http.StatusBadRequest || sessionCookie(t, victim) != "" {
			t.Errorf("status %d", a.status)
		}
	})
	t.Run("OnceOnly", func(t *testing.T) {
		v := b.visitor(t)
		away := v.get(t, "/en/sign-in/oidc", http.StatusFound)
		back := p.visit(t, away.header.Get("Location"), owner)
		first, second := v.do(t, "GET", back, nil, nil), v.do(t, "GET", back, nil, nil)
		if first.status != http.StatusSeeOther || second.status != http.StatusBadRequest {
			t.Errorf("status %d, %d", first.status, second.status)
		}
	})
	for name, sign := range map[string]func(string) string{"OtherKey": signWith(newKey(t)), "Unsigned": unsigned} {
		t.Run(name, func(t *testing.T) {
			p.mu.Lock()
			p.sign = sign
			p.mu.Unlock()
			v := b.visitor(t)
			if a := v.through(t, p, "/en/sign-in/oidc", owner); a.status != http.StatusBadGateway || sessionCookie(t, v) != "" {
				t.Errorf("status %d, session %q", a.status, sessionCookie(t, v))
			}
		})
	}
}

func TestProviderThatIsAway(t *testing.T) {
	t.Parallel()
	p := newTestProvider(t)
	cfg := p.config()
	cfg.Issuer = p.url + "/elsewhere" // answers 404
	v := setup(t, Config{Provider: cfg}, testCatalog()).visitor(t)
	a := v.get(t, "/en/sign-in/oidc", http.StatusBadGateway)
	htmlcheck.Page(t, a.body, htmlcheck.In("[role=alert]", htmlcheck.Contains("sign in with a password")), htmlcheck.In("#password"))
}
