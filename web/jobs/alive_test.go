package jobs

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"testing"
	"time"

	"redeliver/web/store"
	"redeliver/web/store/storetest"
)

// A database that vanishes from the network answers nothing, and refuses nothing.
func TestSignOfLifeDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	address, vanish := passOn(t, storetest.Postgres(t))
	st, err := store.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() }) // its connections are dead
	s := &sign{st: st, name: "worker", within: 100 * time.Millisecond}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // against hanging
	defer cancel()
	if err := s.show(ctx); err != nil {
		t.Fatal(err)
	}
	vanish()
	if err := s.show(ctx); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		t.Errorf("err %v, hung: %v", err, ctx.Err())
	}
}

// passOn is the address of a database behind a connection that vanish makes dumb.
func passOn(t *testing.T, address string) (behind string, vanish func()) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	target := u.Host
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u.Host = l.Addr().String()
	gone := make(chan struct{})
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", target)
			if err != nil {
				_ = from.Close()
				return
			}
			t.Cleanup(func() { _ = errors.Join(from.Close(), to.Close()) })
			for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
				go pass(pair[0], pair[1], gone)
			}
		}
	}()
	return u.String(), func() { close(gone) }
}

// pass copies until gone, and then swallows.
func pass(from io.Reader, to io.Writer, gone <-chan struct{}) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		select {
		case <-gone:
			continue
		default:
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
