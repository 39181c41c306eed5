package web

import (
	"fmt"
	"strings"
	"testing"

	"redeliver/exercises"
)

// Texts are rendered when they are asked for, kept, and never more than maxTexts.
func TestTexts(t *testing.T) {
	t.Parallel()
	e, ok := exercises.Open(exercises.Builtin(), nil).Exercise("core/charge-once")
	if !ok {
		t.Fatal("no exercise core/charge-once")
	}
	var all texts
	de, err := all.of(e, "de")
	if err != nil || !strings.Contains(de.statement, "<p>") || len(de.hints) == 0 || de.approach == "" {
		t.Fatalf("%v, %+v", err, de)
	}
	if en, err := all.of(e, "xx"); err != nil || en.statement == de.statement || len(all.kept) != 2 {
		t.Errorf("a language that the pack does not speak: %v, %d texts are kept", err, len(all.kept))
	}
	for i := range maxTexts {
		other := *e
		other.Slug = fmt.Sprintf("other-%d", i)
		if _, err := all.of(&other, "en"); err != nil {
			t.Fatal(err)
		}
	}
	if len(all.kept) != maxTexts || len(all.order) != maxTexts {
		t.Errorf("%d texts are kept", len(all.kept))
	}
	if again, err := all.of(e, "de"); err != nil || again.statement != de.statement {
		t.Errorf("a text that was dropped is not rendered again: %v", err)
	}
}
