package locale

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func load(t *testing.T) *Catalog {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMatch(t *testing.T) {
	t.Parallel()
	c := load(t)
	for header, want := range map[string]string{
		"en-GB,en;q=0.9": "en",
		"ru-RU,en;q=0.5": "ru",
		"fr,de-AT;q=0.5": "de",
		"tlh":            "en",
		"":               "en",
		"]]":             "en",
	} {
		if got := c.Match(header); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
	if !c.Has("en") || c.Has("tlh") || c.Has("") {
		t.Errorf("languages are %v", c.Languages())
	}
}

func TestNameOf(t *testing.T) {
	t.Parallel()
	c := load(t)
	for lang, want := range map[string]string{"en": "English", "ru": "Русский", "de": "Deutsch"} {
		if got := c.NameOf(lang); got != want {
			t.Errorf("%s is called %q, want %q", lang, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	t.Parallel()
	w := load(t).Words("ru")
	for n, want := range map[int]string{1: "Выполнен 1 сценарий", 3: "Выполнено 3 сценария", 11: "Выполнено 11 сценариев", 21: "Выполнен 21 сценарий"} {
		if got, err := w.Count("submission.schedules", n); got != want {
			t.Errorf("%d: %q, want %q, err %v", n, got, want, err)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	w := load(t).Words("en")
	for _, tc := range []struct {
		name string
		call func() (string, error)
		want string // empty: an error
	}{
		{"Plain", func() (string, error) { return w.Text("exercise.submit") }, "Submit"},
		{"Filled", func() (string, error) { return w.Text("exercise.file", "Name", "a.go") }, "File a.go"},
		{"One", func() (string, error) { return w.Count("exercise.minutes", 1) }, "about 1 minute"},
		{"Other", func() (string, error) { return w.Count("exercise.minutes", 20) }, "about 20 minutes"},
		{"UnknownMessage", func() (string, error) { return w.Text("exercise.nothing") }, ""},
		{"PairWithoutValue", func() (string, error) { return w.Text("exercise.file", "Name") }, ""},
		{"NameIsNoText", func() (string, error) { return w.Text("exercise.file", 1, 2) }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := tc.call()
			if got != tc.want || (err != nil) != (tc.want == "") {
				t.Errorf("got %q, want %q, err %v", got, tc.want, err)
			}
		})
	}
}

// Each language must have the messages of the default one and no others, and
// every plural form that it needs of those that count.
func TestEveryMessageInEveryLanguage(t *testing.T) {
	t.Parallel()
	c := load(t)
	want := messages(t, Default)
	for _, lang := range c.Languages() {
		got := messages(t, lang)
		if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
			t.Errorf("%s has\n%s\nwant\n%s", lang, strings.Join(a, " "), strings.Join(b, " "))
		}
		w := c.Words(lang)
		for id, counts := range want {
			if _, err := w.Text(id); err != nil {
				t.Error(err)
			}
			for _, n := range []int{0, 1, 2, 5, 21} {
				if _, err := w.Count(id, n); counts && err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// messages tells for each message of a language whether it counts something.
func messages(t *testing.T, lang string) map[string]bool {
	t.Helper()
	b, err := fs.ReadFile(files, "active."+lang+".toml")
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]map[string]map[string]string // group, name, plural form
	if err := toml.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for group, names := range tree {
		for name, forms := range names {
			out[group+"."+name] = len(forms) > 1
		}
	}
	return out
}
