package verdict_test

import (
	"testing"

	"redeliver/grader/verdict"
)

func hashOf(parts ...string) string {
	return verdict.SourceHash(func(yield func(string, []byte) bool) {
		for i := 0; i < len(parts); i += 2 {
			if !yield(parts[i], []byte(parts[i+1])) {
				return
			}
		}
	})
}

func TestSourceHash(t *testing.T) {
	t.Parallel()
	want := hashOf("a.go", "x", "b.go", "y")
	// Tokens in bookmarks carry it: it must not change.
	if got := hashOf("handler.go", "package handler\n"); got[:16] != "60e0c432c5f95345" {
		t.Errorf("the hash begins with %s", got[:16])
	}
	if hashOf("b.go", "y", "a.go", "x") != want {
		t.Error("the order of the files changes the hash")
	}
	for name, other := range map[string]string{
		"content": hashOf("a.go", "x", "b.go", "z"), "name": hashOf("a.go", "x", "c.go", "y"), "border": hashOf("a.go", "xb.go", "", "y"), "none": hashOf(),
	} {
		if other == want {
			t.Errorf("%s makes no difference", name)
		}
	}
}
