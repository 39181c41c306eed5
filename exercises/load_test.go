package exercises_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	pack, problems := exercises.Load(soundPack(t), "demo")
	if len(problems) > 0 {
		t.Fatalf("problems in the sound pack:\n%s", problems)
	}
	e := pack.Exercises[0]

	t.Run("ManifestIsRead", func(t *testing.T) {
		t.Parallel()
		got := []any{pack.ID, pack.Title["de"], e.Name(), e.Version, e.Entry, e.Services, e.Phases, e.Limits.HostCalls, e.Rubric}
		want := []any{"demo", "Vorführung", "demo/first", "1.2.3", "handler", []string{"redis"}, []string{"happy-path", "redelivery"}, 50, []string{"Says why."}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("LimitsLeftOutAreTheRecordedOnes", func(t *testing.T) {
		t.Parallel()
		files := soundPack(t)
		manifest := files["demo/first/exercise.yaml"]
		manifest.Data = bytes.Replace(manifest.Data, []byte("limits: {host_calls: 50}\n"), nil, 1)
		none, problems := exercises.Load(files, "demo")
		if none == nil || !none.Exercises[0].Measured || none.Exercises[0].Limits.HostCalls != 0 {
			t.Fatalf("nothing is recorded: %+v, %s", none, problems)
		}
		files["demo/first/limits.golden"] = &fstest.MapFile{Data: []byte("host_calls: 120\n")}
		recorded, problems := exercises.Load(files, "demo")
		if recorded == nil || !recorded.Exercises[0].Measured || recorded.Exercises[0].Limits.HostCalls != 120 {
			t.Fatalf("120 are recorded: %+v, %s", recorded, problems)
		}
		if none.Exercises[0].Hash() == recorded.Exercises[0].Hash() {
			t.Error("another limit can change a verdict, and the hash is the same")
		}
	})
	t.Run("HintsAreCutAtTheirHeadings", func(t *testing.T) {
		t.Parallel()
		want := []exercises.Hint{{Title: "Eins", Text: "Erster Hinweis."}, {Title: "Zwei", Text: "Zweiter Hinweis."}}
		if diff := cmp.Diff(want, e.Hints["de"]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("SamplesHaveTheirFiles", func(t *testing.T) {
		t.Parallel()
		want := []exercises.Sample{{Name: "naive", Files: []exercises.File{{Name: "handler.go", Content: []byte("package handler // without\n")}}}}
		if diff := cmp.Diff(want, e.Wrong); diff != "" {
			t.Error(diff)
		}
		if got := e.Expect["naive"]; !slices.Equal(got.Kinds, []string{"duplicate"}) || !slices.Equal(got.May, []string{"lost"}) {
			t.Errorf("expectation of naive: %+v", got)
		}
	})
	t.Run("ObjectOfAnInvariantDefaultsToThatOfTheEvents", func(t *testing.T) {
		t.Parallel()
		fsys := soundPack(t)
		edit(t, fsys, "demo/first/exercise.yaml", "    object: id\n", "")
		pack, problems := exercises.Load(fsys, "demo")
		if len(problems) > 0 || pack.Exercises[0].Invariants[0].Object != "id" {
			t.Errorf("%v %+v", problems, pack)
		}
	})
	t.Run("DatabasesDefaultToSQLite", func(t *testing.T) {
		t.Parallel()
		fsys := soundPack(t)
		edit(t, fsys, "demo/first/exercise.yaml", "databases: [sqlite]\n", "")
		pack, problems := exercises.Load(fsys, "demo")
		if len(problems) > 0 || !slices.Equal(pack.Exercises[0].Databases, []string{"sqlite"}) {
			t.Errorf("%v %+v", problems, pack)
		}
	})
	t.Run("LinesMayEndAsOnWindows", func(t *testing.T) {
		t.Parallel()
		fsys := soundPack(t)
		name := "demo/first/exercise.yaml"
		fsys[name] = &fstest.MapFile{Data: bytes.ReplaceAll(fsys[name].Data, []byte("\n"), []byte("\r\n"))}
		if _, problems := exercises.Load(fsys, "demo"); len(problems) > 0 {
			t.Error(problems)
		}
	})
	t.Run("HiddenFilesAreNoPartOfThePack", func(t *testing.T) {
		t.Parallel()
		fsys := soundPack(t)
		fsys["demo/.git/config"] = &fstest.MapFile{Data: []byte("x")}
		fsys["demo/first/.DS_Store"] = &fstest.MapFile{Data: []byte{0}}
		if _, problems := exercises.Load(fsys, "demo"); len(problems) > 0 {
			t.Error(problems)
		}
	})
}

// TestLoadHostile holds what cannot be written down in an archive.
func TestLoadHostile(t *testing.T) {
	t.Parallel()
	const source = "demo/first/starter/handler.go"
	cases := []struct {
		name    string
		file    string
		content []byte
		mode    fs.FileMode
		want    string
	}{
		{"NUL", "demo/first/statement.en.md", []byte("a\x00b"), 0, "demo/first/statement.en.md: The file holds a NUL character."},
		{"NotUTF8", source, []byte("package \xff"), 0, source + ": The file is not valid UTF-8."},
		{"LargeSource", source, bytes.Repeat([]byte("/"), 64<<10+1), 0, source + ": The file is larger than 64 KiB."},
		{"LargeText", "demo/first/hints.en.md", bytes.Repeat([]byte("#"), 256<<10+1), 0, "demo/first/hints.en.md: The file is larger than 256 KiB."},
		{"LargeManifest", "demo/first/events.yaml", bytes.Repeat([]byte("#"), 64<<10+1), 0, "demo/first/events.yaml: The file is larger than 64 KiB."},
		{"LongManifest", "demo/pack.yaml", bytes.Repeat([]byte("#\n"), 2001), 0, "demo/pack.yaml:2001:1: The file has more than 2000 lines."},
		{"TabInManifest", "demo/pack.yaml", []byte("id: demo\nuuid:\tx\n"), 0, "demo/pack.yaml:2:6: Tabs and other control characters are not allowed."},
		{"CarriageReturnInManifest", "demo/pack.yaml", []byte("id: demo\ruuid: x\n"), 0, "demo/pack.yaml:1:9: Tabs and other control characters are not allowed."},
		{"SymbolicLink", source, []byte("/etc/passwd"), fs.ModeSymlink, source + ": Only regular files and folders are allowed; symbolic links are not."},
		{"Device", "demo/first/schema.sql", nil, fs.ModeDevice, "demo/first/schema.sql: Only regular files and folders are allowed; symbolic links are not."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fsys := soundPack(t)
			fsys[c.file] = &fstest.MapFile{Data: c.content, Mode: c.mode}
			pack, problems := exercises.Load(fsys, "demo")
			if pack != nil || !slices.ContainsFunc(problems, func(p exercises.Problem) bool { return p.String() == c.want }) {
				t.Errorf("problems:\n%s\nwant among them:\n%s", problems, c.want)
			}
		})
	}
	t.Run("TooManyExercises", func(t *testing.T) {
		t.Parallel()
		fsys := soundPack(t)
		var list strings.Builder
		for i := range exercises.MaxExercises {
			fmt.Fprintf(&list, "\n  - e-%d", i)
		}
		edit(t, fsys, "demo/pack.yaml", "  - first", "  - first"+list.String())
		_, problems := exercises.Load(fsys, "demo")
		if want := "demo/pack.yaml:9:3: A pack has at most 200 exercises."; problems.String() != want {
			t.Errorf("problems:\n%s\nwant:\n%s", problems, want)
		}
	})
	t.Run("FilesThatAreTooLargeTogether", func(t *testing.T) {
		t.Parallel()
		fsys := soundPack(t)
		edit(t, fsys, "demo/first/exercise.yaml", "[handler.go]", "[handler.go, money.go]")
		for _, folder := range []string{"starter", "solutions/key", "wrong/naive"} {
			fsys["demo/first/"+folder+"/money.go"] = &fstest.MapFile{Data: []byte("package handler\n")}
		}
		fsys["demo/first/solutions/key/money.go"] = &fstest.MapFile{Data: bytes.Repeat([]byte("/"), 64<<10)}
		_, problems := exercises.Load(fsys, "demo")
		if want := "demo/first/solutions/key: The files are larger than 64 KiB together."; problems.String() != want {
			t.Errorf("problems:\n%s\nwant:\n%s", problems, want)
		}
	})
	t.Run("FolderThatIsNotThere", func(t *testing.T) {
		t.Parallel()
		_, problems := exercises.Load(os.DirFS(t.TempDir()), "nothing")
		if want := "nothing: The folder cannot be read: no such file or directory."; problems.String() != want+"\nnothing/pack.yaml: The file is missing." {
			t.Errorf("problems:\n%s", problems)
		}
	})
}

// FuzzLoad puts anything in the place of a manifest. Whatever it is, the pack
// is either sound, and then its events can be drawn, or has problems that lie
// within the file.
func FuzzLoad(f *testing.F) {
	manifests := []string{"demo/pack.yaml", "demo/first/exercise.yaml", "demo/first/events.yaml", "demo/first/expect.yaml"}
	sound := soundPack(f)
	for i, name := range manifests {
		f.Add(uint8(i), sound[name].Data)
	}
	f.Add(uint8(1), []byte("a: &a [*a]\n"))
	f.Add(uint8(2), []byte("fields: {a: {between: [-9223372036854775808, 9223372036854775807]}}\n"))
	f.Add(uint8(2), []byte("events:\n  - same: {id: -1}\n"))
	f.Add(uint8(0), []byte("id:\n a\rb:c: d"))
	f.Fuzz(func(t *testing.T, which uint8, content []byte) {
		fsys := soundPack(t)
		name := manifests[int(which)%len(manifests)]
		fsys[name] = &fstest.MapFile{Data: content}
		pack, problems := exercises.Load(fsys, "demo")
		if (pack == nil) != (len(problems) > 0) {
			t.Fatalf("pack %v with problems %v", pack, problems)
		}
		for _, problem := range problems {
			if lines := bytes.Count(content, []byte("\n")) + 1; problem.File == name && problem.Line > lines {
				t.Errorf("%s lies behind the file's %d lines", problem, lines)
			}
		}
		if pack != nil {
			if _, err := pack.Exercises[0].Events.Draw(2, time.Unix(0, 0)); err != nil {
				t.Error(err)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	fsys := exercises.Builtin()
	for b.Loop() {
		if _, problems := exercises.Load(fsys, "core"); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

// Nothing in a draft is read, however unfinished it is.
func TestDraft(t *testing.T) {
	t.Parallel()
	fsys := soundPack(t)
	edit(t, fsys, "demo/pack.yaml", "  - first", "  - first\ndrafts: [second]")
	fsys["demo/second/exercise.yaml"] = &fstest.MapFile{Data: []byte("id: [\n")}
	pack, problems := exercises.Load(fsys, "demo")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(pack.Exercises) != 1 {
		t.Errorf("the pack has %d exercises", len(pack.Exercises))
	}
}

func TestOutputsAndSignature(t *testing.T) {
	t.Parallel()
	fsys := soundPack(t)
	edit(t, fsys, "demo/first/exercise.yaml", "services: [redis]", "services: [kafka]")
	edit(t, fsys, "demo/first/events.yaml", "events:", "outputs:\n  - {name: receipts, partitions: 3}\nevents:")
	pack, problems := exercises.Load(fsys, "demo")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	e := pack.Exercises[0]
	if diff := cmp.Diff([]exercises.Topic{{Name: "receipts", Partitions: 3}}, e.Events.Outputs); diff != "" || e.Signature() != "handler+kafka" || !e.Produces() {
		t.Errorf("signature %s, outputs (-want +got):\n%s", e.Signature(), diff)
	}
}
