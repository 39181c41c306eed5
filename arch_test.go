package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "redeliver"

// mayImport lists, for each layer, the layers it may import. Anything absent is
// forbidden, so a new arrow in the architecture has to be argued for here. A
// folder below a layer belongs to it; main, at the root, may import everything.
var mayImport = map[string][]string{
	"static":           {},
	"gateway":          {}, // what a submission imports
	"content":          {},
	"exercises":        {},
	"grader/verdict":   {},
	"grader/guest":     {"gateway"},
	"grader/schedule":  {},
	"grader/trace":     {"grader/verdict"},
	"grader/build":     {"exercises", "gateway", "grader/guest", "grader/verdict"},
	"grader/ledger":    {},
	"grader/sandbox":   {"grader/guest", "grader/verdict"},
	"grader/cluster":   {"grader/guest"}, // what a submission asks of its clients
	"grader/redis":     {"grader/guest"},
	"grader/gateway":   {"grader/guest"},
	"grader/invariant": {"exercises", "grader/ledger"},
	"grader": {
		"exercises", "grader/build", "grader/cluster", "grader/gateway", "grader/guest", "grader/invariant", "grader/ledger",
		"grader/redis", "grader/sandbox", "grader/schedule", "grader/trace", "grader/verdict",
	},
	"grader/labs/scene": {},
	"grader/labs":       {"grader/cluster", "grader/labs/scene"},
	// It runs the grader over what a pack brings along, and tries a pack's queries.
	"grader/packcheck": {"exercises", "grader", "grader/invariant", "grader/ledger", "grader/verdict"},
	// It runs the grader over the handlers that the question bank refers to.
	"grader/bankcheck": {"content", "exercises", "grader", "grader/packcheck", "grader/verdict"},
	// Programs that drive a site from outside: of ours only the names of form fields,
	// and the database to look into afterwards.
	".ci/kill":    {"web/store", "web/views"},
	".ci/load":    {"web/views"},
	"web/clock":   {},
	"web/webhook": {}, // the only client of addresses that people name
	"web/store":   {"grader/verdict", "web/clock"},
	"web/auth":    {"web/store"},
	"web/jobs":    {"exercises", "grader/verdict", "web/store", "web/webhook"},
	// It keeps the labs of visitors; nothing else in a server calls grader/labs.
	"web/search":     {},
	"web/similarity": {},
	"web/review":     {"content", "exercises", "grader/verdict", "web/store"},
	"web/labs":       {"grader/labs", "grader/labs/scene"},
	"web/views":      {"content", "exercises", "grader/labs/scene", "grader/trace", "grader/verdict", "static"},
	"web": {
		"content", "exercises", "grader/labs/scene", "grader/schedule", "grader/trace", "grader/verdict", "static", // of the grader only plain data
		"web/auth", "web/clock", "web/jobs", "web/labs", "web/review", "web/search", "web/similarity", "web/store", "web/views", "web/webhook",
	},
}

// layer is the longest key of mayImport that contains the folder, or "".
func layer(dir string) string {
	best := ""
	for l := range mayImport {
		if (dir == l || strings.HasPrefix(dir, l+"/")) && len(l) > len(best) {
			best = l
		}
	}
	return best
}

// importProblems parses the files itself. A test that runs `go list` stays
// green after a bad import is added: the test cache knows which files a test
// opened, but not what a program that it started has read.
func importProblems(fsys fs.FS) (problems []string, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || name == "exercises/packs"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || path.Dir(name) == ".":
			return nil
		}
		from := layer(path.Dir(name))
		if from == "" {
			problems = append(problems, name+": belongs to no layer")
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			dir, ours := strings.CutPrefix(imp, module+"/")
			if ours && !allowed(from, layer(dir)) {
				problems = append(problems, name+": "+from+" must not import "+imp)
			}
		}
		return nil
	})
	return problems, err
}

func allowed(from, to string) bool {
	ok := from == to
	for _, l := range mayImport[from] {
		ok = ok || l == to
	}
	return ok
}

func TestImportsFlowOneWay(t *testing.T) {
	t.Parallel()
	problems, err := importProblems(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

// The rule itself can fail.
func TestImportProblems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, file, imports, want string }{
		{"Allowed", "web/jobs/jobs.go", "redeliver/web/store/db", ""},
		{"SameLayer", "web/store/http_sessions.go", "redeliver/web/store/db", ""},
		{"Elsewhere", "web/views/models.go", "encoding/json", ""},
		{"Backwards", "grader/grader.go", "redeliver/web/store", "grader must not import redeliver/web/store"},
		{"Skipping", "web/submission_create.go", "redeliver/grader", "web must not import redeliver/grader"},
		{"ViewWithStore", "web/views/page.go", "redeliver/web/store", "web/views must not import redeliver/web/store"},
		{"NewFolder", "util/strings.go", "strings", "belongs to no layer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			problems, err := importProblems(fstest.MapFS{
				tc.file: {Data: []byte("package p\n\nimport _ \"" + tc.imports + "\"\n")},
			})
			got := strings.Join(problems, "\n")
			if err != nil || (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q, err %v", got, tc.want, err)
			}
		})
	}
}
