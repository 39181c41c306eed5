package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var errProcessEnded = errors.New("the process of the producer has ended")

// answerGate stands between a producer and the network. It writes down the
// produce requests and can hold their answers.
type answerGate struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
	held chan struct{} // gets one entry for each answer that is held

	mu      sync.Mutex
	holding bool
	verdict chan bool // for the answer that is held: true lets it through
	closed  bool
	conns   []net.Conn
	written [][]byte // produce requests
}

func newAnswerGate(dial func(ctx context.Context, network, addr string) (net.Conn, error)) *answerGate {
	return &answerGate{dial: dial, held: make(chan struct{}, 1), verdict: make(chan bool, 1)}
}

// hold holds the answers from now on, one after the other.
func (g *answerGate) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holding = true
}

// lose drops the answer that is held together with its connection; the next
// one is held again.
func (g *answerGate) lose() { g.verdict <- false }

// release lets the answer that is held and all later ones through.
func (g *answerGate) release() {
	g.mu.Lock()
	g.holding = false
	g.mu.Unlock()
	g.verdict <- true
}

// close cuts every connection and refuses new ones.
func (g *answerGate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed, g.holding = true, false
	for _, c := range g.conns {
		_ = c.Close() // a pipe; it has no other end to wait for
	}
	select {
	case g.verdict <- false: // for an answer that may be held
	default:
	}
}

func (g *answerGate) dialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := g.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errors.Join(errProcessEnded, c.Close())
	}
	g.conns = append(g.conns, c)
	return &answerConn{Conn: c, gate: g}, nil
}

// requests decodes what was written.
func (g *answerGate) requests() ([]Entry, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]Entry, 0, len(g.written))
	for _, raw := range g.written {
		e, err := firstOf(raw)
		if err != nil {
			return nil, fmt.Errorf("read a produce request: %w", err)
		}
		out = append(out, e)
	}
	return out, nil
}

// firstOf reads the first record of a produce request: size, header (API key,
// version, correlation id, client id, tags), body.
func firstOf(raw []byte) (Entry, error) {
	r := kmsg.NewPtrProduceRequest()
	r.SetVersion(int16(binary.BigEndian.Uint16(raw[6:8])))
	body := raw[14+max(0, int(int16(binary.BigEndian.Uint16(raw[12:14])))):]
	if r.IsFlexible() {
		body = body[1:] // our client sends no tags
	}
	if err := r.ReadFrom(body); err != nil {
		return Entry{}, err
	}
	if len(r.Topics) == 0 || len(r.Topics[0].Partitions) == 0 {
		return Entry{}, errors.New("it has no partition")
	}
	entries, err := entriesOf(r.Topics[0].Partitions[0].Records)
	if err != nil {
		return Entry{}, err
	}
	if len(entries) == 0 {
		return Entry{}, errors.New("it has no record")
	}
	return entries[0], nil
}

// answerConn is one connection. Only a connection's reader and writer use it,
// and the client writes the next produce request after it has read the answer or
// on another connection.
type answerConn struct {
	net.Conn
	gate    *answerGate
	mu      sync.Mutex
	produce bool // the last request was one
}

// Write gets a whole request: franz-go writes it at once.
func (c *answerConn) Write(b []byte) (int, error) {
	isProduce := len(b) > 14 && binary.BigEndian.Uint16(b[4:6]) == uint16(kmsg.Produce)
	c.mu.Lock()
	c.produce = isProduce
	c.mu.Unlock()
	if isProduce {
		c.gate.mu.Lock()
		c.gate.written = append(c.gate.written, append([]byte(nil), b...))
		c.gate.mu.Unlock()
	}
	return c.Conn.Write(b)
}

// Read holds an answer only after its first bytes have come: the broker has done
// the work by then.
func (c *answerConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	isProduce := c.produce
	c.mu.Unlock()
	c.gate.mu.Lock()
	hold := err == nil && isProduce && c.gate.holding && !c.gate.closed
	c.gate.mu.Unlock()
	if !hold {
		return n, err
	}
	c.gate.held <- struct{}{}
	if <-c.gate.verdict {
		return n, nil
	}
	_ = c.Close() // a pipe
	return 0, io.EOF
}
