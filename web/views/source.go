package views

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// Source is the files of a submission as the page lists them.
type Source []SourceFile

// SourceFile is one file in lines.
type SourceFile struct {
	Name  string
	Lines []SourceLine
}

// SourceLine is one line; Hit marks one that a finding speaks of.
type SourceLine struct {
	ID   string // of the element on the page
	Text string
	Hit  bool
	// Pasted marks one that was pasted or moved, Alike one that is in another text, too.
	Pasted, Alike bool
}

// SourceLink leads to a line of the source. Without a place it is empty.
type SourceLink struct {
	Label string        // "handler.go:31"
	URL   templ.SafeURL // empty if the line is not on the page
}

// NewSource splits files into lines.
func NewSource(files []FileModel) Source {
	source := make(Source, 0, len(files))
	for i, f := range files {
		file := SourceFile{Name: f.Name}
		for n, line := range strings.Split(strings.TrimSuffix(f.Content, "\n"), "\n") {
			file.Lines = append(file.Lines, SourceLine{ID: lineID(i, n+1), Text: line})
		}
		source = append(source, file)
	}
	return source
}

func lineID(file, line int) string { return "f" + strconv.Itoa(file) + "-L" + strconv.Itoa(line) }

// Link returns the link to a line of a file.
func (s Source) Link(file string, line int) SourceLink {
	if file == "" {
		return SourceLink{}
	}
	if line < 1 {
		return SourceLink{Label: file}
	}
	link := SourceLink{Label: file + ":" + strconv.Itoa(line)}
	if l := s.line(file, line); l != nil {
		link.URL = templ.SafeURL("#" + l.ID)
	}
	return link
}

// mark marks a line as one that a finding speaks of.
func (s Source) mark(file string, line int) {
	if l := s.line(file, line); l != nil {
		l.Hit = true
	}
}

func (s Source) markPasted(p Paste) {
	for line := p.From; line <= p.To; line++ {
		l := s.line(p.File, line)
		if l == nil {
			return // hands that are not ours may have written the mark
		}
		l.Pasted = true
	}
}

func (s Source) markAlike(span Span) {
	for line := span.From; line <= span.To; line++ {
		if l := s.line(span.File, line); l != nil {
			l.Alike = true
		}
	}
}

// within gives the lines names of their own, where a page has several sources.
func (s Source) within(prefix string) Source {
	for _, f := range s {
		for i := range f.Lines {
			f.Lines[i].ID = prefix + f.Lines[i].ID
		}
	}
	return s
}

func (s Source) line(file string, line int) *SourceLine {
	for i := range s {
		if s[i].Name == file && line >= 1 && line <= len(s[i].Lines) {
			return &s[i].Lines[line-1]
		}
	}
	return nil
}

func lineNumber(i int) string { return strconv.Itoa(i + 1) }
