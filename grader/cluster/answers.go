package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"redeliver/grader/cluster/gate"
)

// heldAnswers writes down the produce requests of a producer and can hold the
// answers to them.
type heldAnswers struct {
	held chan struct{} // gets one entry for each answer that is held

	mu      sync.Mutex
	holding bool
	verdict chan bool // for the answer that is held: true lets it through
	written [][]byte
}

// holdAnswers makes the gate of a producer ask.
func holdAnswers(g *gate.Gate) *heldAnswers {
	a := &heldAnswers{held: make(chan struct{}, 1), verdict: make(chan bool, 1)}
	g.Requests(func(request []byte) {
		if len(request) > 14 && binary.BigEndian.Uint16(request[4:6]) == uint16(kmsg.Produce) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.written = append(a.written, bytes.Clone(request))
		}
	})
	g.Answers(kmsg.Produce, a.decide)
	return a
}

// decide waits for what becomes of an answer while answers are held.
func (a *heldAnswers) decide() (deliver bool) {
	a.mu.Lock()
	holding := a.holding
	a.mu.Unlock()
	if !holding {
		return true
	}
	a.held <- struct{}{}
	return <-a.verdict
}

// hold holds the answers from now on, one after the other.
func (a *heldAnswers) hold() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.holding = true
}

// lose drops the answer that is held together with its connection; the next
// one is held again.
func (a *heldAnswers) lose() { a.verdict <- false }

// release lets the answer that is held and all later ones through.
func (a *heldAnswers) release() {
	a.mu.Lock()
	a.holding = false
	a.mu.Unlock()
	a.verdict <- true
}

// end drops the answer that is held, if one is, and holds none from now on.
func (a *heldAnswers) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.holding = false
	select {
	case a.verdict <- false:
	default:
	}
}

// requests decodes what was written.
func (a *heldAnswers) requests() ([]Entry, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]Entry, 0, len(a.written))
	for _, raw := range a.written {
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
