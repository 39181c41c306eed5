package exercises

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// exerciseFile is exercise.yaml.
type exerciseFile struct {
	ID            string                 `yaml:"id"`
	UUID          string                 `yaml:"uuid"`
	Version       string                 `yaml:"version"`
	Title         map[string]string      `yaml:"title"`
	Level         int                    `yaml:"level"`
	Minutes       int                    `yaml:"minutes"`
	Entry         string                 `yaml:"entry"`
	Services      []string               `yaml:"services"`
	Databases     []string               `yaml:"databases"`
	Editable      []string               `yaml:"editable"`
	Concepts      []string               `yaml:"concepts"`
	Prerequisites []string               `yaml:"prerequisites"`
	Questions     []string               `yaml:"questions"`
	Visibility    string                 `yaml:"visibility"`
	Phases        []string               `yaml:"phases"`
	Limits        limitsFile             `yaml:"limits"`
	Histories     map[string]historyFile `yaml:"histories"`
	Invariants    []invariantFile        `yaml:"invariants"`
	Rubric        []string               `yaml:"rubric"`
}

type limitsFile struct {
	HostCalls int `yaml:"host_calls"`
}

type historyFile struct {
	Table   string   `yaml:"table"`
	Columns []string `yaml:"columns"`
}

type invariantFile struct {
	Name    string            `yaml:"name"`
	Kind    string            `yaml:"kind"`
	Object  string            `yaml:"object"`
	SQL     string            `yaml:"sql"`
	Message map[string]string `yaml:"message"`
}

// expectedFile is one entry of expect.yaml.
type expectedFile struct {
	Kinds   []string `yaml:"kinds"`
	May     []string `yaml:"may"`
	Message []string `yaml:"message"`
}

// editablePattern leaves out what the Go tool would not compile or would
// compile on one system only: handler_test.go, handler_linux.go.
var editablePattern = regexp.MustCompile(`^([a-z0-9]+(-[a-z0-9]+)*\.go|schema\.sql)$`)

// FeedbackFile is written by grader/packcheck and read by people: it shows what a
// change does to the sentences that candidates get.
const FeedbackFile = "feedback.golden"

// LimitsFile is written by grader/packcheck, too: the limits that exercise.yaml
// leaves out, as the solutions need them.
const LimitsFile = "limits.golden"

// loadExercise reads the exercise in the folder slug.
func (l *loader) loadExercise(slug string) (*Exercise, bool) {
	before := len(l.problems)
	if l.has(slug + "/README.md") {
		l.take(slug + "/README.md")
	}
	exercise := &Exercise{Head: Head{Pack: l.pack.ID, Slug: slug}}
	if l.has(slug + "/" + FeedbackFile) {
		feedback, _ := l.take(slug + "/" + FeedbackFile)
		exercise.Feedback = string(feedback)
	}
	events := l.loadEvents(slug)
	if l.loadManifest(exercise, events) {
		exercise.Events = events
		l.loadLimits(exercise)
		l.loadTexts(exercise)
		l.loadSchema(exercise)
		l.loadSamples(exercise)
		l.loadExpectations(exercise)
	} else {
		l.forget(slug)
	}
	return exercise, len(l.problems) == before
}

// loadLimits takes the limits that exercise.yaml leaves out.
func (l *loader) loadLimits(exercise *Exercise) {
	name := exercise.Slug + "/" + LimitsFile
	exercise.Measured = exercise.Limits.HostCalls == 0 && !exercise.MakesClients()
	if !l.has(name) {
		return
	}
	var file limitsFile
	doc, ok := l.yaml(name, &file)
	switch {
	case !ok:
	case !exercise.Measured:
		l.problem(name, "The file is for an exercise whose host_calls are measured: remove it, or leave host_calls out of exercise.yaml.")
	case file.HostCalls < 1 || file.HostCalls > maxHostCalls:
		l.at(doc, fmt.Sprintf("The host_calls must be between 1 and %d.", maxHostCalls), "host_calls")
	default:
		exercise.Limits = Limits(file)
	}
}

// forget keeps the files of a draft, or of an exercise whose manifest is broken,
// from being reported as unknown.
func (l *loader) forget(slug string) {
	for name := range l.files {
		if strings.HasPrefix(name, slug+"/") {
			l.taken[name] = true
		}
	}
}

func (l *loader) loadManifest(exercise *Exercise, events Events) bool {
	var file exerciseFile
	doc, ok := l.yaml(exercise.Slug+"/exercise.yaml", &file)
	if !ok {
		return false
	}
	before := len(l.problems)
	l.checkManifest(doc, exercise.Slug, file)
	l.checkHistories(doc, file.Histories)
	l.checkInvariants(doc, file.Invariants, events)
	fillExercise(exercise, file, events)
	l.checkOutputs(doc, exercise, events)
	for i := range exercise.Invariants {
		exercise.Invariants[i].Place = doc.problem("", "invariants", i, "sql")
	}
	return len(l.problems) == before
}

// head is what the manifest says about the exercise that a list shows.
func (f exerciseFile) head(pack string) Head {
	head := Head{
		Pack: pack, Slug: f.ID, UUID: f.UUID, Version: f.Version, Title: f.Title, Level: f.Level, Minutes: f.Minutes,
		Entry: f.Entry, Services: f.Services, Databases: f.Databases, Concepts: f.Concepts,
		Prerequisites: f.Prerequisites, Questions: f.Questions, Visibility: f.Visibility,
	}
	if len(head.Databases) == 0 {
		head.Databases = []string{"sqlite"}
	}
	return head
}

func fillExercise(exercise *Exercise, file exerciseFile, events Events) {
	slug := exercise.Slug // a broken manifest may name another one
	exercise.Head = file.head(exercise.Pack)
	exercise.Slug = slug
	exercise.Editable, exercise.Phases, exercise.Rubric = file.Editable, file.Phases, file.Rubric
	exercise.Limits = Limits(file.Limits)
	for _, name := range sortedKeys(file.Histories) {
		exercise.Histories = append(exercise.Histories, History{Name: name, Table: file.Histories[name].Table, Columns: file.Histories[name].Columns})
	}
	for _, invariant := range file.Invariants {
		exercise.Invariants = append(exercise.Invariants, Invariant{
			Name: invariant.Name, Kind: invariant.Kind, SQL: strings.TrimSpace(invariant.SQL),
			Object: cmp.Or(invariant.Object, events.Object), Message: invariant.Message,
		})
	}
}

func (l *loader) loadTexts(exercise *Exercise) {
	exercise.Statement, exercise.Approach = map[string]string{}, map[string]string{}
	exercise.Hints = map[string][]Hint{}
	for _, language := range l.pack.Languages {
		exercise.Statement[language] = l.text(exercise.Slug, "statement", language)
		exercise.Approach[language] = l.text(exercise.Slug, "approach", language)
		exercise.Hints[language] = l.hints(exercise.Slug, language)
		if want, have := len(exercise.Hints["en"]), len(exercise.Hints[language]); have != want && have > 0 && want > 0 {
			l.problem(textFile(exercise.Slug, "hints", language), "The number of hints is %d here and %d in English.", have, want)
		}
	}
}

func textFile(slug, kind, language string) string {
	return path.Join(slug, kind+"."+language+".md")
}

func (l *loader) text(slug, kind, language string) string {
	name := textFile(slug, kind, language)
	content, ok := l.take(name)
	if ok && len(strings.TrimSpace(string(content))) == 0 {
		l.problem(name, "The file is empty.")
	}
	return string(content)
}

// hints cuts a file at its `## ` headings.
func (l *loader) hints(slug, language string) []Hint {
	name := textFile(slug, "hints", language)
	content := l.text(slug, "hints", language)
	var hints []Hint
	for i, line := range strings.SplitAfter(content, "\n") {
		title, isTitle := strings.CutPrefix(line, "## ")
		switch {
		case isTitle:
			hints = append(hints, Hint{Title: strings.TrimSpace(title)})
		case len(hints) > 0:
			hints[len(hints)-1].Text += line
		case strings.TrimSpace(line) != "":
			l.problems = append(l.problems, Problem{
				File: path.Join(l.dir, name), Line: i + 1, Column: 1,
				Message: "A hint file begins with the first hint's heading: ## and its title.",
			})
			return nil
		}
	}
	for i := range hints {
		hints[i].Text = strings.TrimSpace(hints[i].Text)
		if hints[i].Title == "" || hints[i].Text == "" {
			l.problem(name, "Hint %d has no title or no text.", i+1)
		}
	}
	return hints
}

// loadSchema wants the tables in exactly one place.
func (l *loader) loadSchema(exercise *Exercise) {
	name := exercise.Slug + "/schema.sql"
	if slices.Contains(exercise.Editable, "schema.sql") {
		if l.has(name) {
			l.take(name)
			l.problem(name, "schema.sql is editable: its text belongs into starter/schema.sql only.")
		}
		return
	}
	content, ok := l.take(name)
	if ok && len(strings.TrimSpace(string(content))) == 0 {
		l.problem(name, "The file is empty.")
	}
	exercise.Schema = string(content)
}

func (l *loader) loadSamples(exercise *Exercise) {
	exercise.Starter = l.sample(exercise.Slug+"/starter", exercise.Editable)
	exercise.Solutions = l.samples(exercise.Slug+"/solutions", exercise.Editable)
	exercise.Wrong = l.samples(exercise.Slug+"/wrong", exercise.Editable)
}

func (l *loader) samples(folder string, editable []string) []Sample {
	names := l.folders(folder)
	if len(names) == 0 {
		l.problem(folder, "There must be at least one folder here.")
	}
	samples := make([]Sample, 0, len(names))
	for _, name := range names {
		samples = append(samples, Sample{Name: name, Files: l.sample(path.Join(folder, name), editable)})
	}
	return samples
}

// sample reads the files of one submission: exactly the editable ones, so that
// each sample could have been sent from the page.
func (l *loader) sample(folder string, editable []string) []File {
	files, size := make([]File, 0, len(editable)), 0
	for _, name := range editable {
		content, ok := l.take(path.Join(folder, name))
		if ok {
			files, size = append(files, File{Name: name, Content: content}), size+len(content)
		}
	}
	for _, name := range l.filesIn(folder) {
		if !slices.Contains(editable, name) {
			l.taken[path.Join(folder, name)] = true
			l.problem(path.Join(folder, name), "The file is not one of the editable files (%s).", strings.Join(editable, ", "))
		}
	}
	if size > MaxSourceBytes {
		l.problem(folder, "The files are larger than %d KiB together.", MaxSourceBytes>>10)
	}
	return files
}

func (l *loader) loadExpectations(exercise *Exercise) {
	var file map[string]expectedFile
	doc, ok := l.yaml(exercise.Slug+"/expect.yaml", &file)
	if !ok {
		return
	}
	exercise.Expect = map[string]Expected{}
	for _, name := range sortedKeys(file) {
		if !slices.ContainsFunc(exercise.Wrong, func(s Sample) bool { return s.Name == name }) {
			l.problems = append(l.problems, doc.key("There is no folder wrong/"+name+".", name))
			continue
		}
		l.checkExpected(doc, name, file[name])
		exercise.Expect[name] = Expected(file[name])
	}
	for _, wrong := range exercise.Wrong {
		if _, ok := file[wrong.Name]; !ok {
			l.at(doc, fmt.Sprintf("Nothing is said about wrong/%s.", wrong.Name))
		}
	}
}

func (l *loader) checkExpected(doc *document, name string, expected expectedFile) {
	if len(expected.Kinds) == 0 {
		l.at(doc, "At least one kind must be expected.", name, "kinds")
	}
	l.checkEach(doc, expected.Kinds, findingKinds(), "kind", name, "kinds")
	l.checkEach(doc, expected.May, findingKinds(), "kind", name, "may")
	for i, words := range expected.Message {
		if strings.TrimSpace(words) == "" {
			l.at(doc, "The words are empty.", name, "message", i)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
