package content

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// position is a place in a file; both count from 1.
type position struct{ line, column int }

// manifest is a YAML file whose keys and list entries can be traced back.
type manifest struct {
	file string
	at   map[string]position // by place: "exercises", "exercises[0]"
}

// place names an entry of a list at the top of a manifest.
func place(key string, i int) string { return fmt.Sprintf("%s[%d]", key, i) }

// manifest reads a YAML file into v, a pointer to a struct with yaml tags.
// Unknown and repeated keys are problems.
func (l *loader) manifest(name string, v any) (*manifest, bool) {
	text, ok := l.read(name)
	if !ok {
		return nil, false
	}
	parsed, err := parser.ParseBytes([]byte(text), 0)
	if err == nil && (len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil) {
		l.problems.add(name, 1, 1, "The file must hold one YAML document.")
		return nil, false
	}
	if err == nil {
		err = yaml.NodeToValue(parsed.Docs[0].Body, v, yaml.Strict())
	}
	if err != nil {
		l.yamlProblem(name, err)
		return nil, false
	}
	return &manifest{file: name, at: positions(parsed.Docs[0].Body)}, true
}

func (l *loader) yamlProblem(name string, err error) {
	if unknown, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
		at := tokenPosition(unknown.Token)
		l.problems.add(name, at.line, at.column, "The key %q is not known here.", unknown.Token.Value)
		return
	}
	if positioned, ok := errors.AsType[yaml.Error](err); ok {
		at := tokenPosition(positioned.GetToken())
		l.problems.add(name, at.line, at.column, "The YAML is not valid here: %s.", positioned.GetMessage())
		return
	}
	l.problems.add(name, 1, 1, "The YAML is not valid: %v.", err)
}

// positions notes the keys of the top and the entries of their lists.
func positions(root ast.Node) map[string]position {
	found := map[string]position{}
	mapping, ok := root.(*ast.MappingNode)
	if !ok {
		return found
	}
	for _, pair := range mapping.Values {
		key := pair.Key.GetToken()
		found[key.Value] = tokenPosition(key)
		if list, ok := pair.Value.(*ast.SequenceNode); ok {
			for i, entry := range list.Values {
				found[place(key.Value, i)] = tokenPosition(firstToken(entry))
			}
		}
	}
	return found
}

// firstToken is where a reader sees an entry begin: a mapping's own token is
// its first colon.
func firstToken(node ast.Node) *token.Token {
	if mapping, ok := node.(*ast.MappingNode); ok && !mapping.IsFlowStyle && len(mapping.Values) > 0 {
		return mapping.Values[0].Key.GetToken()
	}
	return node.GetToken()
}

func tokenPosition(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{1, 1}
	}
	return position{t.Position.Line, t.Position.Column}
}

// at adds a problem at a place of a manifest, or at its begin when the key is
// missing.
func (l *loader) at(doc *manifest, where, format string, args ...any) {
	at, ok := doc.at[where]
	if !ok {
		at = position{1, 1}
	}
	l.problems.add(doc.file, at.line, at.column, format, args...)
}
