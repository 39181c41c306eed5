package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The bounds of one request.
const (
	timeout   = 10 * time.Second
	maxHeader = 16 << 10
	maxAnswer = 64 << 10 // is read and thrown away, so that the receiver is not cut off
)

// secretPrefix begins a secret, as Standard Webhooks has it.
const secretPrefix = "whsec_"

// NewSecret makes a secret of 192 random bits.
func NewSecret() string {
	secret := make([]byte, 24)
	rand.Read(secret) // never fails, as its documentation says
	return secretPrefix + base64.StdEncoding.EncodeToString(secret)
}

// Message is what is sent. The ID is the same in every attempt, so that a receiver
// recognises what it has seen.
type Message struct {
	ID     string
	URL    string
	Secret string
	Body   []byte
}

// Sign signs a message as Standard Webhooks 1.0.0 has it
// (github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md, "Symmetric
// signatures"): v1, and the HMAC-SHA256 over id, seconds and body with dots between, with
// what the secret encodes as the key.
func Sign(secret, id string, seconds int64, body []byte) (string, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil {
		return "", errors.New("the secret is not in the form of Standard Webhooks")
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.", id, seconds)
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}

// Sender sends messages; use New.
type Sender struct {
	policy Policy
	client *http.Client
}

// New makes a sender. roots are the authorities whose certificates count; nil: those of
// the system.
func New(p Policy, roots *x509.CertPool) *Sender {
	s := &Sender{policy: p}
	s.client = &http.Client{
		Timeout: timeout,
		// A redirect leads where nobody has allowed it; the answer is the redirect.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			// No Proxy: it would dial for us, and look at nothing.
			DialContext:            s.dial,
			TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    timeout,
			MaxResponseHeaderBytes: maxHeader,
			DisableKeepAlives:      true, // each message is dialled, and looked at, anew
			DisableCompression:     true,
		},
	}
	return s
}

// Policy is where messages may go.
func (s *Sender) Policy() Policy { return s.policy }

// dial connects to a host. What its name means is looked at when it is resolved, for the
// very address that is then dialled: a name that means something else a moment later
// does not get past this.
func (s *Sender) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := &net.Dialer{Timeout: timeout}
	if !s.policy.lists(host) {
		d.Control = func(_, resolved string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return fmt.Errorf("read resolved address: %w", err)
			}
			if !s.policy.allows(to.Addr()) {
				return ErrForbidden
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}

// Send posts a message once. The status is 0 when there was no answer; an error says why
// the message does not count as delivered: only an answer of 2xx does.
func (s *Sender) Send(ctx context.Context, m Message, now time.Time) (status int, err error) {
	if _, err := s.policy.Check(m.URL); err != nil {
		return 0, err
	}
	signature, err := Sign(m.Secret, m.ID, now.Unix(), m.Body)
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return 0, ErrURL
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Redeliver")
	r.Header.Set("webhook-id", m.ID)
	r.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	r.Header.Set("webhook-signature", signature)
	res, err := s.client.Do(r)
	if err != nil {
		return 0, reason(err)
	}
	defer res.Body.Close() //nolint:errcheck // the answer is in the header
	if _, err := io.CopyN(io.Discard, res.Body, maxAnswer); err != nil && !errors.Is(err, io.EOF) {
		return res.StatusCode, reason(err)
	}
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return res.StatusCode, errors.New("the answer is a redirect, which is not followed")
	case res.StatusCode < 200 || res.StatusCode > 299:
		return res.StatusCode, errors.New("the answer is not 2xx")
	}
	return res.StatusCode, nil
}

// reason leaves the address, which may hold a secret of the receiver, out of an error.
func reason(err error) error {
	var deadline interface{ Timeout() bool }
	switch {
	case errors.Is(err, ErrForbidden):
		return ErrForbidden
	case errors.As(err, &deadline) && deadline.Timeout():
		return errors.New("no answer within 10 seconds")
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
