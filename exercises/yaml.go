package exercises

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxYAMLDepth bounds how deeply lists and mappings may lie in each other. The
// deepest manifest of ours has four levels.
const maxYAMLDepth = 16

const maxYAMLLines = 2000

// What a value can be, for authors.
const (
	textName    = "text"
	listName    = "a list"
	mappingName = "a mapping of keys to values"
)

// document is a YAML file whose values can be traced back to their place.
type document struct {
	file string
	root ast.Node
}

// parseYAML reads one YAML document. Aliases, anchors, tags and merge keys are
// refused: a manifest needs none of them, and with aliases a short file stands
// for an endless one.
func parseYAML(file string, data []byte) (doc *document, problem *Problem) {
	source := strings.ReplaceAll(string(data), "\r\n", "\n")
	if p := checkCharacters(file, source); p != nil {
		return nil, p
	}
	tokens := lexer.Tokenize(source)
	if p := checkTokens(file, tokens); p != nil {
		return nil, p
	}
	parsed, err := parser.Parse(tokens, 0)
	if err != nil {
		p := yamlProblem(file, err)
		return nil, &p
	}
	switch {
	case len(parsed.Docs) == 0 || parsed.Docs[0].Body == nil:
		return nil, &Problem{File: file, Line: 1, Column: 1, Message: "The file is empty."}
	case len(parsed.Docs) > 1:
		return nil, at(file, parsed.Docs[1].Start, "The file holds more than one YAML document.")
	}
	doc = &document{file: file, root: parsed.Docs[0].Body}
	if _, isMapping := children(doc.root); !isMapping {
		p := doc.problem("The file must be a mapping of keys to values.")
		return nil, &p
	}
	return doc, nil
}

// checkCharacters refuses what the YAML package is slow to read: 64 KiB of tabs
// took it 8 s, of carriage returns 37 s, and 4,600 keys 3 s.
func checkCharacters(file, source string) *Problem {
	number := 0
	for line := range strings.Lines(source) {
		if number++; number > maxYAMLLines {
			return &Problem{File: file, Line: number, Column: 1, Message: fmt.Sprintf("The file has more than %d lines.", maxYAMLLines)}
		}
		column := 0
		for _, char := range strings.TrimSuffix(line, "\n") {
			if column++; unicode.IsControl(char) {
				return &Problem{File: file, Line: number, Column: column, Message: "Tabs and other control characters are not allowed."}
			}
		}
	}
	return nil
}

// checkTokens refuses what must not reach the parser. The depth is counted
// here because the parser is recursive.
func checkTokens(file string, tokens token.Tokens) *Problem {
	depth, indents := 0, []int{}
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType:
			return at(file, t, "Anchors and aliases are not allowed.")
		case token.TagType:
			return at(file, t, "Tags are not allowed.")
		case token.MergeKeyType:
			return at(file, t, "Merge keys are not allowed.")
		case token.DirectiveType:
			return at(file, t, "Directives are not allowed.")
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType, token.MappingValueType, token.MappingKeyType:
			indents = indent(indents, t)
		default:
		}
		if depth+len(indents) > maxYAMLDepth {
			return at(file, t, fmt.Sprintf("Lists and mappings lie in each other more than %d deep.", maxYAMLDepth))
		}
	}
	return nil
}

// indent keeps the stack of columns at which the open block collections began.
func indent(columns []int, t *token.Token) []int {
	column := t.Position.Column
	if t.Type == token.MappingValueType {
		column = t.Position.IndentNum + 1
	}
	for len(columns) > 0 && columns[len(columns)-1] > column {
		columns = columns[:len(columns)-1]
	}
	if len(columns) == 0 || columns[len(columns)-1] < column {
		columns = append(columns, column)
	}
	return columns
}

// decode fills v, a pointer to a struct with yaml tags, from the document.
// Unknown and repeated keys are problems.
func (d *document) decode(v any) *Problem {
	if err := yaml.NodeToValue(d.root, v, yaml.Strict()); err != nil {
		p := yamlProblem(d.file, err)
		return &p
	}
	return nil
}

// problem places a message at the value that path leads to: keys are strings,
// positions in lists ints. Where the path leaves the document, the last value
// that is there is meant: that is where a missing key belongs.
func (d *document) problem(message string, path ...any) Problem {
	node := d.root
	for _, step := range path {
		next := child(node, step)
		if next == nil {
			break
		}
		node = next
	}
	return problemAt(d.file, firstToken(node), message)
}

// key places a message at a key of the mapping that path leads to.
func (d *document) key(message, name string, path ...any) Problem {
	node := d.root
	for _, step := range path {
		node = child(node, step)
	}
	values, _ := children(node)
	for _, pair := range values {
		if pair.Key.GetToken().Value == name {
			return problemAt(d.file, pair.Key.GetToken(), message)
		}
	}
	return d.problem(message, path...)
}

func child(node ast.Node, step any) ast.Node {
	switch step := step.(type) {
	case string:
		pairs, _ := children(node)
		for _, pair := range pairs {
			if pair.Key.GetToken().Value == step {
				return pair.Value
			}
		}
	case int:
		if list, ok := node.(*ast.SequenceNode); ok && step < len(list.Values) {
			return list.Values[step]
		}
	}
	return nil
}

// children gives the pairs of a mapping. A mapping of one pair has a node type
// of its own in some places.
func children(node ast.Node) ([]*ast.MappingValueNode, bool) {
	switch node := node.(type) {
	case *ast.MappingNode:
		return node.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{node}, true
	default:
		return nil, false
	}
}

// firstToken is where a reader sees the value begin: a block mapping's own
// token is its first colon.
func firstToken(node ast.Node) *token.Token {
	if mapping, ok := node.(*ast.MappingNode); ok && mapping.IsFlowStyle {
		return mapping.Start
	}
	if pairs, ok := children(node); ok && len(pairs) > 0 {
		return pairs[0].Key.GetToken()
	}
	return node.GetToken()
}

func at(file string, t *token.Token, message string) *Problem {
	p := problemAt(file, t, message)
	return &p
}

func problemAt(file string, t *token.Token, message string) Problem {
	if t == nil || t.Position == nil {
		return Problem{File: file, Line: 1, Column: 1, Message: message}
	}
	return Problem{File: file, Line: t.Position.Line, Column: t.Position.Column, Message: message}
}

// yamlProblem turns an error of the YAML package into a problem. Its message
// for a wrong type speaks of Go types, which mean nothing to an author.
func yamlProblem(file string, err error) Problem {
	if wrongType, ok := errors.AsType[*yaml.TypeError](err); ok {
		return problemAt(file, wrongType.Token, "The value must be "+kindName(wrongType.DstType)+".")
	}
	if wrongNode, ok := errors.AsType[*yaml.UnexpectedNodeTypeError](err); ok {
		return problemAt(file, wrongNode.Token, "The value must be "+nodeName(wrongNode.Expected)+".")
	}
	if unknown, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
		return problemAt(file, unknown.Token, fmt.Sprintf("The key %q is not known here.", unknown.Token.Value))
	}
	if positioned, ok := errors.AsType[yaml.Error](err); ok {
		return problemAt(file, positioned.GetToken(), "The YAML is not valid here: "+positioned.GetMessage()+".")
	}
	return Problem{File: file, Line: 1, Column: 1, Message: "The YAML is not valid: " + err.Error() + "."}
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return listName
	case reflect.Map, reflect.Struct:
		return mappingName
	default:
		return textName
	}
}

func nodeName(t ast.NodeType) string {
	switch t {
	case ast.SequenceType:
		return listName
	case ast.MappingType, ast.MappingValueType:
		return mappingName
	default:
		return textName
	}
}
