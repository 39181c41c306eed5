package build

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"redeliver/grader/guest"
	"redeliver/grader/verdict"
)

// maxMessages is how many messages of the compiler are passed on.
const maxMessages = 50

// messageLine is a message of the compiler. Column and folder may be missing; late
// messages name the file as a panic does.
var messageLine = regexp.MustCompile(`^(?:\./|redeliver/handler/)?([^:/\s]+\.go):(\d+):(?:(\d+):)? (.*)$`)

// compilerFindings turns the compiler's output into findings, in the order of
// file and line. Lines that begin with a tab belong to the message above. What
// is not about a file of the candidate's is dropped, and with it every path of
// the server.
func compilerFindings(output string, trees []*ast.File) []verdict.Finding {
	var list []verdict.Finding
	open := false // the last line was part of the last finding
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		m := messageLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			row, _ := strconv.Atoi(m[2])
			column, _ := strconv.Atoi(m[3]) // 0 when there is none
			list = append(list, verdict.Finding{Kind: verdict.Compile, File: m[1], Line: row, Column: column, Message: m[4]})
			open = true
		case open && strings.HasPrefix(line, "\t"):
			last := &list[len(list)-1]
			last.Message += "\n" + strings.ReplaceAll(line, "./", "")
		default:
			open = false
		}
	}
	explainLookalikes(list, trees)
	sortFindings(list)
	return list[:min(len(list), maxMessages)]
}

// undefined is a message about a name that a package does not have.
var undefined = regexp.MustCompile(`^undefined: (\w+)\.(\w+)$`)

// noMember is a message about a field or a method that a type of a package does
// not have. The compiler writes a path in quotes where two packages of the program
// have one name, as redis and the package behind it.
var noMember = regexp.MustCompile(`^\S+ undefined \(type \*?(\w+|"[^"]+")\.(\w+) has no field or method (\w+)`)

// explainLookalikes rewrites messages about names that a package in the sandbox
// does not have: the real one may have them, so "undefined" would puzzle.
func explainLookalikes(list []verdict.Finding, trees []*ast.File) {
	for i := range list {
		m := undefined.FindStringSubmatch(list[i].Message)
		if m != nil && importsLookalike(trees, m[1]) {
			list[i].Message = fmt.Sprintf("%s.%s is not available in this exercise", m[1], m[2])
		}
		m = noMember.FindStringSubmatch(list[i].Message)
		if m != nil && importsLookalike(trees, packageOf(m[1])) {
			list[i].Message = fmt.Sprintf("%s.%s.%s is not available in this exercise", packageOf(m[1]), m[2], m[3])
		}
	}
}

// packageOf is the name of a package that a message names or gives the path of.
func packageOf(text string) string {
	if strings.Trim(text, `"`) == redisPath {
		return "redis"
	}
	return text
}

// redisPath is the import path of the Redis client, whose last element is not the
// package's name.
const redisPath = "github.com/redis/go-redis/v9"

// importsLookalike reports whether some file imports a package of the sandbox
// under that name.
func importsLookalike(trees []*ast.File, name string) bool {
	packages := map[string]string{} // import path → its name
	for _, m := range guest.Modules() {
		for _, p := range m.Packages {
			packages[p] = path.Base(p)
		}
	}
	packages["modernc.org/sqlite/lib"] = "sqlite3"
	packages[redisPath] = "redis"
	for _, tree := range trees {
		for _, spec := range tree.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			own, ok := packages[p]
			if err != nil || !ok {
				continue
			}
			if spec.Name != nil {
				own = spec.Name.Name
			}
			if own == name {
				return true
			}
		}
	}
	return false
}

// signatureFinding says that a function of the entry has another signature than
// the sandbox calls. message is the compiler's about the file that calls it: it
// names the function, or, as always when there is only one, may leave that open.
func signatureFinding(e entry, message string, trees []*ast.File, fset *token.FileSet) verdict.Finding {
	wrong := e.Funcs[0]
	for _, f := range e.Funcs {
		if strings.Contains(message, "cannot use "+f.Name+" ") {
			wrong = f
			break
		}
	}
	f := verdict.Finding{
		Kind:    verdict.Compile,
		Message: fmt.Sprintf("func %s has the wrong signature. It must be: %s", wrong.Name, wrong.Signature),
	}
	i := slices.IndexFunc(trees, func(t *ast.File) bool { return findFunc(t, wrong.Name) != nil })
	if i >= 0 {
		p := fset.PositionFor(findFunc(trees[i], wrong.Name).Name.Pos(), false)
		f.File, f.Line, f.Column = p.Filename, p.Line, p.Column
	}
	return f
}
