package jobs

import (
	"slices"
	"sync"
)

// watch tells the event streams of this process that a submission has changed.
// A worker in another process cannot be heard here, so streams also look by
// themselves now and then.
type watch struct {
	mu       sync.Mutex
	watchers map[int64][]chan struct{}
}

// Watch returns a channel that receives after each change of a submission;
// changes that nobody has taken yet count as one. Call stop when done.
func (q *Queue) Watch(id int64) (changes <-chan struct{}, stop func()) {
	return q.watch.add(id)
}

func (w *watch) add(id int64) (<-chan struct{}, func()) {
	// One place: a change between two looks of the receiver is not missed.
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watchers == nil {
		w.watchers = map[int64][]chan struct{}{}
	}
	w.watchers[id] = append(w.watchers[id], ch)
	return ch, func() { w.remove(id, ch) }
}

func (w *watch) remove(id int64, ch chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := slices.DeleteFunc(w.watchers[id], func(c chan struct{}) bool { return c == ch })
	if len(left) == 0 {
		delete(w.watchers, id)
		return
	}
	w.watchers[id] = left
}

func (w *watch) notify(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range w.watchers[id] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
