// Package buildtest gives tests a compiler that is prepared once per machine
// and not once per test.
package buildtest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"redeliver/grader/build"
)

var shared = sync.OnceValues(func() (*build.Compiler, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	c := build.New(build.Config{Dir: dir, BuildCache: filepath.Join(dir, "gocache")})
	return c, nil
})

// Dir is the folder in the user's cache in which tests prepare packages.
func Dir() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "redeliver-test"), err
}

// Compiler returns a prepared compiler that all tests of a binary share. The
// first run on a machine takes half a minute, and a few seconds when sources of
// the guest have changed.
func Compiler(t testing.TB) *build.Compiler {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	if !c.State().Ready {
		t.Log("preparing the compiler; the first time this takes half a minute")
		if err := c.Prepare(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	return c
}
