package build

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"

	"redeliver/exercises"
)

// mainSource is the program around the candidate's package. It does not touch
// it: to compile a use of sql.DB and kgo.Record takes 60 ms, which startSource,
// compiled together with the candidate's files, does not pay again.
const mainSource = `package main

import _ "redeliver/handler"

func main() {}
`

// startSource is the file of the candidate's package that hands its functions
// to the sandbox's runtime. It comes last, so that its init runs after the
// candidate's.
func startSource(e entry, trees []*ast.File) string {
	sdk := unused(trees, "redeliversdk")
	return fmt.Sprintf("package %s\n\nimport %s %q\n\nfunc init() { %s.%s(%s) }\n",
		packageName, sdk, e.Package, sdk, e.Start, e.names())
}

// parseSources parses the Go files of a submission that Check has accepted.
func parseSources(files []exercises.File) ([]*ast.File, *token.FileSet, error) {
	fset := token.NewFileSet()
	var trees []*ast.File
	for _, f := range files {
		if path.Ext(f.Name) != ".go" {
			continue
		}
		tree, err := parser.ParseFile(fset, f.Name, f.Content, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		trees = append(trees, tree)
	}
	return trees, fset, nil
}

// warmSource returns a file for the candidate's package that decodes an empty
// JSON object into each of its struct types, or "" when there is nothing to warm
// up. Package warm says why.
//
// Types with a method UnmarshalJSON are left out, and all that embed a type and
// could have inherited one: nothing of the candidate's may run before the
// snapshot. So is everything when encoding/json is not imported.
func warmSource(trees []*ast.File) string {
	types := warmTypes(trees)
	if len(types) == 0 || !imports(trees, "encoding/json") {
		return ""
	}
	warm := unused(trees, "redeliverwarm")
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport %s %q\n\nfunc init() {\n", packageName, warm, warmPackage)
	for _, name := range types {
		fmt.Fprintf(&b, "\t%s.Decode(&%s{})\n", warm, name)
	}
	b.WriteString("}\n")
	return b.String()
}

// warmTypes returns the struct types that can be decoded without running code
// of the candidate's, in the order of the source.
func warmTypes(trees []*ast.File) []string {
	custom := unmarshalers(trees)
	var names []string
	for _, tree := range trees {
		for _, d := range tree.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				t, ok := s.(*ast.TypeSpec)
				if ok && t.Name.Name != "_" && t.TypeParams == nil && !custom[t.Name.Name] && plainStruct(t.Type) {
					names = append(names, t.Name.Name)
				}
			}
		}
	}
	return names
}

// plainStruct reports whether an expression is a struct type without embedded
// fields.
func plainStruct(e ast.Expr) bool {
	s, ok := e.(*ast.StructType)
	if !ok {
		return false
	}
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 {
			return false
		}
	}
	return true
}

// unmarshalers returns the types that have methods which encoding/json calls.
func unmarshalers(trees []*ast.File) map[string]bool {
	set := map[string]bool{}
	for _, tree := range trees {
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !strings.HasPrefix(f.Name.Name, "Unmarshal") {
				continue
			}
			for _, r := range f.Recv.List {
				if name, ok := receiver(r.Type); ok {
					set[name] = true
				}
			}
		}
	}
	return set
}

func receiver(e ast.Expr) (string, bool) {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		return "", false
	}
	return id.Name, true
}

func imports(trees []*ast.File, p string) bool {
	for _, tree := range trees {
		for _, spec := range tree.Imports {
			if spec.Path.Value == `"`+p+`"` {
				return true
			}
		}
	}
	return false
}

// unused returns name, lengthened until no identifier of the sources is equal.
func unused(trees []*ast.File, name string) string {
	used := map[string]bool{}
	for _, tree := range trees {
		ast.Inspect(tree, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				used[id.Name] = true
			}
			return true
		})
	}
	for used[name] {
		name += "X"
	}
	return name
}
