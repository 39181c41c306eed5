package content_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"redeliver/content"
)

// The built-in bank is sound. What it and the exercises name of each other is
// checked by grader/bankcheck.
func TestQuestions(t *testing.T) {
	t.Parallel()
	if _, err := content.Questions(); err != nil {
		t.Fatal(err)
	}
}

// The directive leaves out some names without a word.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	want := files(t, os.DirFS("questions"))
	questions, err := fs.Sub(content.Files(), "questions")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, files(t, questions)); diff != "" {
		t.Errorf("embedded files (-disk +embedded):\n%s", diff)
	}
}

func files(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) == 0 {
		t.Fatalf("walk: %d files, %v", len(names), err)
	}
	return names
}

func TestLoad(t *testing.T) {
	t.Parallel()
	bank, problems := content.Load(soundBank(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	slugs := []string{}
	for _, q := range bank.All() {
		slugs = append(slugs, q.Slug)
	}
	if diff := cmp.Diff([]string{"first", "second"}, slugs); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	q, ok := bank.Question("first")
	if !ok {
		t.Fatal("the question is not there")
	}
	if diff := cmp.Diff([]string{"second"}, q.FollowUps); diff != "" {
		t.Errorf("follow-ups (-want +got):\n%s", diff)
	}
	if _, ok := bank.Question("third"); ok {
		t.Error("a question that is not in the bank was found")
	}
	want := content.Text{
		Question: "What is first?",
		Tests:    content.Prose{Markdown: "Whether you know.", HTML: "<p>Whether you know.</p>\n"},
		Short:    content.Prose{Markdown: "This *one*.", HTML: "<p>This <em>one</em>.</p>\n"},
		Green: []content.Prose{
			{Markdown: "Knows `first` and goes on.", HTML: "Knows <code>first</code> and goes on."},
			{Markdown: "Asks.", HTML: "Asks."},
		},
		Red: []content.Prose{{Markdown: "Guesses.", HTML: "Guesses."}},
		Pitfalls: []content.Pitfall{
			{
				ID:    "no-need",
				Claim: content.Prose{Markdown: "Nobody **needs** it: never.", HTML: "Nobody <strong>needs</strong> it: never."},
				Why:   content.Prose{Markdown: "Everybody does.", HTML: "<p>Everybody does.</p>\n"},
				Run:   &content.Run{Exercise: "core/charge-once", Wrong: "offset-as-key"},
			},
			{
				ID:    "too-slow",
				Claim: content.Prose{Markdown: "It is slow.", HTML: "It is slow."},
				Why:   content.Prose{Markdown: "It is not.", HTML: "<p>It is not.</p>\n"},
			},
		},
	}
	got := q.Text["ru"]
	if !strings.HasPrefix(got.Depth.Markdown, "### Why") || !strings.HasSuffix(got.Depth.Markdown, "## neither\n```") {
		t.Errorf("depth: %q", got.Depth.Markdown)
	}
	got.Depth = content.Prose{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestLabs(t *testing.T) {
	t.Parallel()
	bank, problems := content.Load(soundBank(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	lab, ok := bank.Lab("lamp")
	if _, other := bank.Lab("moon"); !ok || other || len(bank.Labs()) != 1 {
		t.Fatal("the labs are others")
	}
	want := content.LabText{
		Title: "A lamp",
		Lead:  content.Prose{Markdown: "A lamp.", HTML: "<p>A lamp.</p>\n"},
		Try:   content.Prose{Markdown: "Switch it on.", HTML: "<p>Switch it on.</p>\n"},
		Shows: content.Prose{Markdown: "Light.", HTML: "<p>Light.</p>\n"},
	}
	if diff := cmp.Diff(want, lab.Text["de"]); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestCheckExercises(t *testing.T) {
	t.Parallel()
	bank, problems := content.Load(soundBank(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	got := bank.CheckExercises(func(string, string) bool { return false })
	want := []string{
		`questions/first/question.yaml:3:13: There is no exercise core/charge-once.`,
		`questions/first/question.yaml:6:5: There is no exercise core/charge-once with a wrong handler "offset-as-key".`,
	}
	if diff := cmp.Diff(want, strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// TestBroken loads the sound bank with one thing changed. The comment of each
// archive says what, and which problems must be reported, all of them and in
// this order:
//
//	in FILE          edits a file of the sound bank …
//	old TEXT         … the first place where this stands (\n is a line end) …
//	new TEXT         … to this
//	delete FILE
//	want PROBLEM
//
// The archive's files are added, or replace those of the sound bank.
func TestBroken(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/broken/*.txtar")
	if err != nil || len(archives) < 20 {
		t.Fatalf("found %d archives (%v), want at least 20", len(archives), err)
	}
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			t.Parallel()
			fsys := soundBank(t)
			want := breakBank(t, fsys, addArchive(t, fsys, archive))
			bank, problems := content.Load(fsys)
			if bank != nil {
				t.Error("a bank with problems was returned")
			}
			if diff := cmp.Diff(want, strings.Split(problems.String(), "\n")); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// soundBank gives the files of testdata/sound.txtar, which has the texts in
// English only, with the same in each language.
func soundBank(t *testing.T) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	addArchive(t, fsys, "testdata/sound.txtar")
	for _, language := range content.Languages() {
		fsys["glossary."+language+".md"] = &fstest.MapFile{Data: []byte("words")}
		fsys["labs/lamp."+language+".md"] = &fstest.MapFile{Data: []byte("# A lamp\n\n## lead\nA lamp.\n\n## try\nSwitch it on.\n\n## shows\nLight.\n")}
		for _, name := range slices.Collect(maps.Keys(fsys)) {
			if other, ok := strings.CutSuffix(name, ".en.md"); ok && language != "en" {
				fsys[other+"."+language+".md"] = fsys[name]
			}
		}
	}
	return fsys
}

// addArchive adds an archive's files and returns its comment.
func addArchive(t *testing.T, fsys fstest.MapFS, name string) string {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range archive.Files {
		fsys[file.Name] = &fstest.MapFile{Data: file.Data}
	}
	return string(archive.Comment)
}

// breakBank does what the comment of an archive says.
func breakBank(t *testing.T, fsys fstest.MapFS, comment string) (want []string) {
	t.Helper()
	var file, old string
	for line := range strings.Lines(comment) {
		verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		rest = strings.ReplaceAll(rest, `\n`, "\n")
		switch verb {
		case "in":
			file = rest
		case "old":
			old = rest
		case "new":
			text := string(fsys[file].Data)
			if old == "" || !strings.Contains(text, old) {
				t.Fatalf("%s does not contain %q", file, old)
			}
			fsys[file] = &fstest.MapFile{Data: []byte(strings.Replace(text, old, rest, 1))}
		case "delete":
			delete(fsys, rest)
		case "want":
			want = append(want, rest)
		default:
			t.Fatalf("unknown line %q", line)
		}
	}
	return want
}
