package build_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/exercises"
	"redeliver/grader/build"
	"redeliver/grader/verdict"
)

const imports = `import (
	"context"
	"database/sql"

	"github.com/twmb/franz-go/pkg/kgo"
)
`

const accepted = "package handler\n\n" + imports + `
func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error { return nil }
`

// with puts lines into the imports of an accepted submission, which stand from
// line 3 of it.
func with(importLine string) string {
	return strings.Replace(accepted, "import (\n", "import (\n\t"+importLine+"\n", 1)
}

func source(name, content string) exercises.File {
	return exercises.File{Name: name, Content: []byte(content)}
}

// lines writes findings as people read them.
func lines(findings []verdict.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, fmt.Sprintf("%s %s:%d:%d %s", f.Kind, f.File, f.Line, f.Column, f.Message))
	}
	return out
}

const advice = " Allowed are github.com/google/uuid, github.com/redis/go-redis/v9, github.com/twmb/franz-go/pkg/kerr, github.com/twmb/franz-go/pkg/kgo, " +
	"modernc.org/sqlite, modernc.org/sqlite/lib, redeliver/gateway and the standard library without os/exec, net, net/http, plugin, syscall, unsafe, " +
	"runtime/debug, embed, testing and packages that need these."

func TestCheck(t *testing.T) {
	t.Parallel()
	one := func(s string) []exercises.File { return []exercises.File{source("handler.go", s)} }
	refused := func(p string) []string {
		return []string{"policy handler.go:4:2 The package \"" + p + "\" may not be imported." + advice}
	}
	for name, c := range map[string]struct {
		files []exercises.File
		want  []string
	}{
		"Accepted":           {one(accepted), nil},
		"TwoFiles":           {[]exercises.File{source("handler.go", accepted), source("types.go", "package handler\n")}, nil},
		"SQLIsNotGo":         {[]exercises.File{source("handler.go", accepted), source("schema.sql", "CREATE")}, nil},
		"NoFile":             {nil, []string{"policy :0:0 The submission is empty: it has no Go file."}},
		"OnlySQL":            {[]exercises.File{source("schema.sql", "")}, []string{"policy :0:0 The submission is empty: it has no Go file."}},
		"EmptyFile":          {one(""), []string{"compile handler.go:0:0 The file has no code. It must begin with: package handler"}},
		"OnlyAComment":       {one("// later\n"), []string{"compile handler.go:0:0 The file has no code. It must begin with: package handler"}},
		"OneMegabyte":        {one(accepted + strings.Repeat("//\n", 1<<20/3)), []string{"policy :0:0 The submission has 1048751 bytes; 65536 are allowed."}},
		"Binary":             {one("\x7fELF\x02\x01\x01\x00\x00"), []string{"policy handler.go:0:0 handler.go is not a text file: the byte at position 7 is not allowed in UTF-8 text."}},
		"NotUTF8":            {one("package handler // \xff"), []string{"policy handler.go:0:0 handler.go is not a text file: the byte at position 19 is not allowed in UTF-8 text."}},
		"WrongPackage":       {one(strings.Replace(accepted, "package handler", "package main", 1)), []string{"policy handler.go:1:9 The package must be named handler, not main."}},
		"MissingHandle":      {one("package handler\n"), []string{"compile handler.go:1:9 func Handle is missing. The submission must define: func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error"}},
		"HandleIsAMethod":    {one("package handler\n\ntype t int\n\nfunc (t) Handle() {}\n"), []string{"compile handler.go:1:9 func Handle is missing. The submission must define: func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error"}},
		"TwoFilesOneName":    {[]exercises.File{source("handler.go", accepted), source("handler.go", accepted)}, []string{"policy handler.go:0:0 The submission has two files with the name handler.go."}},
		"UnknownFile":        {[]exercises.File{source("handler.go", accepted), source("main.go", "")}, []string{"policy main.go:0:0 main.go is not a file of this exercise, which has handler.go, types.go, schema.sql, handler_test.go, handler_linux.go."}},
		"Folder":             {one2("../handler.go"), []string{"policy :0:0 \"../handler.go\" is not a file name that is allowed here: names have no folder and do not begin with a dot or an underscore."}},
		"Backslash":          {one2(`a\handler.go`), []string{`policy :0:0 "a\\handler.go" is not a file name that is allowed here: names have no folder and do not begin with a dot or an underscore.`}},
		"HiddenFile":         {one2("_handler.go"), []string{"policy :0:0 \"_handler.go\" is not a file name that is allowed here: names have no folder and do not begin with a dot or an underscore."}},
		"TestFile":           {one2("handler_test.go"), []string{"policy handler_test.go:0:0 Go would leave handler_test.go out because of its name: names that end in _test.go or with a system or processor are not allowed."}},
		"FileForOneSystem":   {one2("handler_linux.go"), []string{"policy handler_linux.go:0:0 Go would leave handler_linux.go out because of its name: names that end in _test.go or with a system or processor are not allowed."}},
		"SyntaxError":        {one("package handler\n\nfunc Handle( {\n"), []string{"compile handler.go:3:14 expected ')', found '{'"}},
		"SyntaxErrorsInTwo":  {[]exercises.File{source("types.go", "package handler\n)"), source("handler.go", "package handler\n\n\n}")}, []string{"compile handler.go:4:1 expected declaration, found '}'", "compile types.go:2:1 expected declaration, found ')'"}},
		"Cgo":                {one(with(`"C"`)), []string{"policy handler.go:4:2 cgo (import \"C\") is not available in a submission."}},
		"CgoByAnotherName":   {one(with("`C`")), []string{"policy handler.go:4:2 cgo (import \"C\") is not available in a submission."}},
		"Exec":               {one(with(`"os/exec"`)), refused("os/exec")},
		"Net":                {one(with(`"net"`)), refused("net")},
		"HTTP":               {one(with(`"net/http"`)), refused("net/http")},
		"HTTPTest":           {one(with(`"net/http/httptest"`)), refused("net/http/httptest")},
		"Unsafe":             {one(with(`"unsafe"`)), refused("unsafe")},
		"Syscall":            {one(with(`"syscall"`)), refused("syscall")},
		"Plugin":             {one(with(`"plugin"`)), refused("plugin")},
		"RuntimeDebug":       {one(with(`"runtime/debug"`)), refused("runtime/debug")},
		"Embed":              {one(with(`"embed"`)), refused("embed")},
		"Testing":            {one(with(`"testing"`)), refused("testing")},
		"Internal":           {one(with(`"internal/abi"`)), refused("internal/abi")},
		"Command":            {one(with(`"cmd/compile"`)), refused("cmd/compile")},
		"OurRuntime":         {one(with(`"redeliver/grader/guest/sdk"`)), refused("redeliver/grader/guest/sdk")},
		"Relative":           {one(with(`"./x"`)), refused("./x")},
		"Unknown":            {one(with(`"github.com/lib/pq"`)), refused("github.com/lib/pq")},
		"URLAndUUID":         {one(with("\"net/url\"\n\t_ \"github.com/google/uuid\"\n\t. \"strings\"")), nil},
		"Linkname":           {one(accepted + "\n//go:linkname now time.now\nfunc now() int64\n"), []string{"policy handler.go:12:1 The directive //go:linkname is not allowed in a submission. Remove the comment."}},
		"EmbedDirective":     {one(accepted + "\n\t//go:embed\tx\nvar x string\n"), []string{"policy handler.go:12:2 The directive //go:embed is not allowed in a submission. Remove the comment."}},
		"BuildConstraint":    {one("//go:build ignore\n\n" + accepted), []string{"policy handler.go:1:1 The directive //go:build is not allowed in a submission. Remove the comment."}},
		"OldBuildConstraint": {one("// +build ignore\n\n" + accepted), []string{"policy handler.go:1:1 The directive +build is not allowed in a submission. Remove the comment."}},
		"Export":             {one(accepted + "\n//export f\nfunc f() {}\n"), []string{"policy handler.go:12:1 The directive //export is not allowed in a submission. Remove the comment."}},
		"WasmExport":         {one(accepted + "\n//go:wasmexport drain\nfunc f() {}\n"), []string{"policy handler.go:12:1 The directive //go:wasmexport is not allowed in a submission. Remove the comment."}},
		"Line":               {one(accepted + "\n//line other.go:1\n)\n"), []string{"policy handler.go:12:1 The directive //line is not allowed in a submission. Remove the comment."}},
		"LineBeforeALine": {one(accepted + "\n//line other.go:100\n//line other.go:1\n"), []string{
			"policy handler.go:12:1 The directive //line is not allowed in a submission. Remove the comment.",
			"policy handler.go:13:1 The directive //line is not allowed in a submission. Remove the comment.",
		}},
		"LineInsideALine":    {one(accepted + "\nvar x /*line other.go:1:1*/ = 1\n"), []string{"policy handler.go:12:7 The directive /*line is not allowed in a submission. Remove the comment."}},
		"DirectiveInAString": {one(accepted + "\nvar x = `\n//go:embed x\n`\n"), nil},
		"OrdinaryComment":    {one(accepted + "\n// go:embed is not used here; line by line, export nothing.\n"), nil},
		"SeveralFindings":    {one("package main\n\nimport (\n\t\"C\"\n\t\"net\"\n)\n"), []string{"policy handler.go:1:9 The package must be named handler, not main.", "policy handler.go:4:2 cgo (import \"C\") is not available in a submission.", "policy handler.go:5:2 The package \"net\" may not be imported." + advice}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			editable := []string{"handler.go", "types.go", "schema.sql", "handler_test.go", "handler_linux.go"}
			got := lines(build.Check("handler", editable, c.files))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("findings (-want +got):\n%s", d)
			}
		})
	}
}

// one2 is a submission with an accepted file of another name.
func one2(name string) []exercises.File {
	return []exercises.File{source(name, accepted)}
}

// Every package of the list exists, and those that are not in it are left out
// on purpose: a new release of Go brings its new ones to our attention.
func TestStandardPackagesAreThoseOfGo(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "std").Output()
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, p := range strings.Fields(`crypto/mlkem/mlkemtest crypto/tls embed expvar go/build go/build/constraint
		go/doc go/doc/comment go/importer log/syslog net os/exec plugin runtime/cgo runtime/coverage runtime/debug runtime/race
		syscall testing unsafe`) {
		left[p] = true
	}
	known := 0
	for _, p := range strings.Fields(string(out)) {
		if strings.Contains(p, "internal") || strings.HasPrefix(p, "vendor/") || left[p] {
			continue
		}
		group := strings.HasPrefix(p, "net/http") || strings.HasPrefix(p, "net/rpc") || p == "net/smtp" || strings.HasPrefix(p, "testing/")
		allowed := build.Check("", []string{"a.go"}, []exercises.File{source("a.go", "package handler\n\nimport _ \""+p+"\"\n")}) == nil
		if allowed == group {
			t.Errorf("%s: allowed is %t", p, allowed)
		}
		if allowed {
			known++
		}
	}
	if known < 130 {
		t.Errorf("only %d packages of the standard library are allowed", known)
	}
}
