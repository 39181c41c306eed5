package similarity

import (
	"container/list"
	"sync"
)

// Cache keeps what was worked out last, up to a size. Several goroutines may use it.
type Cache[V any] struct {
	most int
	size func(V) int

	mu    sync.Mutex
	total int
	byKey map[string]*list.Element
	order *list.List // of cached[V], what was asked for last in front
}

type cached[V any] struct {
	key   string
	value V
}

// NewCache keeps values that together are no larger than most.
func NewCache[V any](most int, size func(V) int) *Cache[V] {
	return &Cache[V]{most: most, size: size, byKey: map[string]*list.Element{}, order: list.New()}
}

// Of returns what is kept, or else works it out and keeps it. It is worked out without
// the lock: two who ask at once may do it twice, and nobody waits for the other. What
// failed is not kept.
func (c *Cache[V]) Of(key string, work func() (V, error)) (V, error) {
	if v, ok := c.get(key); ok {
		return v, nil
	}
	v, err := work()
	if err == nil {
		c.put(key, v)
	}
	return v, err
}

func (c *Cache[V]) get(key string) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.byKey[key]
	if !ok {
		return v, false
	}
	c.order.MoveToFront(el)
	return el.Value.(cached[V]).value, true // only put fills the list
}

func (c *Cache[V]) put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok || c.size(v) > c.most {
		return
	}
	c.byKey[key] = c.order.PushFront(cached[V]{key, v})
	c.total += c.size(v)
	for c.total > c.most {
		last := c.order.Back()
		old := c.order.Remove(last).(cached[V])
		delete(c.byKey, old.key)
		c.total -= c.size(old.value)
	}
}
