package grader

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"

	"redeliver/grader/sandbox"
)

// maxMemo bounds the memo of a submission, in bytes as node.size counts them. A
// grading of a handler of ten calls needs about one megabyte.
const maxMemo = 16 << 20

// memo holds what the processes of a submission have done: for each identity a
// tree, whose edges are events and whose nodes are the moves that followed. Most
// schedules differ from others in one place, so most of what a process meets was
// met before. A nil memo remembers nothing. It may be used by several goroutines;
// what it has already decides which guests run, and nothing that is observed.
type memo struct {
	mu    sync.Mutex
	roots map[string]*node // by the process's name
	size  int
}

func newMemo() *memo { return &memo{roots: map[string]*node{}} }

// node is a process after an event. All but next never changes.
type node struct {
	parent *node // nil for a process that has just started
	event  event
	move   move
	next   map[eventKey]*node
}

// eventKey stands for an event. The hash makes it small; it is one for which
// nobody can find two events with the same.
type eventKey struct {
	kind eventKind
	at   int64 // nanoseconds since 1970
	data [sha256.Size]byte
}

func (ev event) key() eventKey { return eventKey{ev.kind, ev.at.UnixNano(), sha256.Sum256(ev.data)} }

// errUnlike says that a process did something else than another one did with the
// same events: there is a hole in what we believe to be all that a guest sees.
var errUnlike = errors.New("a process that was run again did something else")

// root is a process of that name that has just started.
func (m *memo) root(name string) *node {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.roots[name] == nil {
		m.roots[name] = &node{}
	}
	return m.roots[name]
}

// after is what a process at n does after an event; nil when that is not known.
func (m *memo) after(n *node, ev event) *node {
	if m == nil || n == nil {
		return nil
	}
	key := ev.key()
	m.mu.Lock()
	defer m.mu.Unlock()
	return n.next[key]
}

// add remembers that a process at n did that after an event. The result is nil when
// n is, when the memo is full and for what another run may not do again. The
// error is errUnlike.
func (m *memo) add(n *node, ev event, did move) (*node, error) {
	if m == nil || n == nil || byChance(did) {
		return nil, nil //nolint:nilnil // not remembered is no error
	}
	key := ev.key()
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := n.next[key]; known != nil {
		if !did.equal(known.move) {
			return nil, errUnlike
		}
		return known, nil
	}
	child := &node{parent: n, event: ev, move: did}
	if m.size+child.size() > maxMemo {
		return nil, nil //nolint:nilnil // as above
	}
	m.size += child.size()
	if n.next == nil {
		n.next = map[eventKey]*node{}
	}
	n.next[key] = child
	return child, nil
}

// byChance says that the move is a limit of the machine's time.
func byChance(m move) bool { return m.stop != nil && m.stop.Reason == sandbox.Deadline }

// nodeOverhead is about what a node and its place in a map take, in bytes.
const nodeOverhead = 512

// size is what a node takes, in bytes. The output is shared with the parent's.
func (n *node) size() int {
	size := nodeOverhead + len(n.event.data) + len(n.move.result.Text)
	size += len(n.move.stdout) - len(n.parent.move.stdout) + len(n.move.stderr) - len(n.parent.move.stderr)
	if n.move.request != nil {
		size += len(n.move.request.in)
	}
	if n.move.stop != nil {
		size += len(n.move.stop.Text) + len(n.move.stop.Detail)
	}
	return size
}

// path lists the nodes from the first event to n.
func (n *node) path() []*node {
	var path []*node
	for ; n != nil && n.parent != nil; n = n.parent {
		path = append(path, n)
	}
	slices.Reverse(path)
	return path
}

// equal compares what a schedule can see of two moves.
func (m move) equal(o move) bool {
	sameRequest := m.request == o.request ||
		m.request != nil && o.request != nil && m.request.op == o.request.op && bytes.Equal(m.request.in, o.request.in)
	return sameRequest && m.sameStop(o) && m.result == o.result && m.clock.Equal(o.clock) &&
		bytes.Equal(m.stdout, o.stdout) && bytes.Equal(m.stderr, o.stderr)
}

func (m move) sameStop(o move) bool {
	if m.stop == nil || o.stop == nil {
		return m.stop == o.stop
	}
	a, b := *m.stop, *o.stop
	a.Detail, b.Detail = "", "" // for people, with addresses
	return a == b
}
