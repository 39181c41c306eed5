// Package gate stands between Kafka clients and the network, and can break it.
package gate

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

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
	conns   []*conn
	answers *answers
	written func(request []byte)
	latency func(kmsg.Key) time.Duration
	moving  int // messages on their way
}

// answers is what becomes of the answers to requests of a kind.
type answers struct {
	to     kmsg.Key
	once   bool // only to the next one
	decide func() (deliver bool)
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

// Cut is the death of the process: its connections are dead, no new ones come. The
// broker does not hear of it. If it did, chance would decide whether kfake, when it
// answers a JoinGroup of the dead, begins to wait for heartbeats or keeps the member
// for ever.
func (g *Gate) Cut() {
	g.set(func() {
		g.isCut = true
		for _, c := range g.conns {
			_ = c.Conn.SetDeadline(longAgo) // ends what waits; a pipe knows no other error
		}
	})
}

// longAgo is a deadline that is over, in virtual time, too.
var longAgo = time.Unix(1, 0)

// Close is Cut, and the broker hears of it.
func (g *Gate) Close() {
	g.set(func() {
		g.isCut = true
		for _, c := range g.conns {
			_ = c.Conn.Close() // a pipe; it has no other end to wait for
		}
	})
}

// LoseAnswer drops the answer to the next request of this kind, which the broker has
// processed by then, and closes its connection. lost hears of it, once, before the
// client does, and must not block.
func (g *Gate) LoseAnswer(to kmsg.Key, lost func()) {
	g.set(func() {
		g.answers = &answers{to: to, once: true, decide: func() bool { lost(); return false }}
	})
}

// Answers asks decide about each answer to requests of this kind, after the broker has
// done its work. decide may wait. What it does not deliver is dropped with its
// connection.
func (g *Gate) Answers(to kmsg.Key, decide func() (deliver bool)) {
	g.set(func() { g.answers = &answers{to: to, decide: decide} })
}

// Requests shows each request as it is written. It is not called after the first
// connection was opened, and written must not keep or change the bytes.
func (g *Gate) Requests(written func(request []byte)) {
	g.set(func() { g.written = written })
}

// Delay gives each message a time on its way, which depends on the kind of request. It
// is not called after the first connection was opened.
func (g *Gate) Delay(latency func(kmsg.Key) time.Duration) {
	g.set(func() { g.latency = latency })
}

// Moving says whether messages are on their way because of Delay.
func (g *Gate) Moving() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.moving > 0
}

// Awaits says whether the answer to a request of a kind has not come.
func (g *Gate) Awaits(key kmsg.Key) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.conns, func(c *conn) bool { return c.awaits(key) })
}

// DialContext is for kgo.Dialer.
func (g *Gate) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := g.pass(); err != nil {
		return nil, err
	}
	dialed, err := g.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isCut { // meanwhile
		return nil, errors.Join(errCut, dialed.Close())
	}
	c := &conn{Conn: dialed, gate: g}
	g.conns = append(g.conns, c)
	return c, nil
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

// about is what is known of a request that is written: what decides about its answer;
// nil: nothing does.
func (g *Gate) about(key kmsg.Key, request []byte) (decide func() bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.written != nil {
		g.written(request)
	}
	if g.answers == nil || g.answers.to != key {
		return nil
	}
	decide = g.answers.decide
	if g.answers.once {
		g.answers = nil
	}
	return decide
}

// travel takes the time of a message.
func (g *Gate) travel(key kmsg.Key) {
	g.mu.Lock()
	if g.latency == nil || g.isCut {
		g.mu.Unlock()
		return
	}
	g.moving++
	latency := g.latency(key)
	g.mu.Unlock()
	time.Sleep(latency) //nolint:forbidigo // virtual time
	g.mu.Lock()
	defer g.mu.Unlock()
	g.moving--
}

// keyOf is the kind of a request: franz-go writes one at once, its size in the first
// four bytes and the API key in the next two.
func keyOf(request []byte) kmsg.Key {
	if len(request) < 6 {
		return -1
	}
	return kmsg.Key(int16(binary.BigEndian.Uint16(request[4:6])))
}
