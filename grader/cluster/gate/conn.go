package gate

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// conn is one connection behind a gate. Only its reader and its writer use it.
type conn struct {
	net.Conn
	gate *Gate

	mu     sync.Mutex
	last   kmsg.Key // of the request that was written last
	owed   bool     // its answer has not come
	decide func() (deliver bool)
}

func (c *conn) awaits(key kmsg.Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owed && c.last == key
}

// Write gets a whole request.
func (c *conn) Write(b []byte) (int, error) {
	if err := c.gate.pass(); err != nil {
		return 0, err
	}
	key := keyOf(b)
	decide := c.gate.about(key, b)
	c.mu.Lock()
	c.last, c.owed, c.decide = key, true, decide
	c.mu.Unlock()
	c.gate.travel(key)
	return c.Conn.Write(b)
}

// Read decides about an answer only after its first bytes have come: the broker has
// done the work by then.
func (c *conn) Read(b []byte) (int, error) {
	if err := c.gate.pass(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	key, decide := c.last, c.decide
	if err == nil {
		c.owed, c.decide = false, nil
	}
	c.mu.Unlock()
	if err == nil {
		c.gate.travel(key)
	}
	if passed := c.gate.pass(); passed != nil { // frozen or cut while it was under way
		return 0, passed
	}
	if err == nil && decide != nil && !decide() {
		_ = c.Close() // a pipe
		return 0, io.EOF
	}
	return n, err
}

// The client does not close the connection of a dead process, nor wake it.

func (c *conn) Close() error { return c.unlessCut(c.Conn.Close) }

func (c *conn) SetDeadline(t time.Time) error {
	return c.unlessCut(func() error { return c.Conn.SetDeadline(t) })
}

func (c *conn) SetReadDeadline(t time.Time) error {
	return c.unlessCut(func() error { return c.Conn.SetReadDeadline(t) })
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	return c.unlessCut(func() error { return c.Conn.SetWriteDeadline(t) })
}

func (c *conn) unlessCut(do func() error) error {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	if c.gate.isCut {
		return nil
	}
	return do()
}
