package build_test

import (
	"testing"

	"redeliver/exercises"
	"redeliver/grader/build"
	"redeliver/grader/build/buildtest"
)

// Every handler of the packs compiles in the sandbox. That it compiles with the
// real client libraries too is what "go vet ./..." shows: it is in this module.
func TestHandlersOfThePacksBuild(t *testing.T) {
	t.Parallel()
	catalog := exercises.Open(exercises.Builtin(), nil)
	handlers := 0
	for _, pack := range catalog.Packs() {
		for _, e := range pack.Exercises {
			samples := append([]exercises.Sample{{Name: "starter", Files: e.Starter}}, e.Solutions...)
			for _, s := range append(samples, e.Wrong...) {
				handlers++
				t.Run(e.Slug+"/"+s.Name, func(t *testing.T) {
					t.Parallel()
					if findings := build.Check(e.Signature(), e.Editable, s.Files); len(findings) > 0 {
						t.Fatal(lines(findings))
					}
					_, findings, err := buildtest.Compiler(t).Build(t.Context(), e.Signature(), s.Files)
					if err != nil || len(findings) > 0 {
						t.Fatal(err, lines(findings))
					}
				})
			}
		}
	}
	if handlers < 10 {
		t.Fatalf("only %d handlers were found: %v", handlers, catalog.Problems())
	}
}
