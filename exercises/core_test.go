package exercises_test

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
)

var sourceLink = regexp.MustCompile(`https://[^)\s>]+`)

// TestCore holds the core pack to what it promises: whoever adds an exercise to it
// writes all of it, in every language. Whether it behaves, packcheck finds out.
func TestCore(t *testing.T) {
	t.Parallel()
	core, ok := exercises.Open(exercises.Builtin(), nil).Pack("core")
	if !ok || len(core.Exercises) < 17 {
		t.Fatalf("the core pack: %+v", core)
	}
	if diff := cmp.Diff([]string{"en", "ru", "de"}, core.Languages); diff != "" {
		t.Errorf("languages (-want +got):\n%s", diff)
	}
	for _, e := range core.Exercises {
		t.Run(e.Slug, func(t *testing.T) {
			t.Parallel()
			if solutions, wrong := len(e.Solutions), len(e.Wrong); solutions < 4 || wrong < 8 {
				t.Errorf("%d solutions and %d wrong handlers, want at least 4 and 8", solutions, wrong)
			}
			if e.Feedback == "" {
				t.Errorf("there is no %s", exercises.FeedbackFile)
			}
			if _, err := fs.Stat(exercises.Builtin(), "core/"+e.Slug+"/README.md"); err != nil {
				t.Errorf("authors are told nothing: %v", err)
			}
			sources := linksOf(e.Approach["en"])
			if len(sources) == 0 {
				t.Error("the approach names no source of its facts")
			}
			for _, lang := range core.Languages {
				if n := len(e.Hints[lang]); n < 3 {
					t.Errorf("%d hints in %s, want at least 3", n, lang)
				}
				if diff := cmp.Diff(sources, linksOf(e.Approach[lang])); diff != "" {
					t.Errorf("sources in English (-) and in %s (+):\n%s", lang, diff)
				}
			}
		})
	}
}

func linksOf(text string) []string {
	links := sourceLink.FindAllString(text, -1)
	slices.Sort(links)
	return slices.Compact(links)
}
