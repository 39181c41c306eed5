package build_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"redeliver/exercises"
	"redeliver/grader/build"
	"redeliver/grader/build/buildtest"
)

func TestPrepareWithoutGo(t *testing.T) {
	t.Parallel()
	c := build.New(build.Config{Dir: t.TempDir(), Go: filepath.Join(t.TempDir(), "go")})
	err := c.Prepare(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "the go command was not found") || !strings.Contains(err.Error(), "install Go 1.26 or later, or name its path") {
		t.Errorf("error %v", err)
	}
	if s := c.State(); s.Ready || s.Err == nil || s.String() != "the compiler could not be prepared" {
		t.Errorf("state %+v: %s", s, s)
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]build.State{
		"":                                 {Ready: true},
		"the compiler is not prepared yet": {},
		"preparing the compiler":           {Step: "preparing the compiler"},
		"preparing the compiler: 120 of 247 packages": {Step: "preparing the compiler", Done: 120, Total: 247},
	} {
		if s.String() != want {
			t.Errorf("%+v is %q, want %q", s, s, want)
		}
	}
	if s := buildtest.Compiler(t).State(); !s.Ready {
		t.Errorf("after Prepare: %+v", s)
	}
}

func globKits(t *testing.T, dir string) []string {
	t.Helper()
	kits, err := filepath.Glob(filepath.Join(dir, "packages-*"))
	if err != nil || len(kits) == 0 {
		t.Fatal(kits, err)
	}
	return kits
}

// A folder that is not whole, as after a crash or on a full disk, is made anew.
func TestDamagedPackagesArePreparedAgain(t *testing.T) {
	t.Parallel()
	shared, err := buildtest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(kit string) error{
		"NoManifest":       func(kit string) error { return os.Remove(filepath.Join(kit, "manifest")) },
		"TruncatedArchive": func(kit string) error { return os.Truncate(filepath.Join(kit, "005.a"), 100) },
		"MissingArchive":   func(kit string) error { return os.Remove(filepath.Join(kit, "007.a")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			copyKits(t, dir)
			for _, kit := range globKits(t, dir) {
				if err := damage(kit); err != nil {
					t.Fatal(err)
				}
			}
			c := build.New(build.Config{Dir: dir, BuildCache: filepath.Join(shared, "gocache")})
			reports := 0
			if err := c.Prepare(t.Context(), func(string, int, int) { reports++ }); err != nil {
				t.Fatal(err)
			}
			if reports < 3 {
				t.Errorf("%d reports: the packages were not made anew", reports)
			}
			mustBuild(t, c, accepted)
		})
	}
}

func mustBuild(t *testing.T, c *build.Compiler, src string) build.Result {
	t.Helper()
	r, findings, err := c.Build(t.Context(), "handler", []exercises.File{source("handler.go", src)})
	if err != nil || len(findings) > 0 {
		t.Fatal(err, lines(findings))
	}
	return r
}

// Two processes are as good as two compilers: the lock belongs to an open file.
func TestTwoPrepareOneFolder(t *testing.T) {
	t.Parallel()
	buildtest.Compiler(t)
	shared, err := buildtest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	config := build.Config{Dir: t.TempDir(), BuildCache: filepath.Join(shared, "gocache")}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			c := build.New(config)
			if err := c.Prepare(t.Context(), nil); err != nil {
				t.Error(err)
				return
			}
			mustBuild(t, c, accepted)
		})
	}
	wg.Wait()
	if n := len(globKits(t, config.Dir)); n != 1 {
		t.Errorf("%d prepared folders", n)
	}
	if left, err := os.ReadDir(filepath.Join(config.Dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", left, err)
	}
}

func TestLeastRecentlyUsedProgramsAreRemoved(t *testing.T) {
	t.Parallel()
	c := copyOfCompiler(t, build.Config{CacheBytes: 9 << 20}) // two programs
	submission := func(i int) string { return handle(fmt.Sprintf("\tpanic(%d)", i)) }
	first := mustBuild(t, c, submission(1))
	if first.Cached || len(first.Wasm) > 4<<20 {
		t.Fatalf("cached %t, %d bytes", first.Cached, len(first.Wasm))
	}
	mustBuild(t, c, submission(2))
	if !mustBuild(t, c, submission(1)).Cached {
		t.Error("the first program was not kept")
	}
	mustBuild(t, c, submission(3))
	if !mustBuild(t, c, submission(1)).Cached {
		t.Error("the program that was used last was removed")
	}
	if mustBuild(t, c, submission(2)).Cached {
		t.Error("the program that was not used was kept")
	}
}

func TestDamagedProgramIsBuiltAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := copyTo(t, dir, build.Config{})
	want := mustBuild(t, c, accepted).Wasm
	var program string
	if err := filepath.WalkDir(filepath.Join(dir, "programs"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			program = p
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(b []byte) []byte{
		"Truncated":  func(b []byte) []byte { return b[:len(b)/2] },
		"Empty":      func([]byte) []byte { return nil },
		"OneBitFlip": func(b []byte) []byte { b[1000] ^= 1; return b },
	} {
		b, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, damage(b), 0o644); err != nil {
			t.Fatal(err)
		}
		r := mustBuild(t, c, accepted)
		if r.Cached || string(r.Wasm) != string(want) {
			t.Errorf("%s: cached %t, equal %t", name, r.Cached, string(r.Wasm) == string(want))
		}
	}
}
