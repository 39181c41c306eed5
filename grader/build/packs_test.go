package build_test

import (
	"os"
	"path/filepath"
	"testing"

	"redeliver/exercises"
	"redeliver/grader/build"
	"redeliver/grader/build/buildtest"
)

// Every handler of the packs compiles in the sandbox. That it compiles with the
// real client libraries too is what "go vet ./..." shows: it is in this module.
func TestHandlersOfThePacksBuild(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"starter", "solutions/*", "wrong/*"} {
		found, err := filepath.Glob(filepath.Join("../../exercises/packs/*/*", filepath.FromSlash(pattern), "handler.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 10 {
		t.Fatalf("only %d handlers were found", len(files))
	}
	for _, f := range files {
		t.Run(filepath.Base(filepath.Dir(f)), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			submission := []exercises.File{{Name: "handler.go", Content: content}}
			if findings := build.Check("handler", []string{"handler.go"}, submission); len(findings) > 0 {
				t.Fatal(lines(findings))
			}
			_, findings, err := buildtest.Compiler(t).Build(t.Context(), "handler", submission)
			if err != nil || len(findings) > 0 {
				t.Fatal(err, lines(findings))
			}
		})
	}
}
