package content

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// headingIDs makes the ids of a text's headings out of their letters and digits,
// whatever the script: goldmark's own keep only ASCII, and of a Russian heading
// nothing but hyphens is left.
type headingIDs map[string]bool

// Generate gives a heading an id that none before it has.
func (ids headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	words := strings.FieldsFunc(strings.ToLower(string(value)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	id := strings.Join(words, "-")
	if id == "" {
		id = "heading"
	}
	free := id
	for n := 1; ids[free]; n++ {
		free = fmt.Sprintf("%s-%d", id, n)
	}
	ids[free] = true
	return []byte(free)
}

// Put notes an id that a text has given by itself.
func (ids headingIDs) Put(value []byte) { ids[string(value)] = true }
