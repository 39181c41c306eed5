// Package htmlcheck says in a test what must be true of a page, without fixing
// the whole page.
package htmlcheck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// A Checker looks at one node and returns what is wrong with it.
type Checker func(*html.Node) error

// Page parses a page and reports every check that fails.
func Page(tb testing.TB, body string, checks ...Checker) {
	tb.Helper()
	doc, err := html.Parse(strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	for _, check := range checks {
		if err := check(doc); err != nil {
			tb.Error(err)
		}
	}
}

// In applies the checks to the first element that a CSS selector finds. There
// must be one.
func In(selector string, checks ...Checker) Checker {
	sel := cascadia.MustCompile(selector)
	return func(n *html.Node) error {
		found := cascadia.Query(n, sel)
		if found == nil {
			return fmt.Errorf("no element %q", selector)
		}
		for _, check := range checks {
			if err := check(found); err != nil {
				return fmt.Errorf("%s: %w", selector, err)
			}
		}
		return nil
	}
}

// NotIn fails when the selector finds anything.
func NotIn(selector string) Checker { return Count(selector, 0) }

// Count wants the selector to find exactly n elements.
func Count(selector string, n int) Checker {
	sel := cascadia.MustCompile(selector)
	return func(node *html.Node) error {
		if found := cascadia.QueryAll(node, sel); len(found) != n {
			return fmt.Errorf("%d elements %q, want %d", len(found), selector, n)
		}
		return nil
	}
}

// Text wants exactly this text, with runs of spaces taken as one, and one
// between blocks.
func Text(want string) Checker {
	return func(n *html.Node) error {
		if got := text(n); got != want {
			return fmt.Errorf("text is %q, want %q", got, want)
		}
		return nil
	}
}

// Contains wants this text somewhere inside.
func Contains(want string) Checker {
	return func(n *html.Node) error {
		if got := text(n); !strings.Contains(got, want) {
			return fmt.Errorf("text is %q, want %q in it", got, want)
		}
		return nil
	}
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		} else if isBlock(d.Data) {
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func isBlock(element string) bool {
	switch element {
	case "p", "li", "dt", "dd", "td", "th", "tr", "div", "pre", "h1", "h2", "h3", "h4", "section", "article", "label", "br":
		return true
	default:
		return false
	}
}

// Attr wants an attribute with exactly this value.
func Attr(name, want string) Checker {
	return func(n *html.Node) error {
		for _, a := range n.Attr {
			if a.Key != name {
				continue
			}
			if a.Val != want {
				return fmt.Errorf("%s is %q, want %q", name, a.Val, want)
			}
			return nil
		}
		return fmt.Errorf("no attribute %s", name)
	}
}

// NothingInline fails on what a strict Content-Security-Policy would block.
func NothingInline(n *html.Node) error {
	for d := range n.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		hasSrc := false
		for _, a := range d.Attr {
			hasSrc = hasSrc || a.Key == "src"
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-on") {
				return fmt.Errorf("<%s> has an inline %s", d.Data, a.Key)
			}
		}
		if d.Data == "style" || d.Data == "script" && !hasSrc {
			return fmt.Errorf("inline <%s>", d.Data)
		}
	}
	return nil
}

// LinksWithin fails when a link or a label leads to an id that is not on the page.
func LinksWithin(n *html.Node) error {
	ids := map[string]bool{}
	var wanted []string
	for d := range n.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		for _, a := range d.Attr {
			switch {
			case a.Key == "id" && ids[a.Val]:
				return fmt.Errorf("two elements have the id %q", a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
				wanted = append(wanted, a.Val[1:])
			case a.Key == "for", a.Key == "aria-labelledby", a.Key == "aria-describedby":
				wanted = append(wanted, strings.Fields(a.Val)...)
			}
		}
	}
	for _, id := range wanted {
		if !ids[id] {
			return fmt.Errorf("no element has the id %q", id)
		}
	}
	return nil
}
