// Package labs keeps the labs of visitors: each has a cluster of its own, and a
// room in which it stands as long as somebody uses it. It is the only caller of
// grader/labs.
package labs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"redeliver/grader/labs"
	"redeliver/grader/labs/scene"
)

var (
	// ErrFull says that as many labs are in use as the server bears.
	ErrFull = errors.New("every lab is in use")
	// ErrCrowded says that as many labs are in use from one network as is fair.
	ErrCrowded = errors.New("too many labs are in use from this network")
	// ErrUnknown is that of grader/labs.
	ErrUnknown = labs.ErrUnknown
	// ErrNotNow is that of grader/labs.
	ErrNotNow = labs.ErrNotNow
)

// Slugs names the labs in their order.
func Slugs() []string { return labs.Slugs() }

// Config bounds what the labs take. Zero values mean the defaults named here.
type Config struct {
	// Idle is how long a lab stands that nobody uses; 10 minutes.
	Idle time.Duration
	// Max bounds the labs that stand at once; 40, of about a megabyte each.
	Max int
	// MaxPerVisitor bounds those of one visitor; 2. The one that was used longest
	// ago makes room.
	MaxPerVisitor int
	// MaxPerNetwork bounds those of all visitors from one network; 12.
	MaxPerNetwork int
	// Limit is how long an action may take; 10 s.
	Limit time.Duration
	start func(ctx context.Context, slug string) (labs.Lab, error) // for tests
}

func (c Config) withDefaults() Config {
	c.Idle = cmp.Or(c.Idle, 10*time.Minute)
	c.Max = cmp.Or(c.Max, 40)
	c.MaxPerVisitor = cmp.Or(c.MaxPerVisitor, 2)
	c.MaxPerNetwork = cmp.Or(c.MaxPerNetwork, 12)
	c.Limit = cmp.Or(c.Limit, 10*time.Second)
	if c.start == nil {
		c.start = labs.Start
	}
	return c
}

// Rooms are the labs that stand.
type Rooms struct {
	cfg Config

	mu     sync.Mutex
	rooms  map[key]*room
	closed bool
}

// key is whose lab it is, and which.
type key struct{ visitor, slug string }

// Visitor is who uses a lab.
type Visitor struct {
	ID      string // of the browser
	Network string // from where; it only counts
}

// New makes an empty house.
func New(cfg Config) *Rooms { return &Rooms{cfg: cfg.withDefaults(), rooms: map[key]*room{}} }

// room holds one lab.
type room struct {
	use  sync.Mutex // held while an action runs
	lab  labs.Lab   // nil before the first action and after the last
	gone bool       // under use: the room was given up

	// Under Rooms.mu.
	timer   *time.Timer
	network string
	used    time.Time
	shown   *State
	changed chan struct{} // closed and replaced when shown changes
}

// State is a lab as it was after its last action.
type State struct {
	Scene   scene.Scene
	Version int // grows with each action
}

// Do carries an action out in the visitor's lab, which it starts if there is none.
func (r *Rooms) Do(ctx context.Context, visitor Visitor, slug, action string, choices map[string]string) error {
	k := key{visitor.ID, slug}
	room, evicted, err := r.enter(k, visitor.Network)
	r.clear(evicted)
	if err != nil {
		return err
	}
	room.use.Lock()
	defer room.use.Unlock()
	if room.gone { // between enter and Lock; the next click starts a new one
		return ErrNotNow
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Limit)
	defer cancel()
	sc, err := room.act(ctx, r.cfg.start, slug, action, choices)
	if errors.Is(err, ErrUnknown) || errors.Is(err, ErrNotNow) {
		return errors.Join(err, r.stays(ctx, k, room))
	}
	if err != nil { // ours: the lab may be in a state that no button leads to
		r.leave(k, room)
		room.end()
		return fmt.Errorf("lab %s: %w", slug, err)
	}
	r.show(room, sc)
	return nil
}

// stays keeps a lab after an action that it did not take. One that was only
// started for it is shown as it is, and one that does not exist has no room.
func (r *Rooms) stays(ctx context.Context, k key, m *room) error {
	if m.lab == nil {
		r.leave(k, m)
		return nil
	}
	if state, _ := r.Look(k.visitor, k.slug); state != nil {
		return nil
	}
	sc, err := m.lab.Scene(ctx)
	if err != nil {
		return err
	}
	r.show(m, sc)
	return nil
}

// act starts the lab if need be and carries an action out; "" only starts it.
func (m *room) act(ctx context.Context, start func(context.Context, string) (labs.Lab, error), slug, action string, choices map[string]string) (sc scene.Scene, err error) {
	if m.lab == nil {
		if m.lab, err = start(ctx, slug); err != nil {
			return sc, err
		}
	}
	if action != "" {
		if err := m.lab.Do(ctx, action, choices); err != nil {
			return sc, err
		}
	}
	return m.lab.Scene(ctx)
}

// end gives a lab up; use is held.
func (m *room) end() {
	m.gone = true
	if m.lab != nil {
		m.lab.Close()
		m.lab = nil
	}
}

// enter finds the room of a lab or makes one. It returns the rooms that had to
// make way, which are taken off the list already.
func (r *Rooms) enter(k key, network string) (_ *room, evicted []*room, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if m, ok := r.rooms[k]; ok {
		m.used = now
		m.timer.Reset(r.cfg.Idle)
		return m, nil, nil
	}
	if r.closed {
		return nil, nil, ErrFull
	}
	if oldest, n := r.oldestOf(k.visitor); n >= r.cfg.MaxPerVisitor {
		evicted = append(evicted, r.remove(oldest))
	}
	switch {
	case len(r.rooms) >= r.cfg.Max:
		return nil, evicted, ErrFull
	case r.from(network) >= r.cfg.MaxPerNetwork:
		return nil, evicted, ErrCrowded
	}
	m := &room{network: network, used: now, changed: make(chan struct{})}
	m.timer = time.AfterFunc(r.cfg.Idle, func() { r.expire(k, m) })
	r.rooms[k] = m
	return m, evicted, nil
}

// Closes names the visitor's lab that makes room when they start another one, or
// is "".
func (r *Rooms) Closes(visitor, slug string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest, n := r.oldestOf(visitor)
	if _, stands := r.rooms[key{visitor, slug}]; stands || n < r.cfg.MaxPerVisitor {
		return ""
	}
	return oldest.slug
}

// oldestOf finds the room that a visitor has used longest ago, and counts theirs.
func (r *Rooms) oldestOf(visitor string) (oldest key, n int) {
	for k, m := range r.rooms {
		if k.visitor != visitor {
			continue
		}
		if n == 0 || m.used.Before(r.rooms[oldest].used) {
			oldest = k
		}
		n++
	}
	return oldest, n
}

// from counts the labs of a network.
func (r *Rooms) from(network string) (n int) {
	for _, m := range r.rooms {
		if m.network == network {
			n++
		}
	}
	return n
}

// remove takes a room off the list and tells those who watch it; mu is held.
func (r *Rooms) remove(k key) *room {
	m := r.rooms[k]
	delete(r.rooms, k)
	m.timer.Stop()
	close(m.changed)
	m.changed = nil
	return m
}

// leave removes a room if it is still the one on the list.
func (r *Rooms) leave(k key, m *room) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rooms[k] == m {
		r.remove(k)
	}
}

// expire ends a lab that nobody used.
func (r *Rooms) expire(k key, m *room) {
	r.mu.Lock()
	if r.rooms[k] != m || time.Since(m.used) < r.cfg.Idle { // it was used just now
		r.mu.Unlock()
		return
	}
	r.remove(k)
	r.mu.Unlock()
	r.clear([]*room{m})
}

// clear ends labs that are off the list, each after the action that it may be in.
func (r *Rooms) clear(gone []*room) {
	for _, m := range gone {
		m.use.Lock()
		m.end()
		m.use.Unlock()
	}
}

// show makes a scene the current one.
func (r *Rooms) show(m *room, sc scene.Scene) {
	r.mu.Lock()
	defer r.mu.Unlock()
	version := 1
	if m.shown != nil {
		version = m.shown.Version + 1
	}
	m.shown = &State{Scene: sc, Version: version}
	if m.changed != nil {
		close(m.changed)
		m.changed = make(chan struct{})
	}
}

// Look returns the visitor's lab as it stands, and a channel that is closed when
// that changes. There is none before the first action and after the last; both
// results are then nil.
func (r *Rooms) Look(visitor, slug string) (*State, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.rooms[key{visitor, slug}]
	if !ok || m.shown == nil {
		return nil, nil
	}
	return m.shown, m.changed
}

// Forget ends the labs of a visitor.
func (r *Rooms) Forget(visitor string) {
	r.mu.Lock()
	var gone []*room
	for k := range r.rooms {
		if k.visitor == visitor {
			gone = append(gone, r.remove(k))
		}
	}
	r.mu.Unlock()
	r.clear(gone)
}

// Close ends every lab; none can be started afterwards.
func (r *Rooms) Close() {
	r.mu.Lock()
	r.closed = true
	var gone []*room
	for k := range r.rooms {
		gone = append(gone, r.remove(k))
	}
	r.mu.Unlock()
	r.clear(gone)
}
