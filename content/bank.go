package content

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	bankFile     = "questions/bank.yaml"
	maxFileBytes = 64 << 10 // a text of more is no answer to a question
)

var slugPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Bank is every question in every language. It does not change after Load and
// may be used by many goroutines.
type Bank struct {
	topics    []Topic
	questions []*Question
	glossary  map[string]Prose
	labs      []*Lab
}

// All lists the questions in the order of bank.yaml.
func (b *Bank) All() []*Question { return slices.Clone(b.questions) }

// Topics lists the topics in the order of bank.yaml.
func (b *Bank) Topics() []Topic { return slices.Clone(b.topics) }

// Question returns the question with a slug.
func (b *Bank) Question(slug string) (*Question, bool) {
	i := slices.IndexFunc(b.questions, func(q *Question) bool { return q.Slug == slug })
	if i < 0 {
		return nil, false
	}
	return b.questions[i], true
}

// Glossary is the list of terms of one language.
func (b *Bank) Glossary(language string) Prose { return b.glossary[language] }

// CheckExercises reports each exercise and each wrong handler that a question
// names and that is not there. The function known is asked with a wrong
// handler's name, or with "" when the exercise or its starter is meant.
func (b *Bank) CheckExercises(known func(exercise, wrong string) bool) Problems {
	var problems Problems
	for _, q := range b.questions {
		for i, exercise := range q.Exercises {
			if !known(exercise, "") {
				at := q.at[place("exercises", i)]
				problems.add(q.file, at.line, at.column, "There is no exercise %s.", exercise)
			}
		}
		for i, pitfall := range q.Text["en"].Pitfalls {
			if run := pitfall.Run; run != nil && !known(run.Exercise, run.Wrong) {
				at := q.at[place("pitfalls", i)]
				problems.add(q.file, at.line, at.column, "There is no exercise %s with a wrong handler %q.", run.Exercise, run.Wrong)
			}
		}
	}
	return problems
}

// loader gathers a bank and its problems.
type loader struct {
	fsys     fs.FS
	bank     *Bank
	problems Problems
}

// Load reads a bank: questions/bank.yaml, a folder for each question that it
// lists, the glossaries, and the texts of the labs. The bank is nil exactly when there are problems.
func Load(fsys fs.FS) (*Bank, Problems) {
	l := &loader{fsys: fsys, bank: &Bank{glossary: map[string]Prose{}}}
	l.loadBank()
	l.loadGlossaries()
	l.loadLabs()
	if len(l.problems) > 0 {
		return nil, l.problems
	}
	return l.bank, nil
}

// bankYAML is bank.yaml.
type bankYAML struct {
	Topics []struct {
		ID    string            `yaml:"id"`
		Title map[string]string `yaml:"title"`
	} `yaml:"topics"`
	Questions []string `yaml:"questions"`
}

func (l *loader) loadBank() {
	var file bankYAML
	doc, ok := l.manifest(bankFile, &file)
	if !ok {
		return
	}
	for i, topic := range file.Topics {
		l.checkTopic(doc, i, topic.ID, topic.Title)
		l.bank.topics = append(l.bank.topics, Topic{ID: topic.ID, Title: topic.Title})
	}
	for i, slug := range file.Questions {
		switch {
		case !slugPattern.MatchString(slug):
			l.at(doc, place("questions", i), "A question is named by its folder: lower-case letters, digits and single hyphens.")
		case slices.Contains(file.Questions[:i], slug):
			l.at(doc, place("questions", i), "The question %s is listed twice.", slug)
		default:
			l.loadQuestion(slug, file.Questions)
		}
	}
	l.checkFolders(doc, file.Questions)
}

func (l *loader) checkTopic(doc *manifest, i int, id string, title map[string]string) {
	where := place("topics", i)
	if !slugPattern.MatchString(id) {
		l.at(doc, where, "A topic's id consists of lower-case letters, digits and single hyphens.")
	}
	if slices.ContainsFunc(l.bank.topics, func(t Topic) bool { return t.ID == id }) {
		l.at(doc, where, "The topic %s is listed twice.", id)
	}
	for _, language := range Languages() {
		if strings.TrimSpace(title[language]) == "" {
			l.at(doc, where, "The title in %s is missing.", language)
		}
	}
	if len(title) > len(Languages()) {
		l.at(doc, where, "The topic has a title in a language that the site does not have.")
	}
}

// checkFolders reports what nobody would read.
func (l *loader) checkFolders(doc *manifest, listed []string) {
	entries, err := fs.ReadDir(l.fsys, "questions")
	if err != nil {
		l.problems.add("questions", 0, 0, "The folder cannot be read: %v.", err)
	}
	for _, entry := range entries {
		switch name := entry.Name(); {
		case entry.IsDir() && !slices.Contains(listed, name):
			l.at(doc, "questions", "The folder %s is not listed under questions.", name)
		case !entry.IsDir() && name != path.Base(bankFile):
			l.problems.add(path.Join("questions", name), 0, 0, "The file is not part of the format.")
		}
	}
}

func (l *loader) loadGlossaries() {
	for _, language := range Languages() {
		name := "glossary." + language + ".md"
		if text, ok := l.read(name); ok {
			l.bank.glossary[language] = l.prose(name, text, HTML)
		}
	}
}

// read gives a file's text.
func (l *loader) read(name string) (string, bool) {
	data, err := fs.ReadFile(l.fsys, name)
	switch {
	case err != nil:
		l.problems.add(name, 0, 0, "The file is missing.")
	case len(data) > maxFileBytes:
		l.problems.add(name, 0, 0, "The file has more than %d bytes.", maxFileBytes)
	default:
		return strings.ReplaceAll(string(data), "\r\n", "\n"), true
	}
	return "", false
}

func (l *loader) prose(file, markdown string, render func(string) (string, error)) Prose {
	html, err := render(markdown)
	if err != nil {
		l.problems.add(file, 0, 0, "The Markdown cannot be rendered: %v.", err)
	}
	return Prose{Markdown: markdown, HTML: html}
}
