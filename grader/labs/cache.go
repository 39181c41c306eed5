package labs

import (
	"fmt"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2"

	"redeliver/grader/labs/scene"
)

// keepKeys is how long the cache keeps a key, as in the articles: a day.
const keepKeys = 86_400 * time.Second

// cache is an in-process Redis whose clock stands until it is moved.
type cache struct{ redis *miniredis.Miniredis }

func openCache() *cache { return &cache{miniredis.NewMiniRedis()} }

func (c *cache) close() { c.redis.Close() }

func cacheKey(event string) string { return "paid:" + event }

// knows is GET.
func (c *cache) knows(event string) bool { return c.redis.Exists(cacheKey(event)) }

// remember is SET with EX.
func (c *cache) remember(event string) error {
	if err := c.redis.Set(cacheKey(event), "1"); err != nil {
		return fmt.Errorf("set %s: %w", cacheKey(event), err)
	}
	c.redis.SetTTL(cacheKey(event), keepKeys)
	return nil
}

// pass lets time go by.
func (c *cache) pass(d time.Duration) { c.redis.FastForward(d) }

func (c *cache) table() scene.Table {
	t := scene.Table{Name: "Redis", Columns: []string{"key", "TTL (s)"}}
	for _, key := range c.redis.Keys() {
		t.Rows = append(t.Rows, []string{key, strconv.FormatInt(int64(c.redis.TTL(key)/time.Second), 10)})
	}
	return t
}
