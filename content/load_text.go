package content

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// section is a heading and what stands below it, up to the next heading of the
// same or a higher level.
type section struct {
	line  int // of the heading
	title string
	body  string // begins where the heading ends, on the same line
}

// sectionOrder names the sections of a text.
var sectionOrder = []string{"tests", "short", "depth", "green", "red", "pitfalls"}

// loadText reads question.<lang>.md. Its form is described in README.md.
func (l *loader) loadText(file string, pitfalls []pitfallYAML) (Text, bool) {
	source, ok := l.read(file)
	if !ok {
		return Text{}, false
	}
	head, top := split(section{body: source, line: 1}, 1)
	if len(top) != 1 || head != "" {
		l.problems.add(file, 1, 1, "The file begins with the question as its only heading of level 1.")
		return Text{}, false
	}
	sections := l.split(file, top[0], 2)
	names := make([]string, len(sections))
	for i, s := range sections {
		names[i] = s.title
	}
	if !slices.Equal(names, sectionOrder) {
		l.problems.add(file, 1, 1, "The headings of level 2 must be %s.", strings.Join(sectionOrder, ", "))
		return Text{}, false
	}
	t := Text{Question: top[0].title}
	t.Tests, t.Short, t.Depth = l.block(file, sections[0]), l.block(file, sections[1]), l.block(file, sections[2])
	t.Green, t.Red = l.flags(file, sections[3]), l.flags(file, sections[4])
	t.Pitfalls = l.pitfalls(file, sections[5], pitfalls)
	return t, true
}

func (l *loader) block(file string, s section) Prose {
	body := strings.TrimSpace(s.body)
	if body == "" {
		l.problems.add(file, s.line, 1, "The section is empty.")
	}
	return l.prose(file, body, HTML)
}

// flags reads a list of one paragraph each. A line that begins with two spaces
// goes on with the item above.
func (l *loader) flags(file string, s section) []Prose {
	var items []string
	for i, line := range strings.Split(s.body, "\n") {
		item, begins := strings.CutPrefix(line, "- ")
		rest, goesOn := strings.CutPrefix(line, "  ")
		switch {
		case begins:
			items = append(items, item)
		case goesOn && len(items) > 0:
			items[len(items)-1] += " " + strings.TrimSpace(rest)
		case strings.TrimSpace(line) != "":
			l.problems.add(file, s.line+i, 1, "The section is a list whose items begin with \"- \".")
			return nil
		}
	}
	if len(items) == 0 {
		l.problems.add(file, s.line, 1, "The section is empty.")
	}
	flags := make([]Prose, len(items))
	for i, item := range items {
		flags[i] = l.prose(file, item, Inline)
	}
	return flags
}

// pitfalls reads the sections "### id: Claim", which must be those of
// question.yaml in their order.
func (l *loader) pitfalls(file string, s section, want []pitfallYAML) []Pitfall {
	sections := l.split(file, s, 3)
	pitfalls := make([]Pitfall, 0, len(want))
	for i, w := range want {
		if i >= len(sections) {
			l.problems.add(file, s.line, 1, "The pitfall %s is missing.", w.ID)
			continue
		}
		id, claim, ok := strings.Cut(sections[i].title, ": ")
		if !ok || id != w.ID {
			l.problems.add(file, sections[i].line, 1, "The heading must be \"%s: \" and the claim, as in question.yaml.", w.ID)
			continue
		}
		pitfall := Pitfall{ID: id, Claim: l.prose(file, claim, Inline), Why: l.block(file, sections[i])}
		if w.Run != nil {
			pitfall.Run = &Run{Exercise: w.Run.Exercise, Wrong: w.Run.Wrong}
		}
		pitfalls = append(pitfalls, pitfall)
	}
	for _, extra := range sections[min(len(want), len(sections)):] {
		l.problems.add(file, extra.line, 1, "The pitfall is not in question.yaml.")
	}
	return pitfalls
}

// split reports what stands above the first heading: it belongs to no section.
func (l *loader) split(file string, s section, level int) []section {
	head, sections := split(s, level)
	if strings.TrimSpace(head) != "" {
		l.problems.add(file, s.line, 1, "Below this heading stands text that belongs to no section.")
	}
	return sections
}

// split cuts a section at the headings of a level that begin with number
// signs; head is what stands above the first. Markdown itself decides what a
// heading is: a number sign in a code sample is none.
func split(s section, level int) (head string, sections []section) {
	source := []byte(s.body)
	end := 0 // of the heading before
	root := newMarkdown().Parser().Parse(text.NewReader(source))
	for node := root.FirstChild(); node != nil; node = node.NextSibling() {
		heading, ok := node.(*ast.Heading)
		if !ok || heading.Level != level || heading.Lines().Len() == 0 {
			continue
		}
		words := heading.Lines().At(0)
		begin := strings.LastIndexByte(s.body[:words.Start], '\n') + 1
		if s.body[begin] != '#' {
			continue
		}
		if len(sections) == 0 {
			head = s.body[:begin]
		} else {
			sections[len(sections)-1].body = s.body[end:begin]
		}
		end = len(s.body)
		if i := strings.IndexByte(s.body[words.Start:], '\n'); i >= 0 {
			end = words.Start + i
		}
		sections = append(sections, section{
			line:  s.line + strings.Count(s.body[:begin], "\n"),
			title: strings.TrimSpace(string(words.Value(source))),
		})
	}
	if len(sections) == 0 {
		return s.body, nil
	}
	sections[len(sections)-1].body = s.body[end:]
	return head, sections
}
