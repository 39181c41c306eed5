package similarity

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"path"
	"reflect"
	"strconv"
	"strings"
)

// tok is a node of the syntax tree on its line.
type tok struct {
	code [8]byte
	line uint32
	file uint8
	decl uint16
}

// stream is what a source says, declaration by declaration: their order says nothing.
type stream struct {
	files []string
	decls [][]tok
}

func tokens(files []File) (stream, error) {
	var s stream
	set := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range sortedNames(files) {
		if path.Ext(f.Name) != ".go" {
			continue
		}
		file, err := parser.ParseFile(set, f.Name, f.Content, parser.SkipObjectResolution)
		if err != nil {
			return stream{}, fmt.Errorf("parse %s: %w: %w", f.Name, ErrSyntax, err)
		}
		parsed = append(parsed, file)
		s.files = append(s.files, f.Name)
	}
	own := declared(parsed)
	left := MaxTokens // and no more declarations than that, so their numbers fit
	for i, file := range parsed {
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				continue
			}
			w := walker{set: set, own: own, file: uint8(i), decl: uint16(len(s.decls)), most: left}
			ast.Inspect(d, w.visit)
			if left -= len(w.out); left < 0 {
				return stream{}, ErrTooLong
			}
			s.decls = append(s.decls, w.out)
		}
	}
	return s, nil
}

// declared are the names that a source gives. Those of libraries it cannot change, so
// they say something: Exec is not Query.
func declared(files []*ast.File) map[string]bool {
	own := map[string]bool{"_": true}
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id != nil {
				own[id.Name] = true
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				add(n.Name)
			case *ast.FuncDecl:
				add(n.Name)
			case *ast.TypeSpec:
				add(n.Name)
			case *ast.ValueSpec:
				add(n.Names...)
			case *ast.Field:
				add(n.Names...)
			case *ast.LabeledStmt:
				add(n.Label)
			case *ast.AssignStmt:
				if n.Tok == token.DEFINE {
					addExprs(add, n.Lhs...)
				}
			case *ast.RangeStmt:
				if n.Tok == token.DEFINE {
					addExprs(add, n.Key, n.Value)
				}
			}
			return true
		})
	}
	return own
}

func addExprs(add func(...*ast.Ident), list ...ast.Expr) {
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			add(id)
		}
	}
}

type walker struct {
	set  *token.FileSet
	own  map[string]bool
	file uint8
	decl uint16
	most int // tokens
	line uint32
	out  []tok
}

// visit writes a token for each node and one where it ends, so that what is inside of
// what is told, too.
func (w *walker) visit(n ast.Node) bool {
	switch n.(type) {
	case nil:
		w.emit("end")
		return false
	case *ast.Comment, *ast.CommentGroup:
		return false
	}
	if len(w.out) > w.most {
		return false // it is refused
	}
	w.line = uint32(w.set.PositionFor(at(n), false).Line)
	w.emit(w.name(n))
	return true
}

// at is where a node is. The Pos of a node that begins with another one asks that, and so
// on: for 1+1+1+… that would be the square of the work.
func at(n ast.Node) token.Pos {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return n.OpPos
	case *ast.CallExpr:
		return n.Lparen
	case *ast.SelectorExpr:
		return n.Sel.NamePos
	case *ast.IndexExpr:
		return n.Lbrack
	case *ast.IndexListExpr:
		return n.Lbrack
	case *ast.SliceExpr:
		return n.Lbrack
	case *ast.TypeAssertExpr:
		return n.Lparen
	case *ast.CompositeLit:
		return n.Lbrace
	default:
		return n.Pos()
	}
}

func (w *walker) emit(name string) {
	h := fnv.New64a()
	h.Write([]byte(name))
	t := tok{line: w.line, file: w.file, decl: w.decl}
	copy(t.code[:], h.Sum(nil))
	w.out = append(w.out, t)
}

func (w *walker) name(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Ident:
		if w.own[n.Name] {
			return "name"
		}
		return "name " + n.Name
	case *ast.BasicLit:
		return n.Kind.String()
	case *ast.BinaryExpr:
		return n.Op.String()
	case *ast.UnaryExpr:
		return "unary " + n.Op.String()
	case *ast.AssignStmt:
		return n.Tok.String()
	case *ast.IncDecStmt:
		return n.Tok.String()
	case *ast.BranchStmt:
		return n.Tok.String()
	case *ast.GenDecl:
		return n.Tok.String()
	case *ast.ChanType:
		return "chan " + strconv.Itoa(int(n.Dir))
	default:
		return strings.TrimPrefix(reflect.TypeOf(n).String(), "*ast.")
	}
}
