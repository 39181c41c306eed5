package exercises_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"redeliver/exercises"
)

// TestBroken loads the sound pack with one thing changed. The comment of each
// archive says what, and which problems must be reported, all of them and in
// this order:
//
//	in FILE          edits a file of the sound pack …
//	old TEXT         … the first place where this stands (\n is a line end) …
//	new TEXT         … to this
//	delete FILE
//	want PROBLEM
//
// The archive's files are added, or replace those of the sound pack.
func TestBroken(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/broken/*.txtar")
	if err != nil || len(archives) < 25 {
		t.Fatalf("found %d archives (%v), want at least 25", len(archives), err)
	}
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			t.Parallel()
			fsys, want := brokenPack(t, archive)
			pack, problems := exercises.Load(fsys, "demo")
			if pack != nil {
				t.Error("a pack with problems was returned")
			}
			if diff := cmp.Diff(want, strings.Split(problems.String(), "\n")); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// soundPack gives the files of testdata/sound.txtar.
func soundPack(t testing.TB) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	addArchive(t, fsys, "testdata/sound.txtar")
	return fsys
}

// addArchive adds an archive's files and returns its comment.
func addArchive(t testing.TB, fsys fstest.MapFS, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(content)
	for _, file := range archive.Files {
		fsys[file.Name] = &fstest.MapFile{Data: file.Data}
	}
	return string(archive.Comment)
}

func brokenPack(t *testing.T, archive string) (fstest.MapFS, []string) {
	t.Helper()
	fsys := soundPack(t)
	var want []string
	var file, old string
	for line := range strings.Lines(addArchive(t, fsys, archive)) {
		verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch verb {
		case "in":
			file = "demo/" + rest
		case "old":
			old = strings.ReplaceAll(rest, `\n`, "\n")
		case "new":
			edit(t, fsys, file, old, strings.ReplaceAll(rest, `\n`, "\n"))
		case "delete":
			delete(fsys, "demo/"+rest)
		case "want":
			want = append(want, rest)
		default:
			t.Fatalf("%s: unknown line %q", archive, line)
		}
	}
	return fsys, want
}

// edit changes the first place in a file where old stands.
func edit(t testing.TB, fsys fstest.MapFS, file, old, replacement string) {
	t.Helper()
	before := string(fsys[file].Data)
	if !strings.Contains(before, old) {
		t.Fatalf("%s does not hold %q", file, old)
	}
	fsys[file] = &fstest.MapFile{Data: []byte(strings.Replace(before, old, replacement, 1))}
}
