package content

import (
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

var exercisePattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*$`)

// questionYAML is question.yaml: what is the same in every language.
type questionYAML struct {
	Level     string        `yaml:"level"`
	Topics    []string      `yaml:"topics"`
	Exercises []string      `yaml:"exercises"`
	FollowUps []string      `yaml:"follow_ups"`
	Pitfalls  []pitfallYAML `yaml:"pitfalls"`
	Sources   []sourceYAML  `yaml:"sources"`
}

type pitfallYAML struct {
	ID  string   `yaml:"id"`
	Run *runYAML `yaml:"run"`
}

type runYAML struct {
	Exercise string `yaml:"exercise"`
	Wrong    string `yaml:"wrong"`
}

type sourceYAML struct {
	Title   string `yaml:"title"`
	URL     string `yaml:"url"`
	Checked string `yaml:"checked"`
	Version string `yaml:"version"`
}

func (l *loader) loadQuestion(slug string, slugs []string) {
	dir := path.Join("questions", slug)
	var file questionYAML
	doc, ok := l.manifest(path.Join(dir, "question.yaml"), &file)
	if !ok {
		return
	}
	l.checkLinks(doc, slug, slugs, file)
	l.checkPitfalls(doc, file.Pitfalls)
	l.checkSources(doc, file.Sources)
	question := &Question{
		Slug: slug, Level: file.Level, Topics: file.Topics, Exercises: file.Exercises, FollowUps: file.FollowUps,
		Text: map[string]Text{}, file: doc.file, at: doc.at,
	}
	for _, source := range file.Sources {
		question.Sources = append(question.Sources, Source(source))
	}
	known := []string{"question.yaml"}
	for _, language := range Languages() {
		name := "question." + language + ".md"
		known = append(known, name)
		if text, ok := l.loadText(path.Join(dir, name), file.Pitfalls); ok {
			question.Text[language] = text
		}
	}
	l.checkFiles(dir, known)
	l.bank.questions = append(l.bank.questions, question)
}

func (l *loader) checkLinks(doc *manifest, slug string, slugs []string, file questionYAML) {
	if !slices.Contains(Levels(), file.Level) {
		l.at(doc, "level", "The level must be one of %s.", strings.Join(Levels(), ", "))
	}
	if len(file.Topics) == 0 {
		l.at(doc, "topics", "The question has no topic.")
	}
	for i, topic := range file.Topics {
		if !slices.ContainsFunc(l.bank.topics, func(t Topic) bool { return t.ID == topic }) {
			l.at(doc, place("topics", i), "The topic %s is not in %s.", topic, bankFile)
		}
	}
	for i, exercise := range file.Exercises {
		if !exercisePattern.MatchString(exercise) {
			l.at(doc, place("exercises", i), "An exercise is named pack/slug, such as core/charge-once.")
		}
	}
	for i, followUp := range file.FollowUps {
		switch {
		case followUp == slug:
			l.at(doc, place("follow_ups", i), "A question cannot follow itself.")
		case slices.Contains(file.FollowUps[:i], followUp):
			l.at(doc, place("follow_ups", i), "The question %s is listed twice.", followUp)
		case !slices.Contains(slugs, followUp):
			l.at(doc, place("follow_ups", i), "There is no question %s.", followUp)
		}
	}
}

func (l *loader) checkPitfalls(doc *manifest, pitfalls []pitfallYAML) {
	if len(pitfalls) == 0 {
		l.at(doc, "pitfalls", "The question has no pitfall.")
	}
	for i, pitfall := range pitfalls {
		where := place("pitfalls", i)
		if !slugPattern.MatchString(pitfall.ID) {
			l.at(doc, where, "A pitfall's id consists of lower-case letters, digits and single hyphens.")
		}
		if slices.ContainsFunc(pitfalls[:i], func(p pitfallYAML) bool { return p.ID == pitfall.ID }) {
			l.at(doc, where, "The pitfall %s is listed twice.", pitfall.ID)
		}
		if run := pitfall.Run; run != nil && (!exercisePattern.MatchString(run.Exercise) || run.Wrong != "" && !slugPattern.MatchString(run.Wrong)) {
			l.at(doc, where, "A run names an exercise, such as core/charge-once, and one of its wrong handlers, or none for the starter.")
		}
	}
}

func (l *loader) checkSources(doc *manifest, sources []sourceYAML) {
	if len(sources) == 0 {
		l.at(doc, "sources", "The question has no source.")
	}
	for i, source := range sources {
		where := place("sources", i)
		if source.Title == "" || source.Version == "" {
			l.at(doc, where, "A source has a title and the version of the software that it was read for.")
		}
		if u, err := url.Parse(source.URL); err != nil || u.Scheme != "https" || u.Host == "" {
			l.at(doc, where, "A source's url begins with https://.")
		}
		if _, err := time.Parse(time.DateOnly, source.Checked); err != nil && source.Checked != "" {
			l.at(doc, where, "The day on which a source was compared with the text is written as 2026-11-29.")
		}
	}
}

// checkFiles reports a file that nobody would read, such as a text in a fourth
// language.
func (l *loader) checkFiles(dir string, known []string) {
	entries, err := fs.ReadDir(l.fsys, dir)
	if err != nil {
		l.problems.add(dir, 0, 0, "The folder cannot be read: %v.", err)
	}
	for _, entry := range entries {
		if !slices.Contains(known, entry.Name()) {
			l.problems.add(path.Join(dir, entry.Name()), 0, 0, "The file is not part of the format.")
		}
	}
}
