package build_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
	"redeliver/grader/build"
	"redeliver/grader/build/buildtest"
	"redeliver/grader/guest/abi"
)

// handle is an accepted submission with the given body of Handle.
func handle(body string) string {
	return strings.Replace(accepted, "{ return nil }", "{\n"+body+"\n}", 1)
}

func TestBuildFindings(t *testing.T) {
	t.Parallel()
	const signature = "It must be: func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error"
	replace := func(old, repl string) []exercises.File {
		return []exercises.File{source("handler.go", strings.Replace(accepted, old, repl, 1))}
	}
	one := func(s string) []exercises.File { return []exercises.File{source("handler.go", s)} }
	for name, c := range map[string]struct {
		files []exercises.File
		want  []string
	}{
		"Policy":              {replace("package handler", "package main"), []string{"policy handler.go:1:9 The package must be named handler, not main."}},
		"WrongParameters":     {replace("db *sql.DB, ", ""), []string{`compile handler.go:5:2 "database/sql" imported and not used`, "compile handler.go:10:6 func Handle has the wrong signature. " + signature}},
		"WrongResult":         {replace(") error { return nil }", ") (int, error) { return 0, nil }"), []string{"compile handler.go:10:6 func Handle has the wrong signature. " + signature}},
		"Generic":             {replace("Handle(", "Handle[T any]("), []string{"compile handler.go:10:6 func Handle has the wrong signature. " + signature}},
		"TypeErrors":          {one(handle("\tvar n int = \"x\"\n\tundefinedName()\n\treturn 1")), []string{"compile handler.go:11:6 declared and not used: n", `compile handler.go:11:14 cannot use "x" (untyped string constant) as int value in variable declaration`, "compile handler.go:12:2 undefined: undefinedName", "compile handler.go:13:9 cannot use 1 (constant of type int) as error value in return statement: int does not implement error (missing method Error)"}},
		"UnusedImport":        {one(with(`"fmt"`)), []string{`compile handler.go:4:2 "fmt" imported and not used`}},
		"NotInTheLookalike":   {one(handle("\tcl, err := kgo.NewRecordFormatter(\"\")\n\t_ = cl\n\treturn err")), []string{"compile handler.go:11:17 kgo.NewRecordFormatter is not available in this exercise"}},
		"RenamedLookalike":    {one(strings.Replace(strings.Replace(accepted, `"github.com/twmb/franz-go/pkg/kgo"`, `k "github.com/twmb/franz-go/pkg/kgo"`, 1), "rec *kgo.Record", "rec *k.Rekord", 1)), []string{"compile handler.go:10:53 k.Rekord is not available in this exercise"}},
		"SeveralLines":        {one(handle("\tvar f func(int) = func(string) {}\n\tf(1, 2)\n\treturn nil")), []string{"compile handler.go:11:20 cannot use func(string) {} (value of type func(string)) as func(int) value in variable declaration", "compile handler.go:12:7 too many arguments in call to f\n\thave (number, number)\n\twant (int)"}},
		"DeclaredInTwoFiles":  {[]exercises.File{source("types.go", "package handler\n\nfunc Handle() {}\n"), source("handler.go", accepted)}, []string{"compile types.go:3:6 Handle redeclared in this block\n\thandler.go:10:6: other declaration of Handle"}},
		"NoBody":              {one(accepted + "\nfunc f()\n"), []string{"compile handler.go:12:6 missing function body"}},
		"MainIsAllowed":       {one(accepted + "\nfunc main() {}\n"), nil},
		"InitIsAllowed":       {one(accepted + "\nfunc init() {}\n"), nil},
		"GoodWithTwoFiles":    {[]exercises.File{source("handler.go", accepted), source("types.go", "package handler\n\ntype t struct{}\n"), source("schema.sql", "CREATE TABLE t (n)")}, nil},
		"PredeclaredShadowed": {one(with(`"encoding/json"`) + "\ntype payment struct{ ID string }\n\nvar nil2 = json.Valid\n\ntype byte int\n\nfunc new() {}\n\ntype string int\n\nvar RedeliverWarm, redeliverwarm, redeliversdk int\n"), nil},
		"ManyErrors":          {one(handle(strings.Repeat("\tx()\n", 60) + "\treturn nil")), manyErrors()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, findings, err := buildtest.Compiler(t).Build(t.Context(), "handler", c.files)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, lines(findings)); d != "" {
				t.Errorf("findings (-want +got):\n%s", d)
			}
			if (len(r.Wasm) > 0) != (len(c.want) == 0) {
				t.Errorf("%d bytes of program with %d findings", len(r.Wasm), len(findings))
			}
		})
	}
}

func manyErrors() (want []string) {
	for i := range 50 {
		want = append(want, "compile handler.go:"+strconv.Itoa(11+i)+":2 undefined: x")
	}
	return want
}

func TestPanicShowsTheCandidatesLine(t *testing.T) {
	t.Parallel()
	p := loadProgram(t, buildSource(t, handle("\tpanic(rec.Topic)")))
	err := p.deliver(newHost(t, ""), abi.Record{Topic: "payments"})
	if err == nil {
		t.Fatal("the handler did not panic")
	}
	for _, want := range []string{"panic: payments", "redeliver/handler.Handle(", "redeliver/handler/handler.go:11"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
}

func TestProgramsAreKept(t *testing.T) {
	t.Parallel()
	c := buildtest.Compiler(t)
	files := []exercises.File{source("handler.go", handle("\t// "+t.TempDir()+"\n\treturn nil"))}
	var first []byte
	for i, cached := range []bool{false, true} {
		r, findings, err := c.Build(t.Context(), "handler", files)
		if err != nil || len(findings) > 0 {
			t.Fatal(err, lines(findings))
		}
		if r.Cached != cached {
			t.Errorf("build %d: cached is %t", i, r.Cached)
		}
		if i == 0 {
			first = r.Wasm
		} else if !bytes.Equal(first, r.Wasm) {
			t.Error("the program that was kept is another one")
		}
	}
}

func TestSameSourceGivesTheSameProgram(t *testing.T) {
	t.Parallel()
	files := []exercises.File{source("handler.go", handle("\tpanic(1)"))}
	var programs [2][]byte
	for i := range programs {
		r, findings, err := copyOfCompiler(t, build.Config{}).Build(t.Context(), "handler", files)
		if err != nil || len(findings) > 0 {
			t.Fatal(err, lines(findings))
		}
		programs[i] = r.Wasm
	}
	if !bytes.Equal(programs[0], programs[1]) {
		t.Error("the programs differ")
	}
}

// copyOfCompiler is a prepared compiler in a folder of its own.
func copyOfCompiler(t *testing.T, config build.Config) *build.Compiler {
	t.Helper()
	return copyTo(t, t.TempDir(), config)
}

func copyTo(t *testing.T, dir string, config build.Config) *build.Compiler {
	t.Helper()
	copyKits(t, dir)
	config.Dir = dir
	c := build.New(config)
	if err := c.Prepare(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return c
}

// copyKits copies what the shared compiler has prepared into another folder.
func copyKits(t *testing.T, dir string) {
	t.Helper()
	buildtest.Compiler(t)
	from, err := buildtest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	kits := globKits(t, from)
	newest := slices.MaxFunc(kits, func(a, b string) int { return modified(t, a).Compare(modified(t, b)) })
	if err := os.CopyFS(filepath.Join(dir, filepath.Base(newest)), os.DirFS(newest)); err != nil {
		t.Fatal(err)
	}
}

// modified is when the folder was last prepared or opened.
func modified(t *testing.T, kit string) time.Time {
	t.Helper()
	info, err := os.Stat(filepath.Join(kit, "manifest"))
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

func TestLimits(t *testing.T) {
	t.Parallel()
	table := accepted + "\nvar table = [...]int{0x7fffffff: 1}\n" // 16 GiB
	// Types that refer to each other 2^40 times: minutes, if nobody ended it.
	doubled := accepted + "\ntype t0[P any] struct{ a, b P }\n"
	for i := range 40 {
		doubled += fmt.Sprintf("type t%d[P any] struct{ a, b t%d[t%[2]d[P]] }\n", i+1, i)
	}
	doubled += "var v t40[int]\n"
	for name, c := range map[string]struct {
		limits build.Limits
		source string
		want   string
	}{
		"Time":    {build.Limits{CPU: time.Second}, doubled, "compile :0:0 The compiler needed more than 1s of processor time for this submission."},
		"Memory":  {build.Limits{Memory: 32 << 20}, accepted, "compile :0:0 The compiler needed more than 32 MiB of memory for this submission."},
		"Program": {build.Limits{Program: 1 << 20}, accepted, "compile :0:0 The compiled program has "},
		"Table":   {build.Limits{}, table, "compile :0:0 The compiler needed more than 1024 MiB of memory for this submission."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiler := copyOfCompiler(t, build.Config{Limits: c.limits})
			r, findings, err := compiler.Build(t.Context(), "handler", []exercises.File{source("handler.go", c.source)})
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(findings); len(got) != 1 || !strings.HasPrefix(got[0], c.want) || r.Wasm != nil {
				t.Errorf("findings %q, want %q", got, c.want)
			}
		})
	}
}

func TestEndOfTheCallersContextIsAnError(t *testing.T) {
	t.Parallel()
	c := buildtest.Compiler(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, findings, err := c.Build(ctx, "handler", []exercises.File{source("handler.go", handle("\t// "+t.TempDir()+"\n\treturn nil"))})
	if !errors.Is(err, context.Canceled) || len(findings) > 0 {
		t.Errorf("error %v, findings %v", err, lines(findings))
	}
}

func TestUnpreparedAndUnknown(t *testing.T) {
	t.Parallel()
	files := []exercises.File{source("handler.go", accepted)}
	c := build.New(build.Config{Dir: t.TempDir()})
	if _, _, err := c.Build(t.Context(), "handler", files); !errors.Is(err, build.ErrNotPrepared) {
		t.Errorf("before Prepare: %v", err)
	}
	if _, _, err := buildtest.Compiler(t).Build(t.Context(), "nothing", files); err == nil || !strings.Contains(err.Error(), `there is no entry "nothing"`) {
		t.Errorf("unknown entry: %v", err)
	}
}
