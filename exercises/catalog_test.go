package exercises_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
)

func TestBuiltin(t *testing.T) {
	t.Parallel()
	catalog := exercises.Open(exercises.Builtin(), nil)
	for _, problem := range catalog.Verify(t.Context()) {
		t.Error(problem)
	}

	t.Run("ChargeOnceIsThere", func(t *testing.T) {
		t.Parallel()
		e, ok := catalog.Exercise("core/charge-once")
		if !ok {
			t.Fatal("core/charge-once is missing")
		}
		if len(e.Solutions) < 5 || len(e.Wrong) < 10 || len(e.Hints["en"]) < 3 || len(e.Invariants) < 4 {
			t.Errorf("%d solutions, %d wrong handlers, %d hints, %d invariants",
				len(e.Solutions), len(e.Wrong), len(e.Hints["en"]), len(e.Invariants))
		}
		if !slices.ContainsFunc(catalog.Public(), func(h *exercises.Head) bool { return h.Name() == e.Name() }) {
			t.Error("core/charge-once is not public")
		}
	})
	t.Run("EverythingOnDiskIsEmbedded", func(t *testing.T) {
		t.Parallel()
		onDisk, inProgram := listFiles(t, os.DirFS("packs/core")), listFiles(t, exercises.Builtin())
		for i := range onDisk {
			onDisk[i] = "core/" + onDisk[i]
		}
		for _, name := range listFiles(t, os.DirFS("packs/example")) {
			onDisk = append(onDisk, "example/"+name)
		}
		for _, name := range listFiles(t, exercises.Example()) {
			inProgram = append(inProgram, "example/"+name)
		}
		if diff := cmp.Diff(onDisk, inProgram); diff != "" || len(onDisk) == 0 {
			t.Errorf("files on disk (-) and embedded (+):\n%s", diff)
		}
	})
}

func listFiles(t testing.TB, fsys fs.FS) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestOpen(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name         string
		builtin      fstest.MapFS // nil: none
		dirs         []string
		wantPublic   []string
		wantProblems []string
	}{
		{
			name: "BuiltinComesFirst", builtin: renamed(t, "zeta"), dirs: []string{onDisk(t, renamed(t, "alpha"))},
			wantPublic: []string{"zeta/first", "alpha/first"},
		},
		{
			name: "DirectoryThatIsAPack", dirs: []string{filepath.Join(onDisk(t, renamed(t, "alpha")), "alpha")},
			wantPublic: []string{"alpha/first"},
		},
		{
			name: "BrokenPackIsLeftOut", builtin: merged(renamed(t, "good"), without(renamed(t, "bad"), "bad/first/schema.sql")),
			wantPublic:   []string{"good/first"},
			wantProblems: []string{"bad/first/schema.sql: The file is missing."},
		},
		{
			name: "SecondPackWithAnIdIsLeftOut", builtin: renamed(t, "same"), dirs: []string{onDisk(t, renamed(t, "same"))},
			wantPublic:   []string{"same/first"},
			wantProblems: []string{"DIR/same/pack.yaml: Another pack has the id same or the uuid 00000000-0000-4000-8000-000073616d65; this one is left out."},
		},
		{
			name: "RequiredPackIsThere", builtin: merged(renamed(t, "base"), requiring(t, renamed(t, "more"), "base", "base/first")),
			wantPublic: []string{"base/first", "more/first"},
		},
		{
			name: "RequiredPackIsNot", builtin: requiring(t, renamed(t, "more"), "base", "base/first"),
			wantProblems: []string{"more: The pack is left out: it requires the pack base, which is not installed."},
		},
		{
			name: "PrerequisiteDoesNotExist", builtin: merged(renamed(t, "base"), requiring(t, renamed(t, "more"), "base", "base/second")),
			wantPublic:   []string{"base/first"},
			wantProblems: []string{"more: The pack is left out: more/first names the prerequisite base/second, which does not exist."},
		},
		{
			name: "RequirementsFallOneAfterTheOther",
			builtin: merged(requiring(t, renamed(t, "last"), "more", "more/first"),
				requiring(t, renamed(t, "more"), "base", "base/first")),
			wantProblems: []string{
				"more: The pack is left out: it requires the pack base, which is not installed.",
				"last: The pack is left out: it requires the pack more, which is not installed.",
			},
		},
		{
			name: "AssignedExerciseIsNotPublic", builtin: assigned(t, renamed(t, "hidden")),
		},
		{
			name: "DirectoryIsMissing", builtin: renamed(t, "good"), dirs: []string{"testdata/nowhere"},
			wantPublic:   []string{"good/first"},
			wantProblems: []string{"testdata/nowhere: The directory cannot be opened: no such file or directory."},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var builtin fs.FS
			if c.builtin != nil {
				builtin = c.builtin
			}
			catalog := exercises.Open(builtin, c.dirs)
			catalog.Verify(t.Context())
			var public, problems []string
			for _, e := range catalog.Public() {
				public = append(public, e.Name())
			}
			for _, p := range catalog.Problems() {
				problem := p.String()
				for _, dir := range c.dirs {
					if filepath.IsAbs(dir) {
						problem = strings.ReplaceAll(problem, dir, "DIR")
					}
				}
				problems = append(problems, problem)
			}
			if diff := cmp.Diff(c.wantPublic, public); diff != "" {
				t.Errorf("public (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.wantProblems, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("AssignedExerciseIsFoundByItsName", func(t *testing.T) {
		t.Parallel()
		if _, ok := exercises.Open(assigned(t, renamed(t, "hidden")), nil).Exercise("hidden/first"); !ok {
			t.Error("hidden/first is missing")
		}
	})
	t.Run("SymbolicLinkOutOfTheDirectoryIsNotFollowed", func(t *testing.T) {
		t.Parallel()
		dir, secret := onDisk(t, renamed(t, "alpha")), filepath.Join(t.TempDir(), "secret")
		schema := filepath.Join(dir, "alpha", "first", "schema.sql")
		if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(schema); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(secret, schema); err != nil {
			t.Skipf("this system makes no symbolic links: %v", err)
		}
		catalog := exercises.Open(nil, []string{dir})
		if want := schema + ": Only regular files and folders are allowed; symbolic links are not."; len(catalog.Packs()) > 0 || !strings.Contains(catalog.Problems().String(), want) {
			t.Errorf("problems:\n%s\nwant among them:\n%s", catalog.Problems(), want)
		}
	})
}

// renamed is the sound pack under another id, with uuids made from the id.
func renamed(t *testing.T, id string) fstest.MapFS {
	t.Helper()
	suffix := strings.Repeat("0", 12-2*min(len(id), 6))
	for _, c := range []byte(id[:min(len(id), 6)]) {
		const digits = "0123456789abcdef"
		suffix += string([]byte{digits[c>>4], digits[c&15]})
	}
	fsys := fstest.MapFS{}
	for name, file := range soundPack(t) {
		fsys[id+strings.TrimPrefix(name, "demo")] = file
	}
	edit(t, fsys, id+"/pack.yaml", "id: demo", "id: "+id)
	edit(t, fsys, id+"/pack.yaml", "6f1f4f3e-0b1a-4c56-9d0e-3d2a8a1f7b10", "00000000-0000-4000-8000-"+suffix)
	return fsys
}

func merged(a, b fstest.MapFS) fstest.MapFS {
	all := fstest.MapFS{}
	for _, fsys := range []fstest.MapFS{a, b} {
		for name, file := range fsys {
			all[name] = file
		}
	}
	return all
}

func without(fsys fstest.MapFS, name string) fstest.MapFS {
	delete(fsys, name)
	return fsys
}

func requiring(t *testing.T, fsys fstest.MapFS, id, prerequisite string) fstest.MapFS {
	t.Helper()
	for name := range fsys {
		switch filepath.Base(name) {
		case "pack.yaml":
			edit(t, fsys, name, "licence: MIT", "licence: MIT\nrequires: ["+id+"]")
		case "exercise.yaml":
			edit(t, fsys, name, "level: 1", "level: 1\nprerequisites: ["+prerequisite+"]")
		}
	}
	return fsys
}

func assigned(t *testing.T, fsys fstest.MapFS) fstest.MapFS {
	t.Helper()
	for name := range fsys {
		if filepath.Base(name) == "exercise.yaml" {
			edit(t, fsys, name, "visibility: public", "visibility: assigned")
		}
	}
	return fsys
}

// onDisk writes a pack into a new directory.
func onDisk(t *testing.T, fsys fstest.MapFS) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, fsys); err != nil {
		t.Fatal(err)
	}
	return dir
}

// BenchmarkOpen is the start of a server with many packs: 2000 exercises. It is to
// stay under 2 s.
func BenchmarkOpen(b *testing.B) {
	dir := manyPacks(b)
	for b.Loop() {
		if c := exercises.Open(nil, []string{dir}); len(c.Public()) != 2000 {
			b.Fatalf("%d exercises: %v", len(c.Public()), c.Problems())
		}
	}
}

// BenchmarkVerify is what a server then does beside its work.
func BenchmarkVerify(b *testing.B) {
	dir := manyPacks(b)
	for b.Loop() {
		if problems := exercises.Open(nil, []string{dir}).Verify(b.Context()); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

func manyPacks(b *testing.B) string {
	dir := b.TempDir()
	for i := range 100 {
		writePack(b, filepath.Join(dir, fmt.Sprintf("pack-%d", i)), i, 20)
	}
	return dir
}

// writePack writes the example with an id of its own and n copies of its exercise.
func writePack(tb testing.TB, dir string, id, n int) {
	tb.Helper()
	files := map[string]string{}
	for _, name := range listFiles(tb, exercises.Example()) {
		content, err := fs.ReadFile(exercises.Example(), name)
		if err != nil {
			tb.Fatal(err)
		}
		files[name] = string(content)
	}
	list := ""
	for e := range n {
		slug := fmt.Sprintf("grant-%d", e)
		list += "  - " + slug + "\n"
		for name, content := range files {
			rest, inside := strings.CutPrefix(name, "grant-once/")
			if !inside {
				continue
			}
			content = strings.Replace(content, "id: grant-once", "id: "+slug, 1)
			content = uuidLine.ReplaceAllString(content, fmt.Sprintf("uuid: 00000000-0000-4000-8000-%06d%06d", id, e+1))
			write(tb, filepath.Join(dir, slug, rest), content)
		}
	}
	manifest := strings.Replace(files["pack.yaml"], "  - grant-once\n", list, 1)
	manifest = strings.Replace(manifest, "id: example", fmt.Sprintf("id: pack-%d", id), 1)
	write(tb, filepath.Join(dir, "pack.yaml"), uuidLine.ReplaceAllString(manifest, fmt.Sprintf("uuid: 00000000-0000-4000-8000-%06d000000", id)))
}

var uuidLine = regexp.MustCompile(`(?m)^uuid: [0-9a-f-]+`)

func write(tb testing.TB, name, content string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
}
