package grader_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/verdict"
)

// TestHostile grades what candidates and attackers send, testdata/hostile: one
// file each, with the exact outcome and sentence. The grader goes on after each
// of them. Malformed packs lie in exercises/testdata/broken, requests in
// testdata/hostile/requests, which package web sends.
//
// A comment has the lines
//
//	outcome: failed
//	kind: timeout   one of the findings; left out where it depends on the machine
//	computing: 3s   the limit for all schedules together; left out: the usual one
//	says: …         the summary, with " / " between its lines; left out where it
//	                depends on the machine
//
// and the files are templates between « and ».
func TestHostile(t *testing.T) {
	t.Parallel()
	usual, e := newGrader(t, 1), chargeOnce(t)
	paths, err := filepath.Glob("testdata/hostile/submissions/*.txtar")
	if err != nil || len(paths) < 80 {
		t.Fatalf("%d submissions, err %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			keys := keysOf(string(archive.Comment))
			if verdict.Outcome(keys["outcome"]) == verdict.Rejected && (keys["kind"] == "" || keys["says"] == "") {
				t.Fatal("a rejection depends on no machine: it needs kind and says")
			}
			g := usual
			if own := keys["computing"]; own != "" {
				limit, err := time.ParseDuration(own)
				if err != nil {
					t.Fatal(err)
				}
				g = newGraderWith(t, grader.Config{Workers: 1, Computing: limit})
			}
			v := grade(t, g, grader.Request{Exercise: e, Files: hostileFiles(t, archive)})
			got := strings.ReplaceAll(v.Summary, "\n\t", " / ")
			if says := cmp.Or(keys["says"], got); string(v.Outcome) != keys["outcome"] || got != says {
				t.Errorf("got %s, %q\nwant %s, %q", v.Outcome, got, keys["outcome"], says)
			}
			if found := kinds(v); (v.Outcome == verdict.Passed) != (len(found) == 0) || keys["kind"] != "" && !slices.Contains(found, keys["kind"]) {
				t.Errorf("found %v, want %s", found, keys["kind"])
			}
		})
	}
}

// hostileFiles executes the templates: what is large is written as it is made.
func hostileFiles(t *testing.T, archive *txtar.Archive) (files []exercises.File) {
	t.Helper()
	functions := template.FuncMap{
		"repeat": func(n int, text string) string { return strings.Repeat(text, n) },
		"count": func(n int) []int {
			all := make([]int, n)
			for i := range all {
				all[i] = i
			}
			return all
		},
		"inc": func(n int) int { return n + 1 },
	}
	for _, f := range archive.Files {
		text, err := template.New(f.Name).Delims("«", "»").Funcs(functions).Parse(string(f.Data))
		if err != nil {
			t.Fatal(err)
		}
		var content strings.Builder
		if err := text.Execute(&content, nil); err != nil {
			t.Fatal(err)
		}
		files = append(files, exercises.File{Name: f.Name, Content: []byte(content.String())})
	}
	return files
}
