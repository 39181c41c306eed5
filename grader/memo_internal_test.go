package grader

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"redeliver/exercises"
	"redeliver/grader/build/buildtest"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

// What processes did before changes no verdict: with and without the memo a
// grading gives the same traces, findings and counts. With -whole that is tried
// for every handler of the packs and of testdata/power.
func TestMemoChangesNothing(t *testing.T) {
	t.Parallel()
	for name, s := range memoSamples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told [2]string
			for i := range told {
				g, err := New(Config{Dir: t.TempDir(), Workers: 1}, buildtest.Compiler(t))
				if err != nil {
					t.Fatal(err)
				}
				g.forgets = i == 1
				v, err := g.Grade(t.Context(), Request{Exercise: s.exercise, Files: s.files, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				v.Timings = verdict.Timings{}
				b, err := json.MarshalIndent(v, "", " ")
				if err != nil {
					t.Fatal(err)
				}
				told[i] = string(b)
			}
			if told[0] != told[1] {
				t.Errorf("with the memo:\n%s\nwithout:\n%s", told[0], told[1])
			}
		})
	}
}

type memoSample struct {
	exercise *exercises.Exercise
	files    []exercises.File
}

func memoSamples(t *testing.T) map[string]memoSample {
	t.Helper()
	catalog := exercises.Open(exercises.Builtin(), nil)
	samples := map[string]memoSample{}
	whole := flag.Lookup("whole").Value.String() == "true"
	for _, p := range catalog.Packs() {
		for _, e := range p.Exercises {
			if e.MakesClients() { // nothing of these schedules is remembered
				continue
			}
			samples[e.Slug+"/starter"] = memoSample{e, e.Starter}
			for _, s := range slices.Concat(e.Solutions, e.Wrong) {
				if whole {
					samples[e.Slug+"/"+s.Name] = memoSample{e, s.Files}
				}
			}
		}
	}
	pattern := "testdata/memo/*.txtar"
	if whole {
		pattern = "testdata/*/*/*/*.txtar"
	}
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatal(err, "no handlers in ", pattern)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		slug := "charge-once"
		if parts := strings.Split(filepath.ToSlash(path), "/"); len(parts) > 3 {
			slug = parts[2]
		}
		e, ok := catalog.Exercise("core/" + slug)
		if !ok {
			t.Fatalf("%s: no exercise %s", path, slug)
		}
		if e.MakesClients() {
			continue
		}
		s := memoSample{exercise: e}
		for _, f := range archive.Files {
			s.files = append(s.files, exercises.File{Name: f.Name, Content: f.Data})
		}
		samples[path] = s
	}
	return samples
}

// A process that does something else than one before it with the same events
// makes a grading inconclusive.
func TestUnlikeProcesses(t *testing.T) {
	t.Parallel()
	catalog := exercises.Open(exercises.Builtin(), nil)
	e, ok := catalog.Exercise("core/charge-once")
	if !ok {
		t.Fatal(catalog.Problems())
	}
	w := worldFor(t, e, e.Starter)
	happy := schedule.Schedule{Phase: schedule.HappyPath, Database: verdict.SQLite, Set: schedule.One}
	if _, err := w.run(t.Context(), happy, options{live: true}); err != nil {
		t.Fatal(err)
	}
	for _, n := range w.sub.memo.roots["A"].next {
		n.move.request = &request{op: n.move.request.op, in: []byte("something else")}
	}
	x := &explorer{sub: w.sub, verdict: &verdict.Verdict{}, timer: &timer{}, report: func(Progress) {}}
	if err := x.explore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if x.verdict.Outcome != verdict.Inconclusive {
		t.Errorf("%s: %s", x.verdict.Outcome, x.verdict.Summary)
	}
}

// A memo that is full goes on knowing what it knows.
func TestFullMemo(t *testing.T) {
	t.Parallel()
	m := newMemo()
	root := m.root("A")
	first, err := m.add(root, event{kind: handed}, move{request: &request{in: []byte("SELECT 1")}})
	if err != nil || first == nil {
		t.Fatal(first, err)
	}
	large := event{kind: answered, data: make([]byte, maxMemo)}
	if n, err := m.add(first, large, move{}); n != nil || err != nil {
		t.Errorf("a node of %d bytes: %v, %v", maxMemo, n, err)
	}
	if m.after(root, event{kind: handed}) != first {
		t.Error("the first node is gone")
	}
	if _, err := m.add(root, event{kind: handed}, move{}); err == nil {
		t.Error("no error for another move after the same event")
	}
}
