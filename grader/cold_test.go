package grader_test

import (
	"context"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/verdict"
)

var renewCold = flag.Bool("cold", false, "write the list of functions that are loaded when they are called")

// alwaysLoaded are beginnings of names.
var alwaysLoaded = []string{
	"main.", "bufio.", "bytes.", "cmp.", "context.", "database_sql.", "errors.", "fmt.", "internal_bytealg.", "internal_runtime_maps.",
	"maps.", "math.", "math_bits.", "slices.", "sort.", "strconv.", "strings.", "sync.", "sync_atomic.", "time.", "type_.", "unicode.", "unicode_utf8.",
}

// coldFile lists the functions that the sandbox loads only when they are called.
const coldFile = "sandbox/cold.txt"

// TestColdFunctions grades right handlers of every kind of exercise and finds that
// none of them calls a function that is called cold. With -cold it grades all of the
// core pack and all of testdata/power, in half an hour, and writes the list: the
// functions of the library and the runtime that no right program and fewer than one wrong
// program in a hundred calls, but for packages that handlers use by name or that work on
// each element of a text or a map (alwaysLoaded): the first call into the second module
// takes a fifth of a second, and each one a microsecond.
// What is cold decides how deep calls may nest: a new list is a new engine.
func TestColdFunctions(t *testing.T) {
	if *renewCold {
		updateCold(t)
		return
	}
	list, err := os.ReadFile(coldFile)
	if err != nil {
		t.Fatal(err)
	}
	cold := map[string]bool{}
	for name := range strings.Lines(string(list)) {
		cold[strings.TrimSpace(name)] = true
	}
	g, catalog := newGrader(t, 2), exercises.Open(exercises.Builtin(), nil)
	for _, name := range []string{"charge-once", "redis-gap", "payment-gateway", "outbox", "batch-half-done", "commit-order"} {
		e, ok := catalog.Exercise("core/" + name)
		if !ok {
			t.Fatal(name)
		}
		called, _, _ := calledFunctions(t, g, grader.Request{Exercise: e, Files: e.Solutions[0].Files})
		for function := range called {
			if cold[function] {
				t.Errorf("%s of %s calls %s", e.Solutions[0].Name, name, function)
			}
		}
	}
}

func updateCold(t *testing.T) {
	g, catalog := newGrader(t, 2), exercises.Open(exercises.Builtin(), nil)
	wrong, callers := 0, map[string]int{}
	all, needed := map[string]bool{}, map[string]bool{}
	count := func(e *exercises.Exercise, files []exercises.File) {
		called, others, outcome := calledFunctions(t, g, grader.Request{Exercise: e, Files: files})
		maps.Copy(all, called)
		maps.Copy(all, others)
		if outcome == verdict.Passed {
			maps.Copy(needed, called)
			return
		}
		wrong++
		for function := range called {
			callers[function]++
		}
	}
	for _, head := range catalog.All() {
		e, _ := catalog.Exercise(head.Name())
		for _, h := range slices.Concat(e.Solutions, e.Wrong) {
			count(e, h.Files)
		}
	}
	for _, h := range powerHandlers(t) {
		count(h.exercise, h.files)
	}
	maps.DeleteFunc(all, func(function string, _ bool) bool {
		return needed[function] || callers[function]*100 >= wrong || strings.Contains(function, "redeliver_handler.") ||
			slices.ContainsFunc(alwaysLoaded, func(begin string) bool { return strings.HasPrefix(function, begin) })
	})
	list := strings.Join(slices.Sorted(maps.Keys(all)), "\n") + "\n"
	if err := os.WriteFile(coldFile, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
}

// calledFunctions grades a submission and says which functions of its program were
// called, which were not, and how it was judged.
func calledFunctions(t *testing.T, g *grader.Grader, req grader.Request) (called, others map[string]bool, outcome verdict.Outcome) {
	t.Helper()
	l := &listeners{byName: map[string]*listener{}}
	v, err := g.Grade(experimental.WithFunctionListenerFactory(t.Context(), l), req)
	if err != nil || v.Outcome == verdict.Inconclusive {
		t.Fatal(v.Summary, err)
	}
	if len(l.byName) < 1000 {
		t.Fatalf("the program has the names of %d functions only", len(l.byName))
	}
	called, others = map[string]bool{}, map[string]bool{}
	for name, one := range l.byName {
		if one.called.Load() {
			called[name] = true
		} else {
			others[name] = true
		}
	}
	return called, others, v.Outcome
}

// listeners notes which functions wazero calls.
type listeners struct {
	mu     sync.Mutex
	byName map[string]*listener
}

type listener struct{ called atomic.Bool }

func (l *listeners) NewFunctionListener(f api.FunctionDefinition) experimental.FunctionListener {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byName[f.Name()] == nil {
		l.byName[f.Name()] = &listener{}
	}
	return l.byName[f.Name()]
}

func (l *listener) Before(context.Context, api.Module, api.FunctionDefinition, []uint64, experimental.StackIterator) {
	l.called.Store(true)
}

func (*listener) After(context.Context, api.Module, api.FunctionDefinition, []uint64) {}
func (*listener) Abort(context.Context, api.Module, api.FunctionDefinition, error)    {}
