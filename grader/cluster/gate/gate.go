// Package gate stands between a Kafka client and the network, and can break it.
package gate

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

// Dialer opens connections, as kgo.Dialer has it.
type Dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// Gate stands between the clients of one process and the network. Its methods may
// be called from several goroutines.
type Gate struct {
	dial Dialer

	mu      sync.Mutex
	changed sync.Cond
	frozen  bool
	isCut   bool
	conns   []net.Conn
	swallow kmsg.Key // when armed
	armed   bool
	lost    func() // the answer is dropped
}

// New returns an open gate before dial.
func New(dial Dialer) *Gate {
	g := &Gate{dial: dial}
	g.changed.L = &g.mu
	return g
}

// Freeze lets nothing through and drops nothing: a process that does not run.
func (g *Gate) Freeze() { g.set(func() { g.frozen = true }) }

// Thaw ends Freeze.
func (g *Gate) Thaw() { g.set(func() { g.frozen = false }) }

// Cut is the death of the process: connections close, no new ones come.
func (g *Gate) Cut() {
	g.set(func() {
		g.isCut = true
		for _, c := range g.conns {
			_ = c.Close() // a pipe; it has no other end to wait for
		}
	})
}

// LoseAnswer drops the answer to the next request of this kind, which the broker has
// processed by then, and closes its connection. lost hears of it, once, before the
// client does, and must not block.
func (g *Gate) LoseAnswer(to kmsg.Key, lost func()) {
	g.set(func() { g.swallow, g.armed, g.lost = to, true, lost })
}

func (g *Gate) set(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
	g.changed.Broadcast()
}

// pass waits while the gate is frozen. A sync.Cond lets the virtual clock move.
func (g *Gate) pass() error {
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
func (g *Gate) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
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
func (g *Gate) takes(request []byte) bool {
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
	gate *Gate
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
		c.gate.lost()
		_ = c.Close() // a pipe, as above
		return 0, io.EOF
	}
	return n, err
}
