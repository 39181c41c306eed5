package auth

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// A provider, or who speaks in its place, does not send the site elsewhere: with a
// redirect of the exchange the secret would go along.
func TestProviderIsNotLeft(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"": "", "Discovery": "/.well-known/openid-configuration", "Exchange": "/token", "Keys": "/keys"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var nonce, issuer string
			documents := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.RS256}}}
			answer := func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/token" {
					documents.ServeHTTP(w, r)
					return
				}
				claims, err := json.Marshal(map[string]any{"iss": issuer, "aud": "redeliver", "sub": "ada", "exp": time.Now().Add(time.Hour).Unix(), "nonce": nonce})
				if err != nil {
					t.Error(err)
				}
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(map[string]string{
					"access_token": "unused", "token_type": "Bearer", "id_token": oidctest.SignIDToken(key, "k", oidc.RS256, string(claims)),
				})
			}
			var left atomic.Int32
			elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				left.Add(1)
				answer(w, r) // as if it were the provider
			}))
			defer elsewhere.Close()
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == path {
					http.Redirect(w, r, elsewhere.URL+path, http.StatusTemporaryRedirect)
					return
				}
				answer(w, r)
			}))
			defer provider.Close()
			issuer = provider.URL
			documents.SetIssuer(issuer)

			p := NewProvider(ProviderConfig{Issuer: issuer, ClientID: "redeliver", ClientSecret: "secret"}, time.Now)
			_, flow, err := p.Begin(t.Context())
			if err == nil {
				nonce = flow.Nonce
				_, err = p.Finish(t.Context(), flow, flow.State, "the-code")
			}
			if path == "" && err != nil {
				t.Fatalf("without a redirect: %v", err)
			}
			if path != "" && (!errors.Is(err, ErrProvider) || left.Load() != 0) {
				t.Errorf("err %v, %d requests elsewhere", err, left.Load())
			}
		})
	}
}

// A provider that is reached over https may not have what is secret go over http.
func TestProviderEndpoints(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		endpoint, address string
		ok                bool
	}{
		{"authorization_endpoint", "http://id.example/authorize", false},
		{"token_endpoint", "http://id.example/token", false},
		{"jwks_uri", "http://id.example/keys", false},
		{"userinfo_endpoint", "http://id.example/me", false},
		{"token_endpoint", "", false},
		{"userinfo_endpoint", "ftp://id.example/me", false},
		{"token_endpoint", "https://other.example/token", true},
		{"jwks_uri", "http://localhost:1/keys", true},
	} {
		t.Run(tc.endpoint+"="+tc.address, func(t *testing.T) {
			t.Parallel()
			var server *httptest.Server
			server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				description := map[string]string{"issuer": server.URL}
				for _, name := range []string{"authorization_endpoint", "token_endpoint", "jwks_uri"} {
					description[name] = "https://id.example/" + name
				}
				description[tc.endpoint] = tc.address
				w.Header().Set("Content-Type", "application/json")
				if err := json.NewEncoder(w).Encode(description); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			p := NewProvider(ProviderConfig{Issuer: server.URL, ClientID: "redeliver", ClientSecret: "secret"}, time.Now)
			_, _, err := p.Begin(t.Context())
			if tc.ok != (err == nil) || err != nil && (!errors.Is(err, ErrProvider) || !strings.Contains(err.Error(), tc.endpoint)) {
				t.Errorf("err %v", err)
			}
		})
	}
}

func TestCheckIssuer(t *testing.T) {
	t.Parallel()
	for issuer, ok := range map[string]bool{
		"https://id.example/realms/work": true,
		"http://localhost:8081":          true,
		"http://LOCALHOST/x":             true,
		"http://127.0.0.1:8081":          true,
		"http://127.8.0.1":               true,
		"http://[::1]:8081/realms/work":  true,
		"HTTPS://id.example":             true,
		"http://id.example":              false,
		"http://localhost.id.example":    false,
		"http://127.0.0.1.id.example":    false,
		"http://localhost@id.example":    false,
		"http://10.0.0.7":                false,
		"http://0.0.0.0":                 false,
		"http://[::ffff:10.0.0.7]":       false,
		"id.example":                     false,
		"//id.example":                   false,
		"ftp://id.example":               false,
		"https://":                       false,
		"https://id.example:x":           false,
	} {
		if err := CheckIssuer(issuer); (err == nil) != ok {
			t.Errorf("%s: %v", issuer, err)
		}
	}
}
