package auth

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"redeliver/web/store"
)

// ErrProvider says that the provider does not answer, or not as it should.
var ErrProvider = errors.New("the provider of accounts does not answer as it should")

// providerTimeout bounds each request to the provider.
const providerTimeout = 10 * time.Second

// ProviderConfig names an OpenID Connect provider.
type ProviderConfig struct {
	Issuer       string
	ClientID     string
	ClientSecret string
	Redirect     string // the address of ours that it sends browsers back to
}

// Provider vouches for people; use NewProvider.
type Provider struct {
	cfg    ProviderConfig
	now    func() time.Time
	client *http.Client

	mu    sync.Mutex
	found *oidc.Provider // nil until it has answered
}

// NewProvider makes a Provider. It is asked when it is first needed: a site starts
// without it, too.
func NewProvider(cfg ProviderConfig, now func() time.Time) *Provider {
	// A redirect is an answer like any other that is not 200: it would carry the secret
	// and the code to where whoever answers says.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Provider{cfg: cfg, now: now, client: &http.Client{Timeout: providerTimeout, CheckRedirect: stay}}
}

// CheckIssuer refuses the address of a provider whose answers anybody on the way could
// write: who is who would be theirs to say. On this machine there is no way.
func CheckIssuer(issuer string) error {
	return checkAddress("the provider", issuer)
}

// checkAddress is CheckIssuer for the address of what.
func checkAddress(what, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("the address of %s: %w", what, err)
	}
	switch {
	case u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("the address of %s, %q, must begin with https://", what, address)
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return fmt.Errorf("%s %s must be reached over https: with http, which is for providers on this machine only, anybody on the way could say who signs in", what, address)
	}
	return nil
}

// checkEndpoints refuses a description by which a provider, itself reached over https,
// would have the browser, the code or the keys go over http.
func checkEndpoints(found *oidc.Provider) error {
	var said map[string]any
	if err := found.Claims(&said); err != nil {
		return err
	}
	for _, name := range []string{"authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"} {
		address, ok := said[name].(string)
		if !ok && name == "userinfo_endpoint" { // which it need not have
			continue
		}
		if err := checkAddress("the provider's "+name, address); err != nil {
			return err
		}
	}
	return nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.IsLoopback()
}

// Flow is what the browser keeps while its person is at the provider.
type Flow struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// Identity is who somebody is, as the provider says.
type Identity struct {
	store.Identity
	Login string // a proposal for the name to sign in with
	Name  string
}

// discover asks the provider for its addresses, once.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, oauth2.Config, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found == nil {
		// The context also holds the client with which keys are fetched later.
		ctx := oidc.ClientContext(context.WithoutCancel(ctx), p.client)
		found, err := oidc.NewProvider(ctx, p.cfg.Issuer)
		if err == nil {
			err = checkEndpoints(found)
		}
		if err != nil {
			return nil, oauth2.Config{}, fmt.Errorf("%w: %w", ErrProvider, err)
		}
		p.found = found
	}
	return p.found, oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, RedirectURL: p.cfg.Redirect,
		Endpoint: p.found.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "profile", "email"},
	}, nil
}

// Begin returns the address to send the browser to.
func (p *Provider) Begin(ctx context.Context) (string, Flow, error) {
	_, config, err := p.discover(ctx)
	if err != nil {
		return "", Flow{}, err
	}
	f := Flow{State: NewToken(), Nonce: NewToken(), Verifier: oauth2.GenerateVerifier()}
	return config.AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), f, nil
}

// Finish exchanges the code with which the browser came back. ErrRefused says that
// this browser has not begun what it ends.
func (p *Provider) Finish(ctx context.Context, f Flow, state, code string) (Identity, error) {
	if f.State == "" || f.Nonce == "" || f.Verifier == "" || subtle.ConstantTimeCompare([]byte(state), []byte(f.State)) != 1 {
		return Identity{}, ErrRefused
	}
	found, config, err := p.discover(ctx)
	if err != nil {
		return Identity{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	answer, err := config.Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrProvider, err)
	}
	raw, ok := answer.Extra("id_token").(string)
	if !ok {
		return Identity{}, fmt.Errorf("%w: no id_token", ErrProvider)
	}
	token, err := found.VerifierContext(ctx, &oidc.Config{ClientID: p.cfg.ClientID, Now: p.now}).Verify(ctx, raw)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrProvider, err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.Nonce)) != 1 {
		return Identity{}, fmt.Errorf("%w: another nonce", ErrProvider)
	}
	return identityOf(token)
}

func identityOf(token *oidc.IDToken) (Identity, error) {
	var claims struct {
		Name     string `json:"name"`
		User     string `json:"preferred_username"`
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
	}
	if err := token.Claims(&claims); err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrProvider, err)
	}
	if token.Subject == "" {
		return Identity{}, fmt.Errorf("%w: no subject", ErrProvider)
	}
	if !claims.Verified { // others read it as a name
		claims.Email = ""
	}
	login := cmp.Or(claims.Email, claims.User, token.Subject)
	return Identity{
		Identity: store.Identity{Issuer: token.Issuer, Subject: token.Subject},
		Login:    login, Name: cmp.Or(claims.Name, login),
	}, nil
}
