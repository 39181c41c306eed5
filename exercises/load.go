package exercises

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// FormatVersion is the version of the pack format that this loader reads.
const FormatVersion = 1

// Semantic Versioning 2.0.0: no leading zeros in numbers.
var semverPattern = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(-(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?` +
	`(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

var languagePattern = regexp.MustCompile(`^[a-z]{2}$`)

// packFile is pack.yaml.
type packFile struct {
	ID            string            `yaml:"id"`
	UUID          string            `yaml:"uuid"`
	Version       string            `yaml:"version"`
	FormatVersion int               `yaml:"format_version"`
	Title         map[string]string `yaml:"title"`
	Licence       string            `yaml:"licence"`
	Credits       []string          `yaml:"credits"`
	Requires      []string          `yaml:"requires"`
	Languages     []string          `yaml:"languages"`
	Exercises     []string          `yaml:"exercises"`
	Drafts        []string          `yaml:"drafts"`
}

// loader gathers a pack and its problems.
type loader struct {
	*tree
	pack *Pack
}

// Load reads the pack in the folder dir of fsys ("." for its root) and checks
// its form. The pack is nil exactly when there are problems.
func Load(fsys fs.FS, dir string) (*Pack, Problems) {
	l := &loader{tree: readTree(fsys, dir), pack: &Pack{}}
	if l.loadPack() {
		l.reportUnknown()
	}
	if len(l.problems) > 0 {
		return nil, l.problems
	}
	return l.pack, nil
}

// loadPack says whether pack.yaml could be understood: without it, there is no
// telling what the other files should be.
func (l *loader) loadPack() bool {
	var file packFile
	doc, ok := l.yaml("pack.yaml", &file)
	if !ok {
		return false
	}
	before := len(l.problems)
	l.checkPack(doc, file)
	if len(l.problems) > before {
		return false
	}
	*l.pack = file.pack()
	if l.has("README.md") {
		l.take("README.md")
	}
	for _, slug := range file.Exercises {
		if exercise, ok := l.loadExercise(slug); ok {
			l.pack.Exercises = append(l.pack.Exercises, exercise)
		}
	}
	for _, slug := range file.Drafts {
		l.forget(slug)
	}
	l.checkUUIDs()
	return true
}

// pack is the pack without its exercises.
func (f packFile) pack() Pack {
	return Pack{
		ID: f.ID, UUID: f.UUID, Version: f.Version, Title: f.Title, Licence: f.Licence,
		Credits: f.Credits, Requires: f.Requires, Languages: f.Languages,
	}
}

func (l *loader) checkPack(doc *document, file packFile) {
	if !l.checkPackHead(doc, file) {
		return // another format's keys would only give misleading problems
	}
	l.checkExerciseList(doc, "exercises", file.Exercises, file.Drafts)
	l.checkExerciseList(doc, "drafts", file.Drafts, file.Exercises)
	l.checkFolders(doc, file)
}

// checkPackHead checks what can be seen without the other files. It is false
// for another format.
func (l *loader) checkPackHead(doc *document, file packFile) bool {
	if file.FormatVersion != FormatVersion {
		l.at(doc, fmt.Sprintf("The format_version must be %d.", FormatVersion), "format_version")
		return false
	}
	l.checkIdentity(doc, file.ID, file.UUID, file.Version)
	if file.Licence == "" {
		l.at(doc, "The licence is missing.", "licence")
	}
	for i, id := range file.Requires {
		if !slugPattern.MatchString(id) || id == file.ID {
			l.at(doc, "Each entry of requires must be the id of another pack.", "requires", i)
		}
	}
	if l.checkLanguages(doc, file.Languages) {
		l.checkWords(doc, file.Languages, file.Title, "title")
	}
	return true
}

// checkIdentity checks what packs and exercises have in common.
func (l *loader) checkIdentity(doc *document, id, uid, version string) {
	if !slugPattern.MatchString(id) || len(id) > 64 {
		l.at(doc, "The id must consist of lower-case letters, digits and single hyphens, at most 64 characters.", "id")
	}
	if parsed, err := uuid.Parse(uid); err != nil || parsed.String() != uid || parsed == uuid.Nil {
		l.at(doc, "The uuid must be a UUID in lower case, such as the output of uuidgen.", "uuid")
	}
	if !semverPattern.MatchString(version) {
		l.at(doc, "The version must be a semantic version such as 1.0.0.", "version")
	}
}

func (l *loader) checkLanguages(doc *document, languages []string) bool {
	before := len(l.problems)
	if !slices.Contains(languages, "en") {
		l.at(doc, "The languages must include en.", "languages")
	}
	for i, language := range languages {
		switch {
		case !languagePattern.MatchString(language):
			l.at(doc, "A language is a two-letter code such as en.", "languages", i)
		case slices.Contains(languages[:i], language):
			l.at(doc, "The language "+language+" is listed twice.", "languages", i)
		}
	}
	return len(l.problems) == before
}

// checkExerciseList checks the folders under a key; others are those under the
// other one.
func (l *loader) checkExerciseList(doc *document, key string, slugs, others []string) {
	if len(slugs) > MaxExercises {
		l.at(doc, fmt.Sprintf("A pack has at most %d exercises.", MaxExercises), key)
		return
	}
	for i, slug := range slugs {
		switch {
		case !slugPattern.MatchString(slug) || len(slug) > 64:
			l.at(doc, "An exercise is named by its folder: lower-case letters, digits and single hyphens, at most 64 characters.", key, i)
		case slices.Contains(slugs[:i], slug) || key == "drafts" && slices.Contains(others, slug):
			l.at(doc, "The exercise "+slug+" is listed twice.", key, i)
		case !slices.Contains(l.folders(""), slug):
			l.at(doc, "There is no folder "+slug+".", key, i)
		}
	}
}

// checkFolders wants at least one exercise and each folder in one of the lists.
func (l *loader) checkFolders(doc *document, file packFile) {
	if len(file.Exercises) == 0 {
		l.at(doc, "The pack lists no exercises.", "exercises")
	}
	if len(file.Exercises) > MaxExercises {
		return // there would be a problem for each folder too
	}
	for _, folder := range l.folders("") {
		if !slices.Contains(file.Exercises, folder) && !slices.Contains(file.Drafts, folder) {
			l.at(doc, "The folder "+folder+" is not listed under exercises.", "exercises")
		}
	}
}

// checkUUIDs reports two exercises of the pack with one uuid, or the pack's
// own: results are filed under it.
func (l *loader) checkUUIDs() {
	seen := map[string]string{l.pack.UUID: "the pack"}
	for _, exercise := range l.pack.Exercises {
		if owner, ok := seen[exercise.UUID]; ok {
			l.problem(path.Join(exercise.Slug, "exercise.yaml"), "The uuid is that of %s.", owner)
		}
		seen[exercise.UUID] = exercise.Slug
	}
}

// checkWords wants a text in each language of the pack and in no other.
func (l *loader) checkWords(doc *document, languages []string, words map[string]string, where ...any) {
	for _, language := range languages {
		if strings.TrimSpace(words[language]) == "" {
			l.at(doc, "The text in "+language+" is missing.", where...)
		}
	}
	for _, language := range sortedKeys(words) {
		if !slices.Contains(languages, language) {
			l.problems = append(l.problems, doc.key("The pack does not list the language "+language+".", language, where...))
		}
	}
}

// at adds a problem at a place in a document.
func (l *loader) at(doc *document, message string, where ...any) {
	l.problems = append(l.problems, doc.problem(message, where...))
}
