package webhook

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func policy(t *testing.T, list ...string) Policy {
	t.Helper()
	p, err := ParsePolicy(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The example of the specification's own libraries: the signature of a known message.
func TestSign(t *testing.T) {
	t.Parallel()
	got, err := Sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want || err != nil {
		t.Errorf("%s, want %s, err %v", got, want, err)
	}
	if a, b := NewSecret(), NewSecret(); a == b || len(a) != len("whsec_")+32 {
		t.Errorf("%s, %s", a, b)
	}
	if _, err := Sign("no base64", "id", 1, nil); err == nil {
		t.Error("signed with a broken secret")
	}
}

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"1.1.1.1": true, "93.184.216.34": true, "100.63.255.255": true, "100.128.0.1": true, "2606:4700::1111": true, "172.15.0.1": true,
		"127.0.0.1": false, "127.1.2.3": false, "0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false, "172.16.0.1": false,
		"172.31.255.255": false, "192.168.0.1": false, "169.254.169.254": false, "100.64.0.1": false, "100.127.255.255": false,
		"192.0.0.8": false, "192.0.2.1": false, "198.18.0.1": false, "198.19.255.255": false, "203.0.113.7": false,
		"224.0.0.1": false, "239.1.2.3": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd12::1": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:1.1.1.1": true, "::127.0.0.1": false,
		"64:ff9b::7f00:1": false, "64:ff9b:1::1": false, "2002:7f00:1::": false, "2001:0:1::1": false, "2001:db8::1": false, "3fff::1": false, "100::1": false,
		"fec0::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: public %v, want %v", address, got, want)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"https://x.example", "x.example:443", "10.0.0.0/40", "a b", "*.example", "::ffff:10.0.0.0/104", "user@x"} {
		if _, err := ParsePolicy([]string{bad}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if !policy(t).Off() || !policy(t, "", " ").Off() || policy(t, "public").Off() || policy(t, "10.0.0.1").Off() {
		t.Error("what is off is on, or the other way round")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		allow, address string
		want           error
	}{
		{"", "https://hooks.example/x", ErrForbidden},
		{"public", "https://hooks.example/x?key=1", nil},
		{"public", "https://HOOKS.example:8443/", nil},
		{"public", "http://hooks.example/x", ErrPlain},
		{"public", "https://127.0.0.1/", ErrForbidden},
		{"public", "https://[::1]/", ErrForbidden},
		{"public", "https://[::ffff:10.0.0.1]/", ErrForbidden},
		{"public", "https://169.254.169.254/latest/meta-data", ErrForbidden},
		{"hooks.example", "http://hooks.example/x", nil},
		{"hooks.example", "http://hooks.example./x", nil},
		{"hooks.example", "https://other.example/x", ErrForbidden},
		{"hooks.example", "https://hooks.example.evil.example/", ErrForbidden},
		{"hooks.example", "https://evil.example/#hooks.example", ErrURL},
		{"10.0.0.0/8", "http://10.1.2.3:8080/x", nil},
		{"10.0.0.0/8", "http://[::ffff:10.1.2.3]/x", nil},
		{"10.0.0.0/8", "http://11.1.2.3/x", ErrPlain},
		{"10.0.0.0/8", "https://name.example/x", nil}, // what it means is looked at later
		{"10.0.0.0/8", "https://1.1.1.1/", ErrForbidden},
		{"public", "ftp://hooks.example/", ErrURL},
		{"public", "https:hooks.example", ErrURL},
		{"public", "https:///x", ErrURL},
		{"public", "//hooks.example/x", ErrURL},
		{"public", "hooks.example", ErrURL},
		{"public", "https://user:secret@hooks.example/", ErrURL},
		{"public", "https://hooks.example/a\r\nX-Evil: 1", ErrURL},
		{"public", "https://hooks.example\r\n.evil.example/", ErrURL},
		{"public", "https://hooks.example/" + strings.Repeat("x", MaxURL), ErrURL},
		{"public", "https://hooks.example:99999999/", nil}, // is refused when it is dialled
		{"public", "file:///etc/passwd", ErrURL},
		{"public", "javascript:alert(1)", ErrURL},
		{"public", "", ErrURL},
	} {
		if _, err := policy(t, tc.allow).Check(tc.address); !errors.Is(err, tc.want) {
			t.Errorf("%s with %q: %v, want %v", tc.address, tc.allow, err, tc.want)
		}
	}
}

// receiver is a server that counts what it was sent.
func receiver(t *testing.T, secure bool, answer http.HandlerFunc) (address string, roots *x509.CertPool, got chan *http.Request) {
	t.Helper()
	got = make(chan *http.Request, 10)
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		got <- r
		answer(w, r)
	}))
	if secure {
		ts.StartTLS()
		roots = x509.NewCertPool()
		roots.AddCert(ts.Certificate())
	} else {
		ts.Start()
	}
	t.Cleanup(ts.Close)
	return ts.URL, roots, got
}

func ok(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

func send(t *testing.T, s *Sender, address string) (int, error) {
	t.Helper()
	return s.Send(t.Context(), Message{ID: "msg_1", URL: address, Secret: NewSecret(), Body: []byte(`{}`)}, time.Unix(1, 0))
}

func TestSend(t *testing.T) {
	t.Parallel()

	t.Run("SignedOverHTTPS", func(t *testing.T) {
		t.Parallel()
		address, roots, got := receiver(t, true, ok)
		secret := NewSecret()
		status, err := New(policy(t, "127.0.0.1"), roots).Send(t.Context(), Message{ID: "msg_1", URL: address, Secret: secret, Body: []byte(`{"a":1}`)}, time.Unix(1614265330, 0))
		if status != http.StatusNoContent || err != nil {
			t.Fatalf("status %d, err %v", status, err)
		}
		r := <-got
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Sign(secret, "msg_1", 1614265330, body)
		if r.Method != "POST" || r.Header.Get("Webhook-Id") != "msg_1" || r.Header.Get("Webhook-Timestamp") != "1614265330" ||
			r.Header.Get("Webhook-Signature") != want || string(body) != `{"a":1}` || err != nil {
			t.Errorf("%s %v %s, err %v", r.Method, r.Header, body, err)
		}
	})

	t.Run("UnknownCertificate", func(t *testing.T) {
		t.Parallel()
		address, _, got := receiver(t, true, ok)
		if status, err := send(t, New(policy(t, "127.0.0.1"), x509.NewCertPool()), address); status != 0 || err == nil || len(got) != 0 {
			t.Errorf("status %d, err %v", status, err)
		}
	})

	t.Run("PrivateByName", func(t *testing.T) {
		t.Parallel()
		address, roots, got := receiver(t, true, ok)
		_, port, err := net.SplitHostPort(strings.TrimPrefix(address, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		// localhost means 127.0.0.1, whatever its name looks like.
		status, err := send(t, New(policy(t, "public", "10.0.0.0/8"), roots), "https://localhost:"+port+"/")
		if status != 0 || !errors.Is(err, ErrForbidden) || len(got) != 0 {
			t.Errorf("status %d, err %v, received %d", status, err, len(got))
		}
	})

	t.Run("ListedHostMayBePrivateAndPlain", func(t *testing.T) {
		t.Parallel()
		address, _, got := receiver(t, false, ok)
		_, port, err := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if status, err := send(t, New(policy(t, "localhost"), nil), "http://localhost:"+port); status != http.StatusNoContent || err != nil || len(got) != 1 {
			t.Errorf("status %d, err %v", status, err)
		}
	})

	t.Run("NoRedirect", func(t *testing.T) {
		t.Parallel()
		inner, _, private := receiver(t, false, ok)
		for _, code := range []int{301, 302, 303, 307, 308} {
			address, _, _ := receiver(t, false, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inner, code) })
			if status, err := send(t, New(policy(t, "127.0.0.1"), nil), address); status != code || err == nil {
				t.Errorf("status %d, err %v", status, err)
			}
		}
		if len(private) != 0 {
			t.Error("the redirect was followed")
		}
	})

	t.Run("OnlySuccessCounts", func(t *testing.T) {
		t.Parallel()
		for _, code := range []int{400, 404, 410, 429, 500, 503} {
			address, _, _ := receiver(t, false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
			if status, err := send(t, New(policy(t, "127.0.0.1"), nil), address); status != code || err == nil {
				t.Errorf("status %d, err %v", status, err)
			}
		}
	})

	t.Run("EndlessAnswer", func(t *testing.T) {
		t.Parallel()
		stopped := make(chan struct{})
		address, _, _ := receiver(t, false, func(w http.ResponseWriter, _ *http.Request) {
			defer close(stopped)
			for {
				if _, err := w.Write(make([]byte, 32<<10)); err != nil {
					return
				}
			}
		})
		if status, err := send(t, New(policy(t, "127.0.0.1"), nil), address); status != 200 || err != nil {
			t.Errorf("status %d, err %v", status, err)
		}
		<-stopped
	})

	t.Run("HugeHeader", func(t *testing.T) {
		t.Parallel()
		address, _, _ := receiver(t, false, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
			w.WriteHeader(http.StatusOK)
		})
		if status, err := send(t, New(policy(t, "127.0.0.1"), nil), address); status != 0 || err == nil {
			t.Errorf("status %d, err %v", status, err)
		}
	})

	t.Run("EndsWithItsContext", func(t *testing.T) {
		t.Parallel()
		address, _, got := receiver(t, false, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-got; cancel() }()
		if status, err := New(policy(t, "127.0.0.1"), nil).Send(ctx, Message{ID: "x", URL: address, Secret: NewSecret()}, time.Now()); status != 0 || err == nil {
			t.Errorf("status %d, err %v", status, err)
		}
	})

	t.Run("ReasonNamesNoAddress", func(t *testing.T) {
		t.Parallel()
		ts := httptest.NewServer(http.NotFoundHandler())
		ts.Close()
		_, err := send(t, New(policy(t, "127.0.0.1"), nil), ts.URL+"/?key=secret")
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("err %v", err)
		}
	})
}
