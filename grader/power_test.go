package grader_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

// whole makes TestPower grade the whole set, about ten minutes on two
// processors, instead of a sample. The programs that make their Kafka clients are
// sampled apart, so that the sample has some of each of their exercises.
var whole = flag.Bool("whole", false, "grade the whole set of right and wrong handlers")

// powerSample is how many handlers of each side a sample has, and clientSample how many
// programs that make their Kafka clients themselves, which take longer.
const (
	powerSample  = 10
	clientSample = 5
)

// powerHandler is one file of testdata/power: a handler that is right or wrong, and
// why. Its comment begins with lines "key: value":
//
//	class       what is right or wrong about it, in a few words
//	kinds       wrong only: findings of which there must be at least one
//	mutant of   wrong only: the right handler that it differs from in one place
//	survives    wrong only: "equivalent", "outside-model" or "hole", " — ", why
type powerHandler struct {
	name     string // "charge-once/wrong/naive-transaction"
	exercise *exercises.Exercise
	right    bool
	keys     map[string]string
	files    []exercises.File
}

// survivor is one of the reasons for which a wrong handler may pass.
func (h powerHandler) survivor() string {
	reason, _, _ := strings.Cut(h.keys["survives"], " — ")
	return reason
}

func powerHandlers(t *testing.T) []powerHandler {
	t.Helper()
	paths, err := filepath.Glob("testdata/power/*/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	catalog := exercises.Open(exercises.Builtin(), nil)
	var all []powerHandler
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash("testdata/power/"))), ".txtar")
		parts := strings.Split(name, "/")
		exercise, ok := catalog.Exercise("core/" + parts[0])
		if !ok {
			t.Fatalf("%s: there is no exercise core/%s: %v", path, parts[0], catalog.Problems())
		}
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h := powerHandler{name: name, exercise: exercise, right: parts[1] == "right", keys: keysOf(string(archive.Comment))}
		for _, f := range archive.Files {
			h.files = append(h.files, exercises.File{Name: f.Name, Content: f.Data})
		}
		h.check(t)
		all = append(all, h)
	}
	return all
}

// keysOf reads the "key: value" lines at the start of a comment; "why" is the
// text after them.
func keysOf(comment string) map[string]string {
	head, why, _ := strings.Cut(comment, "\n\n")
	keys := map[string]string{"why": strings.TrimSpace(why)}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		keys[key] = value
	}
	return keys
}

// check makes sure that a misspelt comment does not weaken the test.
func (h powerHandler) check(t *testing.T) {
	t.Helper()
	if h.keys["class"] == "" || h.keys["why"] == "" || h.right != (h.keys["kinds"] == "") {
		t.Fatalf("%s: the comment must give class and why, and kinds exactly for a wrong handler: %v", h.name, h.keys)
	}
	for key := range h.keys {
		if !slices.Contains([]string{"class", "kinds", "mutant of", "survives", "why"}, key) {
			t.Fatalf("%s: the comment has an unknown key %q", h.name, key)
		}
	}
	if s := h.survivor(); s != "" && !slices.Contains([]string{"equivalent", "outside-model", "hole"}, s) {
		t.Fatalf("%s: survives: %q", h.name, s)
	}
	if len(h.files) != len(h.exercise.Editable) {
		t.Fatalf("%s has %d files, the exercise has %v", h.name, len(h.files), h.exercise.Editable)
	}
}

// sample takes powerSample right and wrong handlers, spread evenly, and clientSample of
// the programs that make their clients.
func sample(all []powerHandler) []powerHandler {
	var kept []powerHandler
	for _, most := range []int{powerSample, clientSample} {
		clients := most == clientSample
		for _, right := range []bool{true, false} {
			side := slices.DeleteFunc(slices.Clone(all), func(h powerHandler) bool {
				return h.right != right || h.exercise.MakesClients() != clients
			})
			for i := range min(most, len(side)) {
				kept = append(kept, side[i*len(side)/most])
			}
		}
	}
	return kept
}

// TestPower grades right and wrong handlers: every right one passes, every wrong
// one fails with a finding of an acceptable kind. It logs which phase rejects
// what, and how many schedules that takes.
func TestPower(t *testing.T) {
	t.Parallel()
	handlers := powerHandlers(t)
	if !*whole {
		handlers = sample(handlers)
	}
	g := newGrader(t, 1)
	var (
		mu     sync.Mutex
		matrix powerMatrix
	)
	t.Run("handlers", func(t *testing.T) {
		for _, h := range handlers {
			t.Run(h.name, func(t *testing.T) {
				t.Parallel()
				if !grader.CanGrade(h.exercise) {
					t.Skip("this needs -tags synctests")
				}
				v := gradeOnce(t, g, h.exercise, h.files)
				mu.Lock()
				matrix.add(h, v)
				mu.Unlock()
				h.judge(t, v)
			})
		}
	})
	t.Log(matrix.String())
}

// judge compares a verdict with what the handler's comment says.
func (h powerHandler) judge(t *testing.T, v verdict.Verdict) {
	t.Helper()
	switch {
	case h.right || h.survivor() != "":
		if v.Outcome != verdict.Passed {
			t.Errorf("want passed, got %s: %s", v.Outcome, v.Summary)
		}
	case v.Outcome != verdict.Failed:
		t.Errorf("want failed, got %s: %s", v.Outcome, v.Summary)
	default:
		want := strings.Fields(h.keys["kinds"])
		if !slices.ContainsFunc(kinds(v), func(k string) bool { return slices.Contains(want, k) }) {
			t.Errorf("found %v, want one of %v: %s", kinds(v), want, v.Summary)
		}
	}
}

// powerMatrix is what the gradings of the set showed.
type powerMatrix struct{ rows []powerRow }

type powerRow struct {
	powerHandler
	verdict verdict.Verdict
}

func (m *powerMatrix) add(h powerHandler, v verdict.Verdict) {
	m.rows = append(m.rows, powerRow{h, v})
}

// failed gives the number of schedules of a phase that failed.
func (r powerRow) failed(phase string) int {
	n := 0
	for _, c := range r.verdict.Coverage { // on each database
		if c.Phase == phase {
			n += c.Failed
		}
	}
	return n
}

// killers are the phases in which a schedule failed.
func (r powerRow) killers() []string {
	var phases []string
	for _, c := range r.verdict.Coverage {
		if c.Failed > 0 && !slices.Contains(phases, c.Phase) {
			phases = append(phases, c.Phase)
		}
	}
	return phases
}

// untilKill counts the schedules that ran up to the end of the first phase that
// rejects the handler, 0 when none does.
func (r powerRow) untilKill() int {
	n := 0
	for _, c := range r.verdict.Coverage {
		n += c.Schedules
		if c.Failed > 0 {
			return n
		}
	}
	return 0
}

// String is the report: the wrong handlers against the phases, then for each
// phase how many it rejects, alone or first, then who survives.
func (m *powerMatrix) String() string {
	slices.SortFunc(m.rows, func(a, b powerRow) int { return cmp.Compare(a.name, b.name) })
	var b strings.Builder
	phases := schedule.Phases()
	b.WriteString("failed schedules of each phase, and schedules until the first rejection\n")
	for i, phase := range phases {
		fmt.Fprintf(&b, "%3d %s\n", i, phase)
	}
	fmt.Fprintf(&b, "\n%-56s", "")
	for i := range phases {
		fmt.Fprintf(&b, "%4d", i)
	}
	b.WriteString("  until\n")
	for _, r := range m.wrong() {
		fmt.Fprintf(&b, "%-56s", r.name)
		for _, phase := range phases {
			fmt.Fprintf(&b, "%4s", dotForZero(r.failed(phase)))
		}
		fmt.Fprintf(&b, "%7s  %s\n", dotForZero(r.untilKill()), r.keys["class"])
	}
	m.writePhases(&b, phases)
	m.writeClasses(&b)
	m.writeTotals(&b)
	return b.String()
}

func dotForZero(n int) string {
	if n == 0 {
		return "."
	}
	return strconv.Itoa(n)
}

func (m *powerMatrix) wrong() []powerRow {
	return slices.DeleteFunc(slices.Clone(m.rows), func(r powerRow) bool { return r.right })
}

// writePhases says what would be missed without a phase.
func (m *powerMatrix) writePhases(b *strings.Builder, phases []string) {
	b.WriteString("\nphase: rejects, rejects first, rejects alone\n")
	for _, phase := range phases {
		var all, first int
		var alone []string
		for _, r := range m.wrong() {
			killers := r.killers()
			if slices.Contains(killers, phase) {
				all++
			}
			if len(killers) > 0 && killers[0] == phase {
				first++
			}
			if len(killers) == 1 && killers[0] == phase {
				alone = append(alone, r.name)
			}
		}
		fmt.Fprintf(b, "%-22s%4d%4d%4d  %s\n", phase, all, first, len(alone), strings.Join(alone, " "))
	}
}

func (m *powerMatrix) writeClasses(b *strings.Builder) {
	count := map[string][2]int{}
	for _, r := range m.wrong() {
		n := count[r.keys["class"]]
		n[0]++
		if r.verdict.Outcome == verdict.Failed {
			n[1]++
		}
		count[r.keys["class"]] = n
	}
	var classes []string
	for class := range count {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	b.WriteString("\nclass: handlers, rejected\n")
	for _, class := range classes {
		fmt.Fprintf(b, "%-32s%4d%4d\n", class, count[class][0], count[class][1])
	}
}

func (m *powerMatrix) writeTotals(b *strings.Builder) {
	var right, passed, wrong, rejected int
	var until []int
	for _, r := range m.rows {
		switch {
		case r.right && r.verdict.Outcome == verdict.Passed:
			right, passed = right+1, passed+1
		case r.right:
			right++
		case r.verdict.Outcome == verdict.Failed:
			wrong, rejected, until = wrong+1, rejected+1, append(until, r.untilKill())
		default:
			wrong++
			fmt.Fprintf(b, "\nnot rejected: %s (%s)", r.name, cmp.Or(r.keys["survives"], "unexplained"))
		}
	}
	fmt.Fprintf(b, "\nrejects %d of %d wrong handlers, passes %d of %d right ones", rejected, wrong, passed, right)
	if len(until) > 0 {
		slices.Sort(until)
		fmt.Fprintf(b, "; schedules until the first rejection: median %d, at most %d", until[len(until)/2], until[len(until)-1])
	}
	b.WriteString("\n")
}

// TestPowerSetIsDiverse keeps the set from shrinking or becoming one handler in
// many copies.
func TestPowerSetIsDiverse(t *testing.T) {
	t.Parallel()
	number, clients := map[bool]int{}, map[bool]int{}
	classes := map[bool]map[string]bool{true: {}, false: {}}
	mutants := 0
	sources := map[string]string{}
	for _, h := range powerHandlers(t) {
		number[h.right]++
		if h.exercise.MakesClients() && h.survivor() == "" {
			clients[h.right]++
		}
		classes[h.right][h.keys["class"]] = true
		if h.keys["mutant of"] != "" {
			mutants++
		}
		id := h.exercise.Slug + " " + grader.SourceHash(h.files)
		if other, ok := sources[id]; ok {
			t.Errorf("%s is the same as %s", h.name, other)
		}
		sources[id] = h.name
	}
	if number[true] < 60 || number[false] < 60 || mutants < 20 {
		t.Errorf("%d right handlers and %d wrong ones, %d of them mutants; want 60, 60, 20", number[true], number[false], mutants)
	}
	if clients[true] < 20 || clients[false] < 30 {
		t.Errorf("%d right programs and %d wrong ones make their Kafka clients; want 20 and 30", clients[true], clients[false])
	}
	if len(classes[true]) < 10 || len(classes[false]) < 20 {
		t.Errorf("%d classes of right handlers and %d of wrong ones; want 10 and 20", len(classes[true]), len(classes[false]))
	}
}

// Every handler of the set compiles with the real client libraries too, not
// only with those of the sandbox.
func TestPowerSetCompilesWithRealLibraries(t *testing.T) {
	t.Parallel()
	handlers := powerHandlers(t)
	fset := token.NewFileSet()
	trees := map[string]*ast.File{}
	var paths []string
	for _, h := range handlers {
		tree, err := parser.ParseFile(fset, h.name, h.source(), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		trees[h.name] = tree
		for _, spec := range tree.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	imports := importer.ForCompiler(fset, "gc", exportData(t, slices.Compact(paths)))
	for _, h := range handlers {
		conf := types.Config{Importer: imports, Error: func(err error) { t.Error(err) }}
		// Check returns the first of the errors that conf.Error has reported.
		_, _ = conf.Check(h.name, fset, []*ast.File{trees[h.name]}, nil)
	}
}

func (h powerHandler) source() []byte {
	i := slices.IndexFunc(h.files, func(f exercises.File) bool { return f.Name == "handler.go" })
	return h.files[i].Content
}

// exportData asks the go command for what it has compiled of the packages.
func exportData(t *testing.T, paths []string) func(string) (io.ReadCloser, error) {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, paths...)
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	files := map[string]string{}
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
	return func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("no export data of %q", path)
		}
		return os.Open(files[path])
	}
}
