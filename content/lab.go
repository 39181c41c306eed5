package content

import (
	"path"
	"slices"
	"strings"
)

// Lab is what is said about a lab; what it does is package grader/labs.
type Lab struct {
	Slug string
	Text map[string]LabText // by language
}

// LabText is a lab in one language.
type LabText struct {
	Title string // plain text, one line
	Lead  Prose  // what stands on the stage
	Try   Prose  // what to press, and what to find out
	Shows Prose  // what one has seen afterwards
}

const labFolder = "labs"

// Labs lists the labs in the order of labs/labs.yaml.
func (b *Bank) Labs() []*Lab { return slices.Clone(b.labs) }

// Lab returns the lab with a slug.
func (b *Bank) Lab(slug string) (*Lab, bool) {
	i := slices.IndexFunc(b.labs, func(l *Lab) bool { return l.Slug == slug })
	if i < 0 {
		return nil, false
	}
	return b.labs[i], true
}

// labsYAML is labs/labs.yaml.
type labsYAML struct {
	Labs []string `yaml:"labs"`
}

func (l *loader) loadLabs() {
	var file labsYAML
	name := path.Join(labFolder, "labs.yaml")
	doc, ok := l.manifest(name, &file)
	if !ok {
		return
	}
	known := []string{"labs.yaml"}
	for i, slug := range file.Labs {
		switch {
		case !slugPattern.MatchString(slug):
			l.at(doc, place("labs", i), "A lab is named by lower-case letters, digits and single hyphens.")
			continue
		case slices.Contains(file.Labs[:i], slug):
			l.at(doc, place("labs", i), "The lab %s is listed twice.", slug)
			continue
		}
		lab := &Lab{Slug: slug, Text: map[string]LabText{}}
		for _, language := range Languages() {
			name := slug + "." + language + ".md"
			known = append(known, name)
			if text, ok := l.loadLabText(path.Join(labFolder, name)); ok {
				lab.Text[language] = text
			}
		}
		l.bank.labs = append(l.bank.labs, lab)
	}
	l.checkFiles(labFolder, known)
}

// labSections names the sections of a lab's text.
var labSections = []string{"lead", "try", "shows"}

func (l *loader) loadLabText(file string) (LabText, bool) {
	source, ok := l.read(file)
	if !ok {
		return LabText{}, false
	}
	head, top := split(section{body: source, line: 1}, 1)
	if len(top) != 1 || head != "" {
		l.problems.add(file, 1, 1, "The file begins with the lab's title as its only heading of level 1.")
		return LabText{}, false
	}
	sections := l.split(file, top[0], 2)
	names := make([]string, len(sections))
	for i, s := range sections {
		names[i] = s.title
	}
	if !slices.Equal(names, labSections) {
		l.problems.add(file, 1, 1, "The headings of level 2 must be %s.", strings.Join(labSections, ", "))
		return LabText{}, false
	}
	return LabText{
		Title: top[0].title, Lead: l.block(file, sections[0]), Try: l.block(file, sections[1]), Shows: l.block(file, sections[2]),
	}, true
}
