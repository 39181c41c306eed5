package members

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var errCut = errors.New("the network is cut")

type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// gate stands between one client and the network.
type gate struct {
	dial dialer

	mu      sync.Mutex
	changed sync.Cond
	frozen  bool
	isCut   bool
	conns   []net.Conn
	swallow kmsg.Key // when armed
	armed   bool
	dropped chan struct{} // closed once the answer is dropped
}

func newGate(dial dialer) *gate {
	g := &gate{dial: dial, dropped: make(chan struct{})}
	g.changed.L = &g.mu
	return g
}

// freeze lets nothing through and drops nothing: a process that does not run.
func (g *gate) freeze() { g.set(func() { g.frozen = true }) }

// thaw ends freeze.
func (g *gate) thaw() { g.set(func() { g.frozen = false }) }

// cut is the death of the process: connections close, no new ones come.
func (g *gate) cut() {
	g.set(func() {
		g.isCut = true
		for _, c := range g.conns {
			_ = c.Close() // a pipe; it has no other end to wait for
		}
	})
}

// loseAnswer drops the answer to the next request of this kind, which the broker
// has processed by then, and cuts the network: the client would ask again. It is
// used once in a gate's life.
func (g *gate) loseAnswer(to kmsg.Key) { g.set(func() { g.swallow, g.armed = to, true }) }

func (g *gate) set(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
	g.changed.Broadcast()
}

// pass waits while the gate is frozen. A sync.Cond lets the virtual clock move.
func (g *gate) pass() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.frozen && !g.isCut {
		g.changed.Wait()
	}
	if g.isCut {
		return errCut
	}
	return nil
}

// DialContext is for kgo.Dialer.
func (g *gate) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := g.pass(); err != nil {
		return nil, err
	}
	c, err := g.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conns = append(g.conns, c)
	return &gatedConn{Conn: c, gate: g}, nil
}

// takes says whether the answer to this request is the one to lose.
func (g *gate) takes(request []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.armed || len(request) < 6 || binary.BigEndian.Uint16(request[4:6]) != uint16(g.swallow) {
		return false
	}
	g.armed = false
	return true
}

type gatedConn struct {
	net.Conn
	gate *gate
	mu   sync.Mutex
	drop bool
}

// Write gets a whole request: franz-go writes it at once, its size in the first
// four bytes and the API key in the next two.
func (c *gatedConn) Write(b []byte) (int, error) {
	if err := c.gate.pass(); err != nil {
		return 0, err
	}
	if c.gate.takes(b) {
		c.mu.Lock()
		c.drop = true
		c.mu.Unlock()
	}
	return c.Conn.Write(b)
}

// Read drops an answer only after its first bytes have come: the broker has done
// the work by then.
func (c *gatedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if passed := c.gate.pass(); passed != nil { // frozen or cut while it was under way
		return 0, passed
	}
	c.mu.Lock()
	drop := c.drop
	c.mu.Unlock()
	if err == nil && drop {
		c.gate.cut()
		close(c.gate.dropped)
		return 0, io.EOF
	}
	return n, err
}
