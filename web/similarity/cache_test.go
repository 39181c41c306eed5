package similarity_test

import (
	"errors"
	"strings"
	"testing"

	"redeliver/web/similarity"
)

func TestCache(t *testing.T) {
	t.Parallel()
	c := similarity.NewCache(10, func(s string) int { return len(s) })
	var worked strings.Builder
	ask := func(key string, size int) {
		t.Helper()
		v, err := c.Of(key, func() (string, error) {
			worked.WriteString(key)
			return strings.Repeat(key, size), nil
		})
		if err != nil || v != strings.Repeat(key, size) {
			t.Errorf("%s: %q, err %v", key, v, err)
		}
	}
	ask("a", 5)
	ask("b", 5)
	ask("a", 5)  // so b is the one that nobody has asked for longest
	ask("c", 5)  // in place of b
	ask("a", 5)  // kept
	ask("b", 5)  // anew, in place of c
	ask("d", 11) // larger than all together: not kept, and nothing goes for it
	ask("a", 5)
	ask("d", 11)
	if got := worked.String(); got != "abcbdd" {
		t.Errorf("worked out %q", got)
	}
	failed := errors.New("failed")
	for range 2 {
		if _, err := c.Of("e", func() (string, error) { return "", failed }); !errors.Is(err, failed) {
			t.Errorf("err %v", err)
		}
	}
}
