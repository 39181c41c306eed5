package exercises_test

import (
	"testing"

	"redeliver/exercises"
)

func TestBuiltin(t *testing.T) {
	t.Parallel()
	catalog := exercises.Open(exercises.Builtin(), nil)
	for _, problem := range catalog.Problems() {
		t.Error(problem)
	}
	if _, ok := catalog.Exercise("core/charge-once"); !ok {
		t.Error("core/charge-once is not in the built-in packs")
	}
}
