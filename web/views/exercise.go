package views

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"redeliver/exercises"
	"redeliver/web/views/locale"
)

// ExerciseModel is the model of Exercise.
type ExerciseModel struct {
	Page
	Name          string // pack/slug
	Spoken        string // the language of its texts
	Level         int
	Minutes       int
	StatementHTML string // safe HTML, from package content
	Hints         []HintModel
	NotGraded     bool // submissions for it are not graded here
	Form          FormModel
	Prediction    PredictionModel
	Versions      []DraftLine
	Submissions   []SubmissionLine
}

// HintModel is a hint that can be opened.
type HintModel struct {
	Title string
	HTML  string // safe HTML, from package content
}

// FormModel is the form with the candidate's text.
type FormModel struct {
	// Base is the draft version that the text started from. The server refuses
	// the form when there is a newer one.
	Base   int64
	Files  []FileModel
	State  string // where the text comes from, one sentence
	Notice string // what the last form did, or ""
	// Alert says why the form was not accepted, or is "".
	AlertTitle string
	Alert      string
}

// FileModel is one file in the form.
type FileModel struct {
	Name    string
	Content string
	// Other is the text of another tab in a conflict; HasOther tells it from
	// an empty text.
	Other    string
	HasOther bool
	// Diagnostics are what the compiler said of this very text.
	Diagnostics []Diagnostic
}

// Diagnostic is a sentence about a place in a file. Column counts bytes from 1.
type Diagnostic struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// In is the place in a file as compilers write it.
func (d Diagnostic) In(file string) string { return fmt.Sprintf("%s:%d:%d", file, d.Line, d.Column) }

// language is the name by which the editor knows the language of a file.
func (f FileModel) language() string { return strings.TrimPrefix(path.Ext(f.Name), ".") }

// diagnosticsJSON is Diagnostics as the editor reads them, or "".
func (f FileModel) diagnosticsJSON() (string, error) {
	if len(f.Diagnostics) == 0 {
		return "", nil
	}
	b, err := json.Marshal(f.Diagnostics)
	return string(b), err
}

// DraftLine is one earlier version.
type DraftLine struct {
	Version int64
	At      time.Time
	Auto    bool // the editor saved it by itself
}

// storageName names the form in the storage of the tab, which all sites on a host share.
func (m ExerciseModel) storageName() string { return m.Within + m.Name + string(m.BasePath) }

// NewExercise builds the model of Exercise around a form.
func NewExercise(p Page, e *exercises.Exercise, statementHTML string, hints []HintModel, form FormModel) (ExerciseModel, error) {
	t := text{words: p.Words}
	spoken := e.Language(p.Lang())
	p.Title, p.Editor = e.Title[spoken], true
	if p.Card = CardURL(ExerciseURL(p.Home(), e.Name())); p.Within != "" {
		p.Card = ""
	}
	p.Description = t.say("exercise.description", "Title", p.Title)
	return ExerciseModel{
		Page: p, Name: e.Name(), Spoken: spoken, Level: e.Level, Minutes: e.Minutes,
		StatementHTML: statementHTML, Hints: hints, Form: form,
	}, t.err
}

// FieldOf is the name of the form field that holds a file.
func FieldOf(file string) string { return "file." + file }

// BaseField is the name of the form field with FormModel.Base.
const BaseField = "base"

// PastesField is the name of the form field with the marks of pastes. Only the editor
// of a sitting sends it.
const PastesField = "pastes"

// shown is the file that is shown at first: one with something to see.
func (m FormModel) shown() int {
	for i, f := range m.Files {
		if len(f.Diagnostics) > 0 || f.HasOther && f.Other != f.Content {
			return i
		}
	}
	return 0
}

// phrasesJSON is what the editor says in its own panels, as it knows the words in
// English, or "" in English.
func phrasesJSON(p Page) (string, error) {
	if p.Lang() == locale.Default {
		return "", nil
	}
	t := text{words: p.Words}
	phrases := map[string]string{}
	for phrase, id := range editorPhrases {
		phrases[phrase] = t.say("editor." + id)
	}
	b, err := json.Marshal(phrases)
	return string(b), errors.Join(t.err, err)
}

// editorPhrases are the words of the editor's panels with the ids of their
// translations.
var editorPhrases = map[string]string{
	"Find": "find", "Replace": "replace-with", "next": "next", "previous": "previous", "all": "all", "match case": "match-case",
	"by word": "by-word", "regexp": "regexp", "replace": "replace", "replace all": "replace-all", "close": "close",
	"current match": "current-match", "on line": "on-line", "replaced match on line $": "replaced-match",
	"replaced $ matches": "replaced-matches", "Go to line": "go-to-line", "go": "go", "Diagnostics": "diagnostics", "No diagnostics": "no-diagnostics",
}

func fieldID(i int) string { return "file-" + strconv.Itoa(i) }

// describedBy names what belongs to a field beside its label.
func describedBy(i int, f FileModel) string {
	if len(f.Diagnostics) == 0 {
		return "draft-state"
	}
	return "draft-state " + fieldID(i) + "-diagnostics"
}

// rowsFor shows the whole text if it is not too long for a screen.
func rowsFor(content string) string {
	const fewest, most = 12, 36
	return strconv.Itoa(min(max(strings.Count(content, "\n")+2, fewest), most))
}

// inTextarea adds the line end that a browser takes away after the tag.
func inTextarea(content string) string { return "\n" + content }
