// Package content is what we teach: the texts of the site and how they become
// HTML. It knows no HTTP.
package content

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/yuin/goldmark"
	highlighting "github.com/yuin/goldmark-highlighting/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// codeOptions write classes, because a page may have no inline style.
func codeOptions() []chromahtml.Option {
	return []chromahtml.Option{chromahtml.WithClasses(true), chromahtml.WithPreWrapper(scrollable{})}
}

// scrollable puts code into an element that the keyboard can reach: its long
// lines scroll, and without a mouse nobody else could read their ends.
type scrollable struct{}

// Start opens the element; styleAttr holds the class.
func (scrollable) Start(_ bool, styleAttr string) string {
	return `<pre tabindex="0"` + styleAttr + `><code>`
}

// End closes what Start opened.
func (scrollable) End(bool) string { return "</code></pre>" }

// reachableTables makes tables reachable by the keyboard for the same reason.
type reachableTables struct{}

// Transform marks each table of a text.
func (reachableTables) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // only this function could fail
		if entering && n.Kind() == tables.KindTable {
			n.SetAttributeString("tabindex", []byte("0"))
		}
		return ast.WalkContinue, nil
	})
}

// HTML renders a Markdown text. Raw HTML in it is left out and links with a
// dangerous scheme lose their address, so that the texts of a pack need no
// sanitiser: goldmark must never be given WithUnsafe.
func HTML(markdown string) (string, error) {
	var b bytes.Buffer
	if err := newMarkdown().Convert([]byte(markdown), &b, parser.WithContext(parser.NewContext(parser.WithIDs(headingIDs{})))); err != nil {
		return "", fmt.Errorf("render markdown: %w", err)
	}
	return b.String(), nil
}

// Inline renders a text of one paragraph without the paragraph around it, for
// a heading or an entry of a list that the page makes.
func Inline(markdown string) (string, error) {
	html, err := HTML(markdown)
	if err != nil {
		return "", err
	}
	words, begins := strings.CutPrefix(html, "<p>")
	words, ends := strings.CutSuffix(words, "</p>\n")
	if !begins || !ends || strings.Contains(words, "<p>") {
		return "", fmt.Errorf("render markdown: %q is not one paragraph", markdown)
	}
	return words, nil
}

func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(
			extension.GFM,
			highlighting.NewHighlighting(highlighting.WithFormatOptions(codeOptions()...)),
		),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(reachableTables{}, 1000))),
	)
}

// Code renders source text in a language that chroma knows, such as "go" or
// "sql"; an unknown one is shown as it is.
func Code(language, source string) (string, error) {
	lexer := chroma.Coalesce(cmp.Or(lexers.Get(language), lexers.Fallback))
	tokens, err := lexer.Tokenise(nil, source)
	if err != nil {
		return "", fmt.Errorf("highlight %s: %w", language, err)
	}
	var b bytes.Buffer
	if err := chromahtml.New(codeOptions()...).Format(&b, styles.Fallback, tokens); err != nil {
		return "", fmt.Errorf("highlight %s: %w", language, err)
	}
	return b.String(), nil
}
