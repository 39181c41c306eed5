package exercises_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
)

// watchedFS says which files were opened.
type watchedFS struct {
	fstest.MapFS
	mu     sync.Mutex
	opened []string
}

func (w *watchedFS) Open(name string) (fs.File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.MapFS[name]; f != nil { // folders have to be listed
		w.opened = append(w.opened, name)
	}
	return w.MapFS.Open(name)
}

func publicNames(c *exercises.Catalog) (names []string) {
	for _, head := range c.Public() {
		names = append(names, head.Name())
	}
	return names
}

func TestLazy(t *testing.T) {
	t.Parallel()
	const missing = "bad/first/schema.sql: The file is missing."
	broken := func(t *testing.T) fstest.MapFS {
		return merged(without(renamed(t, "bad"), "bad/first/schema.sql"),
			merged(renamed(t, "good"), requiring(t, renamed(t, "more"), "bad", "bad/first")))
	}
	leftOut := []string{missing, "more: The pack is left out: it requires the pack bad, which is not installed."}

	t.Run("OpenReadsManifestsOnly", func(t *testing.T) {
		t.Parallel()
		fsys := &watchedFS{MapFS: renamed(t, "alpha")}
		catalog := exercises.Open(fsys, nil)
		if diff := cmp.Diff([]string{"alpha/pack.yaml", "alpha/first/exercise.yaml"}, fsys.opened); diff != "" {
			t.Errorf("opened (-want +got):\n%s", diff)
		}
		if _, ok := catalog.Exercise("alpha/first"); !ok || !slices.Contains(fsys.opened, "alpha/first/schema.sql") {
			t.Error("the exercise is not read when it is asked for")
		}
	})
	t.Run("WhatIsNoFileIsNotOpened", func(t *testing.T) {
		t.Parallel()
		fsys := &watchedFS{MapFS: renamed(t, "alpha")}
		fsys.MapFS["alpha/first/exercise.yaml"].Mode = fs.ModeNamedPipe
		exercises.Open(fsys, nil)
		if slices.Contains(fsys.opened, "alpha/first/exercise.yaml") {
			t.Error("a named pipe was opened: nobody may ever write to it")
		}
	})
	t.Run("BrokenPackIsLeftOutOnceItIsOpened", func(t *testing.T) {
		t.Parallel()
		catalog := exercises.Open(broken(t), nil)
		if diff := cmp.Diff([]string{"bad/first", "good/first", "more/first"}, publicNames(catalog)); diff != "" {
			t.Errorf("public at the start (-want +got):\n%s", diff)
		}
		if _, ok := catalog.Exercise("bad/first"); ok {
			t.Error("the exercise is given away, but a file of it is missing")
		}
		if diff := cmp.Diff([]string{"good/first"}, publicNames(catalog)); diff != "" {
			t.Errorf("public afterwards (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(leftOut, lines(catalog.Problems())); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(leftOut, lines(catalog.Verify(t.Context()))); diff != "" {
			t.Errorf("Verify, when somebody else was first (-want +got):\n%s", diff)
		}
	})
	t.Run("VerifyTellsWhatOpenCouldNotSee", func(t *testing.T) {
		t.Parallel()
		fsys := broken(t)
		edit(t, fsys, "good/pack.yaml", "format_version: 1", "format_version: 2")
		catalog := exercises.Open(fsys, nil)
		if want := "good/pack.yaml:4:17: The format_version must be 1."; catalog.Problems().String() != want {
			t.Errorf("problems at the start:\n%s\nwant:\n%s", catalog.Problems(), want)
		}
		if diff := cmp.Diff(leftOut, lines(catalog.Verify(t.Context()))); diff != "" {
			t.Errorf("Verify (-want +got):\n%s", diff)
		}
	})
	t.Run("PackThatHasChangedIsNotMixedWithItsList", func(t *testing.T) {
		t.Parallel()
		dir := onDisk(t, renamed(t, "alpha"))
		catalog := exercises.Open(nil, []string{dir})
		manifest := filepath.Join(dir, "alpha", "first", "exercise.yaml")
		content, err := os.ReadFile(manifest)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(manifest, []byte(strings.Replace(string(content), "level: 1", "level: 2", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, ok := catalog.Exercise("alpha/first")
		want := filepath.Join(dir, "alpha") + ": The pack has changed since it was found here. Start the program again."
		if ok || catalog.Problems().String() != want {
			t.Errorf("found %v, problems:\n%s\nwant:\n%s", ok, catalog.Problems(), want)
		}
	})
	t.Run("ManyAskAtOnce", func(t *testing.T) {
		t.Parallel()
		catalog := exercises.Open(broken(t), nil)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { catalog.Verify(t.Context()) })
			wg.Go(func() {
				if _, ok := catalog.Exercise("bad/first"); ok {
					t.Error("bad/first is given away")
				}
				if _, ok := catalog.Exercise("good/first"); !ok {
					t.Error("good/first is missing")
				}
				catalog.Public()
				catalog.Packs()
				catalog.Problems()
			})
		}
		wg.Wait()
		if diff := cmp.Diff(leftOut, lines(catalog.Problems())); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
	})
}

func lines(problems exercises.Problems) []string { return strings.Split(problems.String(), "\n") }
