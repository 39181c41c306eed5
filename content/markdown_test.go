package content

import (
	"strings"
	"testing"

	"redeliver/web/views/htmlcheck"
)

func TestHTML(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		check      htmlcheck.Checker
	}{
		{"Heading", "## What arrives", htmlcheck.In("h2[id=what-arrives]", htmlcheck.Text("What arrives"))},
		{"RussianHeading", "### Что знает `send`?", htmlcheck.In("h3[id=что-знает-send]", htmlcheck.Text("Что знает send?"))},
		{"GermanHeading", "### Größe & Maß", htmlcheck.In("h3[id=größe-maß]", htmlcheck.Text("Größe & Maß"))},
		{"SameHeadingTwice", "## Почему\n\n## Почему", htmlcheck.In("h2[id=почему-1]")},
		{"HeadingOfSigns", "## ?!", htmlcheck.In("h2[id=heading]")},
		{"Table", "| a |\n|---|\n| 1 |", htmlcheck.In("td", htmlcheck.Text("1"))},
		{"TableCanBeScrolledByKeyboard", "> | a |\n> |---|\n> | 1 |", htmlcheck.In("table", htmlcheck.Attr("tabindex", "0"))},
		{"HighlightedCode", "```go\nfunc main() {}\n```", htmlcheck.In("pre.chroma .kd", htmlcheck.Text("func"))},
		{"CodeCanBeScrolledByKeyboard", "```sql\nSELECT 1\n```", htmlcheck.In("pre.chroma", htmlcheck.Attr("tabindex", "0"))},
		{"RawElementIsLeftOut", "<script>alert(1)</script> <b onclick=\"x()\">b</b>", htmlcheck.NotIn("script, b")},
		{"DangerousLinkIsEmpty", "[x](javascript:alert(1))", htmlcheck.In("a", htmlcheck.Attr("href", ""))},
		{"DangerousImageIsEmpty", "![i](data:text/html;base64,AA)", htmlcheck.In("img", htmlcheck.Attr("src", ""))},
		{"AutoLinkIsNoScript", "<javascript:alert(1)>", htmlcheck.NotIn("a[href^=javascript]")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := HTML(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			htmlcheck.Page(t, got, tc.check, htmlcheck.NothingInline)
		})
	}
}

func TestInline(t *testing.T) {
	t.Parallel()
	got, err := Inline("`acks=all` *helps* <b>")
	if want := "<code>acks=all</code> <em>helps</em> <!-- raw HTML omitted -->"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, text := range []string{"", "# Heading", "- list", "one\n\ntwo", "```go\n```"} {
		if got, err := Inline(text); err == nil {
			t.Errorf("Inline(%q) = %q, want an error", text, got)
		}
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, language, source, want string }{
		{"KnownLanguage", "sql", "CREATE TABLE t (id TEXT)", `<span class="k">CREATE</span>`},
		{"UnknownLanguage", "nothing", "a < b", "a &lt; b"},
		{"MarkupIsText", "go", `var s = "</pre><script>"`, "&lt;/pre&gt;&lt;script&gt;"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := Code(tc.language, tc.source)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got, tc.want) {
				t.Errorf("got %s", got)
			}
			htmlcheck.Page(t, got, htmlcheck.NothingInline, htmlcheck.NotIn("script"))
		})
	}
}
