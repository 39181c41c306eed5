package guest_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	goredis "github.com/redis/go-redis/v9"
	"modernc.org/sqlite"

	"redeliver/grader/guest"
	standin "redeliver/grader/guest/lookalike/modernc.org/sqlite"
	sqlite3 "redeliver/grader/guest/lookalike/modernc.org/sqlite/lib"
	guestredis "redeliver/grader/guest/redis"
)

// The directive go:embed silently leaves out some files and folders: those whose names begin
// with a dot or an underscore, and folders that are modules.
func TestEverySourceIsEmbedded(t *testing.T) {
	t.Parallel()
	var onDisk, embedded []string
	for _, dir := range []string{"abi", "host", "redis", "sdk", "sqlite", "warm", "withclients", "withgateway", "withredis", "lookalike"} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
				onDisk = append(onDisk, filepath.ToSlash(name))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := guest.Sources(func(name string, content []byte) error {
		embedded = append(embedded, name)
		if len(content) == 0 {
			t.Errorf("%s is empty", name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(onDisk)
	slices.Sort(embedded)
	if d := cmp.Diff(onDisk, embedded); d != "" {
		t.Errorf("on disk (-) and embedded (+):\n%s", d)
	}
}

func TestEveryPackageIsInAModule(t *testing.T) {
	t.Parallel()
	var want []string
	for _, m := range guest.Modules() {
		want = append(want, m.Packages...)
	}
	seen := map[string]bool{}
	if err := guest.Sources(func(name string, _ []byte) error {
		if p, ok := strings.CutPrefix(path.Dir(name), "lookalike/"); ok {
			seen[p] = true
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, p := range want {
		if !seen[p] {
			t.Errorf("%s has no sources", p)
		}
		delete(seen, p)
	}
	if len(seen) > 0 {
		t.Errorf("packages that no module has: %v", seen)
	}
}

// goList asks the go command about the real packages.
func goList(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestVersionsAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	for _, m := range guest.Modules() {
		if got := goList(t, "-m", "-f", "{{.Version}}", m.Path); got != m.Version {
			t.Errorf("%s: the server has %s, the workspace %s", m.Path, got, m.Version)
		}
	}
}

func TestCopiesAreIdentical(t *testing.T) {
	t.Parallel()
	for _, p := range []struct{ path, licence string }{
		{"github.com/google/uuid", "LICENSE"},
		{"github.com/twmb/franz-go/pkg/kerr", "../../LICENSE"},
	} {
		t.Run(path.Base(p.path), func(t *testing.T) {
			t.Parallel()
			real, ours := goList(t, "-f", "{{.Dir}}", p.path), filepath.Join("lookalike", filepath.FromSlash(p.path))
			files := strings.Fields(goList(t, "-f", `{{join .GoFiles " "}} {{join .IgnoredGoFiles " "}}`, p.path))
			if len(files) == 0 {
				t.Fatal("the real package has no files")
			}
			for _, f := range files {
				same(t, filepath.Join(real, f), filepath.Join(ours, f))
			}
			same(t, filepath.Join(real, filepath.FromSlash(p.licence)), filepath.Join(ours, "LICENSE"))
		})
	}
}

func same(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(x, y) {
		t.Errorf("%s differs from %s", b, a)
	}
}

// Every exported name of the package kgo in the sandbox is in the real one with
// the same signature, so a submission compiles against both. Two interfaces of the
// real one are structs: what implements them outside the package is not supported.
func TestKgoHasTheRealSignatures(t *testing.T) {
	t.Parallel()
	const p = "github.com/twmb/franz-go/pkg/kgo"
	real := exported(t, goList(t, "-f", "{{.Dir}}", p))
	ours := exported(t, filepath.Join("lookalike", filepath.FromSlash(p)))
	if len(ours) < 10 {
		t.Fatalf("only %d names were found", len(ours))
	}
	for name, signature := range ours {
		closed := (name == "GroupBalancer" || name == "Partitioner") && strings.HasPrefix(real[name], "interface")
		if real[name] != signature && !closed {
			t.Errorf("%s is\n%s\nand in the real package\n%s", name, signature, real[name])
		}
	}
}

// What is said to be franz-go's own text is.
func TestFetchesAreCopied(t *testing.T) {
	t.Parallel()
	const p = "github.com/twmb/franz-go/pkg/kgo"
	real, err := os.ReadFile(filepath.Join(goList(t, "-f", "{{.Dir}}", p), "record_and_fetch.go"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("lookalike", filepath.FromSlash(p))
	ours, err := os.ReadFile(filepath.Join(dir, "fetches.go"))
	if err != nil {
		t.Fatal(err)
	}
	const first = "// FetchPartition is a response"
	if i := bytes.Index(ours, []byte(first)); i < 0 || !bytes.HasSuffix(real, ours[i:]) {
		t.Error("fetches.go is not the end of record_and_fetch.go")
	}
	same(t, filepath.Join(goList(t, "-f", "{{.Dir}}", p), "../../LICENSE"), filepath.Join(dir, "LICENSE"))
}

// exported returns the exported functions, methods, types and fields of a
// package with what is written about them.
func exported(t *testing.T, dir string) map[string]string {
	t.Helper()
	fset := token.NewFileSet()
	names := map[string]string{}
	text := func(n ast.Node) string {
		var b strings.Builder
		if err := printer.Fprint(&b, fset, n); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(fset, f, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				addFunc(names, d, text)
			case *ast.GenDecl:
				addSpecs(names, d, text)
			}
		}
	}
	return names
}

func addFunc(names map[string]string, d *ast.FuncDecl, text func(ast.Node) string) {
	name := d.Name.Name
	if d.Recv != nil {
		receiver := text(d.Recv.List[0].Type)
		if !ast.IsExported(strings.TrimPrefix(receiver, "*")) {
			return
		}
		name = receiver + "." + name
	}
	if d.Name.IsExported() {
		names[name] = text(d.Type)
	}
}

func addSpecs(names map[string]string, d *ast.GenDecl, text func(ast.Node) string) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if !s.Name.IsExported() {
				continue
			}
			if fields, ok := s.Type.(*ast.StructType); ok {
				names[s.Name.Name] = "struct"
				for _, f := range fields.Fields.List {
					for _, n := range f.Names {
						if n.IsExported() {
							names[s.Name.Name+"."+n.Name] = text(f.Type)
						}
					}
				}
				continue
			}
			names[s.Name.Name] = text(s.Type)
		case *ast.ValueSpec:
			for _, n := range s.Names {
				if n.IsExported() {
					names[n.Name] = d.Tok.String()
				}
			}
		}
	}
}

// All exported fields of a record are there: one that is missing would fail a
// submission which is right.
func TestRecordHasEveryField(t *testing.T) {
	t.Parallel()
	const p = "github.com/twmb/franz-go/pkg/kgo"
	ours := exported(t, filepath.Join("lookalike", filepath.FromSlash(p)))
	for name := range exported(t, goList(t, "-f", "{{.Dir}}", p)) {
		if field, ok := strings.CutPrefix(name, "Record."); ok && ours[name] == "" {
			t.Errorf("Record has no field %s", field)
		}
	}
}

// Every exported name of the package redis in the sandbox is in the real one, and
// every method of its types has the real signature. Of interfaces each method is
// looked at by itself: the real ones have more.
func TestRedisHasTheRealSignatures(t *testing.T) {
	t.Parallel()
	const p = "github.com/redis/go-redis/v9"
	real := exported(t, goList(t, "-f", "{{.Dir}}", p))
	for name := range exported(t, filepath.Join("lookalike", filepath.FromSlash(p))) {
		if real[name] == "" {
			t.Errorf("%s is not in the real package", name)
		}
	}
	for _, pair := range [][2]reflect.Type{
		{reflect.TypeFor[*guestredis.Client](), reflect.TypeFor[*goredis.Client]()},
		{reflect.TypeFor[guestredis.Cmdable](), reflect.TypeFor[goredis.Cmdable]()},
		{reflect.TypeFor[guestredis.Pipeliner](), reflect.TypeFor[goredis.Pipeliner]()},
		{reflect.TypeFor[guestredis.Cmder](), reflect.TypeFor[goredis.Cmder]()},
		{reflect.TypeFor[guestredis.Scripter](), reflect.TypeFor[goredis.Scripter]()},
		{reflect.TypeFor[guestredis.Error](), reflect.TypeFor[goredis.Error]()},
		{reflect.TypeFor[*guestredis.Script](), reflect.TypeFor[*goredis.Script]()},
		{reflect.TypeFor[*guestredis.StatusCmd](), reflect.TypeFor[*goredis.StatusCmd]()},
		{reflect.TypeFor[*guestredis.StringCmd](), reflect.TypeFor[*goredis.StringCmd]()},
		{reflect.TypeFor[*guestredis.IntCmd](), reflect.TypeFor[*goredis.IntCmd]()},
		{reflect.TypeFor[*guestredis.BoolCmd](), reflect.TypeFor[*goredis.BoolCmd]()},
		{reflect.TypeFor[*guestredis.DurationCmd](), reflect.TypeFor[*goredis.DurationCmd]()},
		{reflect.TypeFor[*guestredis.Cmd](), reflect.TypeFor[*goredis.Cmd]()},
	} {
		ours, real := pair[0], pair[1]
		if ours.String() != real.String() {
			t.Errorf("the type prints as %s, the real one as %s", ours, real)
		}
		for i := range ours.NumMethod() {
			m := ours.Method(i)
			if !m.IsExported() {
				continue
			}
			r, ok := real.MethodByName(m.Name)
			if !ok || m.Type.String() != r.Type.String() {
				t.Errorf("%s.%s has the type %s, the real one %v", ours, m.Name, m.Type, r.Type)
			}
		}
	}
	args, realArgs := reflect.TypeFor[guestredis.SetArgs](), reflect.TypeFor[goredis.SetArgs]()
	for i := range args.NumField() {
		f := args.Field(i)
		if r, ok := realArgs.FieldByName(f.Name); !ok || r.Type != f.Type {
			t.Errorf("SetArgs.%s has the type %s", f.Name, f.Type)
		}
	}
}

func TestSQLiteErrorHasTheRealMethods(t *testing.T) {
	t.Parallel()
	real, ours := reflect.TypeFor[*sqlite.Error](), reflect.TypeFor[*standin.Error]()
	if ours.String() != real.String() {
		t.Errorf("the type prints as %s, the real one as %s", ours, real)
	}
	if ours.NumMethod() != 2 || real.NumMethod() != 2 {
		t.Fatalf("%d methods, the real one has %d", ours.NumMethod(), real.NumMethod())
	}
	for i := range ours.NumMethod() {
		a, b := ours.Method(i), real.Method(i)
		if a.Name != b.Name || a.Type.NumOut() != 1 || a.Type.Out(0) != b.Type.Out(0) {
			t.Errorf("method %s %s, the real one %s %s", a.Name, a.Type, b.Name, b.Type)
		}
	}
	if reflect.TypeFor[standin.Error]().NumField() == 0 {
		t.Error("the error carries nothing")
	}
}

// The result codes are those of the real package, found in its source, where
// they are written one per line.
func TestResultCodesAreTheRealOnes(t *testing.T) {
	t.Parallel()
	dir := goList(t, "-f", "{{.Dir}}", "modernc.org/sqlite/lib")
	source, err := os.ReadFile(filepath.Join(dir, "sqlite.go"))
	if err != nil {
		t.Fatal(err)
	}
	real := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^const (SQLITE_\w+) = (\d+)$`).FindAllSubmatch(source, -1) {
		real[string(m[1])] = string(m[2])
	}
	codes, err := os.ReadFile("lookalike/modernc.org/sqlite/lib/codes.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\t(SQLITE_\w+)\s+= (\d+)$`).FindAllSubmatch(codes, -1)
	if len(found) < 100 {
		t.Fatalf("only %d codes were found", len(found))
	}
	for _, m := range found {
		if real[string(m[1])] != string(m[2]) {
			t.Errorf("%s is %s, in the real package %q", m[1], m[2], real[string(m[1])])
		}
	}
	if got := strconv.Itoa(sqlite3.SQLITE_CONSTRAINT_UNIQUE); got != real["SQLITE_CONSTRAINT_UNIQUE"] {
		t.Errorf("SQLITE_CONSTRAINT_UNIQUE is %s", got)
	}
}

var write = flag.Bool("write", false, "write the list of the client's names into docs/authoring.md")

// docs/authoring.md lists what there is of package kgo, which is made from the
// sources: go test ./grader/guest -run TestAuthoringListsTheClient -write
func TestAuthoringListsTheClient(t *testing.T) {
	t.Parallel()
	const file, begin, end = "../../docs/authoring.md", "<!-- kgo: made from the sources -->\n", "<!-- kgo: end -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the list", file)
	}
	want := head + begin + clientNames(t) + end + tail
	if want == string(text) {
		return
	}
	if !*write {
		t.Fatalf("%s does not list what there is; run this test with -write", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
}

// clientNames lists the functions of package kgo, and of each type the methods.
func clientNames(t *testing.T) string {
	t.Helper()
	of := map[string][]string{}
	for name, signature := range exported(t, filepath.Join("lookalike", "github.com/twmb/franz-go/pkg/kgo")) {
		receiver, method, isMethod := strings.Cut(strings.TrimPrefix(name, "*"), ".")
		switch {
		case !strings.HasPrefix(signature, "func"):
		case isMethod:
			of["`"+receiver+"`"] = append(of["`"+receiver+"`"], "`"+method+"`")
		case strings.HasSuffix(signature, "Opt"):
			of["options"] = append(of["options"], "`"+name+"`")
		default:
			of["functions"] = append(of["functions"], "`"+name+"`")
		}
	}
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(of)) {
		slices.Sort(of[what])
		b.WriteString("- " + what + ": " + strings.Join(of[what], ", ") + "\n")
	}
	return b.String()
}
