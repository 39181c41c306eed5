package build

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"redeliver/exercises"
	"redeliver/grader/verdict"
)

// MaxSource is how many bytes all files of a submission may have together.
const MaxSource = 64 << 10

// packageName is the package of every submission.
const packageName = "handler"

// Check reports what is wrong with a submission before it is compiled: file
// names, sizes, syntax, imports, directives, and whether the functions of the
// entry ("handler+kafka") are there. editable are the names that files may have. Findings are in
// the order of file and line; their kind is policy, or compile for what the
// compiler would say too. Check runs nothing and is quick.
func Check(entryName string, editable []string, files []exercises.File) []verdict.Finding {
	c := checker{editable: editable, fset: token.NewFileSet(), imports: importable()}
	if c.names(files) && c.size(files) {
		for _, f := range files {
			c.file(f)
		}
		if e, ok := entryOf(entryName); ok && len(c.findings) == 0 {
			c.entry(e)
			c.makesClients(e)
		}
	}
	sortFindings(c.findings)
	return c.findings
}

// sortFindings sorts by file, line and column and keeps the order otherwise.
func sortFindings(list []verdict.Finding) {
	slices.SortStableFunc(list, func(a, b verdict.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

type checker struct {
	editable []string
	fset     *token.FileSet
	imports  map[string]bool
	parsed   []*ast.File
	findings []verdict.Finding
}

func (c *checker) add(k verdict.Kind, file, format string, args ...any) {
	c.findings = append(c.findings, verdict.Finding{Kind: k, File: file, Message: fmt.Sprintf(format, args...)})
}

// addAt places a finding. The position ignores line directives: they are the
// candidate's and could name any file.
func (c *checker) addAt(k verdict.Kind, pos token.Pos, format string, args ...any) {
	p := c.fset.PositionFor(pos, false)
	c.findings = append(c.findings, verdict.Finding{
		Kind: k, File: p.Filename, Line: p.Line, Column: p.Column, Message: fmt.Sprintf(format, args...),
	})
}

// names checks that each file is one that the exercise has.
func (c *checker) names(files []exercises.File) bool {
	seen := map[string]bool{}
	sources := 0
	for _, f := range files {
		if path.Ext(f.Name) == ".go" {
			sources++
		}
		switch {
		case seen[f.Name]:
			c.add(verdict.Policy, f.Name, "The submission has two files with the name %s.", f.Name)
		case !plainName(f.Name):
			c.add(verdict.Policy, "", "%q is not a file name that is allowed here: names have no folder and do not begin with a dot or an underscore.", f.Name)
		case !slices.Contains(c.editable, f.Name):
			c.add(verdict.Policy, f.Name, "%s is not a file of this exercise, which has %s.", f.Name, strings.Join(c.editable, ", "))
		case skippedByGo(f.Name):
			c.add(verdict.Policy, f.Name, "Go would leave %s out because of its name: names that end in _test.go or with a system or processor are not allowed.", f.Name)
		}
		seen[f.Name] = true
	}
	if sources == 0 {
		c.add(verdict.Policy, "", "The submission is empty: it has no Go file.")
	}
	return len(c.findings) == 0
}

func plainName(name string) bool {
	return name != "" && utf8.ValidString(name) && !strings.ContainsAny(name, "/\\\x00\n\r") &&
		!strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_")
}

// skippedByGo reports whether the go command would ignore a Go file by its
// name alone. It asks go/build on behalf of a system that does not exist, for
// which every suffix is the wrong one.
func skippedByGo(name string) bool {
	if path.Ext(name) != ".go" {
		return false
	}
	system := gobuild.Context{
		GOOS: "none", GOARCH: "none", Compiler: "gc",
		OpenFile: func(string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("package handler\n")), nil
		},
	}
	match, err := system.MatchFile(".", name)
	return err != nil || !match || strings.HasSuffix(name, "_test.go")
}

func (c *checker) size(files []exercises.File) bool {
	total := 0
	for _, f := range files {
		total += len(f.Content)
	}
	if total > MaxSource {
		c.add(verdict.Policy, "", "The submission has %d bytes; %d are allowed.", total, MaxSource)
	}
	return total <= MaxSource
}

// file checks one file by itself.
func (c *checker) file(f exercises.File) {
	if i := notText(f.Content); i >= 0 {
		c.add(verdict.Policy, f.Name, "%s is not a text file: the byte at position %d is not allowed in UTF-8 text.", f.Name, i)
		return
	}
	if path.Ext(f.Name) != ".go" {
		return
	}
	if !hasCode(f.Content) {
		c.add(verdict.Compile, f.Name, "The file has no code. It must begin with: package %s", packageName)
		return
	}
	tree, err := parser.ParseFile(c.fset, f.Name, f.Content, parser.ParseComments|parser.AllErrors|parser.SkipObjectResolution)
	if tree != nil && c.directives(tree) {
		return // what the parser says may be placed by a line directive
	}
	if err != nil {
		c.syntax(f.Name, err)
		return
	}
	c.parsed = append(c.parsed, tree)
	if tree.Name.Name != packageName {
		c.addAt(verdict.Policy, tree.Name.Pos(), "The package must be named %s, not %s.", packageName, tree.Name.Name)
	}
	for _, spec := range tree.Imports {
		c.importSpec(spec)
	}
}

// notText returns the index of the first byte that is not part of UTF-8 text
// or is NUL, or −1.
func notText(p []byte) int {
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		if r == 0 || r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}

// hasCode reports whether there is anything but space and comments.
func hasCode(src []byte) bool {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(src)), src, nil, 0)
	_, tok, _ := s.Scan()
	return tok != token.EOF
}

// syntax reports the parser's errors, the first one of each line: the others
// follow from it.
func (c *checker) syntax(file string, err error) {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		c.add(verdict.Compile, file, "%s", err)
		return
	}
	list.RemoveMultiples()
	for _, e := range list {
		c.findings = append(c.findings, verdict.Finding{
			Kind: verdict.Compile, File: file, Line: e.Pos.Line, Column: e.Pos.Column, Message: e.Msg,
		})
	}
}

// directives reports comments that speak to the compiler.
func (c *checker) directives(tree *ast.File) (found bool) {
	for _, group := range tree.Comments {
		for _, comment := range group.List {
			if d := directive(comment.Text); d != "" {
				c.addAt(verdict.Policy, comment.Pos(), "The directive %s is not allowed in a submission. Remove the comment.", d)
				found = true
			}
		}
	}
	return found
}

// directive returns the directive that a comment is, or "".
func directive(comment string) string {
	text := strings.TrimRight(comment, "\r")
	word, _, _ := strings.Cut(strings.NewReplacer("\t", " ", "\n", " ").Replace(text), " ")
	switch {
	case strings.HasPrefix(text, "//go:"):
		return word
	case strings.HasPrefix(text, "//line "), strings.HasPrefix(text, "/*line "), word == "//export":
		return word
	case strings.HasPrefix(text, "//") && strings.HasPrefix(strings.TrimSpace(text[2:]), "+build"):
		return "+build"
	default:
		return ""
	}
}

func (c *checker) importSpec(spec *ast.ImportSpec) {
	p, err := strconv.Unquote(spec.Path.Value)
	switch {
	case err != nil: // the compiler says so too
		c.addAt(verdict.Compile, spec.Path.Pos(), "invalid import path: %s", spec.Path.Value)
	case p == "C":
		c.addAt(verdict.Policy, spec.Path.Pos(), "cgo (import \"C\") is not available in a submission.")
	case !c.imports[p]:
		c.addAt(verdict.Policy, spec.Path.Pos(), "The package %q may not be imported. %s", p, importAdvice())
	}
}

// entry checks that the functions of the entry are there. Whether a signature is
// right is the compiler's to say, which knows aliases.
func (c *checker) entry(e entry) {
	for _, f := range e.Funcs {
		if !slices.ContainsFunc(c.parsed, func(tree *ast.File) bool { return findFunc(tree, f.Name) != nil }) {
			c.addAt(verdict.Compile, c.parsed[0].Name.Pos(), "func %s is missing. The submission must define: %s", f.Name, f.Signature)
		}
	}
}

// makesClients reports where a submission makes a Kafka client although the entry
// gives it one or none: the sandbox has the functions, for other entries.
func (c *checker) makesClients(e entry) {
	if e.Package == clientsPackage {
		return
	}
	for _, tree := range c.parsed {
		name := nameOf(tree, kgoPackage)
		ast.Inspect(tree, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || s.Sel.Name != "NewClient" && s.Sel.Name != "NewGroupTransactSession" {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == name {
				c.addAt(verdict.Compile, s.Sel.Pos(), "%s.%s is not available in this exercise", name, s.Sel.Name)
			}
			return true
		})
	}
}

// nameOf is how a file calls a package that it imports, "" if it does not.
func nameOf(tree *ast.File, importPath string) string {
	for _, spec := range tree.Imports {
		if spec.Path.Value != strconv.Quote(importPath) {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(importPath)
	}
	return ""
}

// findFunc returns the declaration of a function that is no method, or nil.
func findFunc(tree *ast.File, name string) *ast.FuncDecl {
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == name {
			return f
		}
	}
	return nil
}
