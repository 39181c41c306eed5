package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"redeliver/grader/verdict"
	"redeliver/web/store"
)

// A file carries what was practised to another browser. Its format has a version,
// and each version is read as strictly as it is written.
const (
	format        = "redeliver-progress"
	formatVersion = 1
)

// MaxFile bounds a file in bytes: some ten times what every card and exercise of
// the built-in bank and pack take.
const MaxFile = 256 << 10

// Fault is what is wrong with a file, by the name of a sentence for people.
type Fault string

// The faults.
const (
	NoJSON     Fault = "no-json"    // not JSON, or something after it
	NotOurs    Fault = "not-ours"   // JSON of something else
	TooNew     Fault = "too-new"    // of a later version of the format
	TooMany    Fault = "too-many"   // more entries than any browser can have
	Impossible Fault = "impossible" // a value that no file of ours has
	WrongType  Fault = "wrong-type" // a field that is missing, unknown or of another type
	NoFile     Fault = "no-file"    // nothing was chosen
	TooLarge   Fault = "too-large"  // more than MaxFile
)

// FileError says what is wrong with a file. Place is where: "cards 3, stability".
type FileError struct {
	Fault Fault
	Place string
}

func (e *FileError) Error() string {
	if e.Place == "" {
		return "read progress: " + string(e.Fault)
	}
	return "read progress: " + string(e.Fault) + ": " + e.Place
}

type file struct {
	Format      string           `json:"format"`
	Version     int              `json:"version"`
	ExportedAt  time.Time        `json:"exported_at"`
	Exercises   []fileExercise   `json:"exercises"`
	Predictions []filePrediction `json:"predictions"`
	Mistakes    []fileMistake    `json:"mistakes"`
	Cards       []fileCard       `json:"cards"`
}

type fileExercise struct {
	Exercise string     `json:"exercise"`
	TriedAt  time.Time  `json:"tried_at"`
	PassedAt *time.Time `json:"passed_at,omitempty"`
}

type filePrediction struct {
	Exercise string     `json:"exercise"`
	Guess    string     `json:"guess"`
	Source   string     `json:"source"`
	MadeAt   time.Time  `json:"made_at"`
	Came     []string   `json:"came,omitempty"`
	CameAt   *time.Time `json:"came_at,omitempty"`
}

type fileMistake struct {
	Exercise string    `json:"exercise"`
	Kind     string    `json:"kind"`
	Times    int       `json:"times"`
	LastAt   time.Time `json:"last_at"`
}

type fileCard struct {
	Card       string    `json:"card"`
	Stability  float64   `json:"stability"`
	Difficulty float64   `json:"difficulty"`
	Reps       int       `json:"reps"`
	Lapses     int       `json:"lapses"`
	CreatedAt  time.Time `json:"created_at"`
	ReviewedAt time.Time `json:"reviewed_at"`
	DueAt      time.Time `json:"due_at"`
}

// Export writes a file.
func Export(p store.Practice, now time.Time) ([]byte, error) {
	f := file{
		Format: format, Version: formatVersion, ExportedAt: now.UTC(),
		Exercises: []fileExercise{}, Predictions: []filePrediction{}, Mistakes: []fileMistake{}, Cards: []fileCard{},
	}
	for _, e := range p.Exercises {
		f.Exercises = append(f.Exercises, fileExercise{Exercise: e.Exercise, TriedAt: e.TriedAt.UTC(), PassedAt: pointer(e.PassedAt)})
	}
	for _, s := range p.Predictions {
		f.Predictions = append(f.Predictions, filePrediction{
			Exercise: s.Exercise, Guess: string(s.Guess), Source: s.SourceHash, MadeAt: s.MadeAt.UTC(), Came: s.Came, CameAt: pointer(s.CameAt),
		})
	}
	for _, m := range p.Mistakes {
		f.Mistakes = append(f.Mistakes, fileMistake{Exercise: m.Exercise, Kind: string(m.Kind), Times: m.Times, LastAt: m.LastAt.UTC()})
	}
	for _, c := range p.Cards {
		f.Cards = append(f.Cards, fileCard{
			Card: c.Name, Stability: c.Stability, Difficulty: c.Difficulty, Reps: c.Reps, Lapses: c.Lapses,
			CreatedAt: c.CreatedAt.UTC(), ReviewedAt: c.ReviewedAt.UTC(), DueAt: c.DueAt.UTC(),
		})
	}
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return nil, fmt.Errorf("export progress: %w", err)
	}
	return append(text, '\n'), nil
}

func pointer(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func value(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// Import reads a file of at most MaxFile bytes. What is about exercises and cards
// that are not installed here is left out and counted: the file may come from a
// site with other packs. The error is a *FileError.
func (d *Deck) Import(text []byte, now time.Time) (p store.Practice, leftOut int, err error) {
	f, err := decode(text)
	if err != nil {
		return store.Practice{}, 0, err
	}
	r := reader{deck: d, now: now, known: map[string]bool{}}
	for _, head := range d.catalog.Public() {
		r.known[head.Name()] = true
	}
	r.exercises(f.Exercises)
	r.predictions(f.Predictions)
	r.mistakes(f.Mistakes)
	r.cards(f.Cards)
	if r.fault != nil {
		return store.Practice{}, 0, r.fault
	}
	return r.practice, r.leftOut, nil
}

func decode(text []byte) (f file, err error) {
	if len(text) > MaxFile {
		return f, &FileError{Fault: TooLarge}
	}
	var head struct {
		Format  string          `json:"format"`
		Version json.RawMessage `json:"version"`
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // some editors put it there
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(text, &head); {
	case errors.As(err, &syntax):
		return f, &FileError{Fault: NoJSON}
	case err != nil || head.Format != format:
		return f, &FileError{Fault: NotOurs}
	case string(head.Version) != strconv.Itoa(formatVersion):
		return f, &FileError{Fault: TooNew, Place: cut(string(head.Version))}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return f, &FileError{Fault: WrongType, Place: placeOf(err)}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return f, &FileError{Fault: NoJSON}
	}
	return f, nil
}

// placeOf names the field that a decoder stumbled over, as far as it says.
func placeOf(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return cut(wrong.Field)
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return cut(strings.Trim(name, `"`))
	}
	return ""
}

// cut keeps what a stranger wrote short enough to be shown.
func cut(s string) string {
	const longest = 40
	runes := []rune(strings.ToValidUTF8(s, "?"))
	if len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return string(runes)
}

// maxEntries bounds each list of a file.
const maxEntries = 2000

// reader turns the entries of a file into a practice; it keeps the first fault.
type reader struct {
	deck     *Deck
	now      time.Time
	known    map[string]bool // the installed exercises, by name
	practice store.Practice
	leftOut  int
	fault    *FileError
}

func (r *reader) want(ok bool, list string, i int, field string) {
	if !ok && r.fault == nil {
		r.fault = &FileError{Fault: Impossible, Place: fmt.Sprintf("%s %d, %s", list, i+1, field)}
	}
}

// begins reports whether a list is short enough to be looked at.
func (r *reader) begins(list string, n int) bool {
	if n > maxEntries && r.fault == nil {
		r.fault = &FileError{Fault: TooMany, Place: list}
	}
	return r.fault == nil
}

// past is a time at which something of ours can have happened. A day is given to
// clocks that differ; FSRS bears a rating in the future.
func (r *reader) past(t time.Time) bool {
	return t.Year() >= 2020 && t.Before(r.now.Add(24*time.Hour))
}

func (r *reader) installed(exercise string) bool {
	if !r.known[exercise] {
		r.leftOut++
	}
	return r.known[exercise]
}

func (r *reader) exercises(list []fileExercise) {
	if !r.begins("exercises", len(list)) {
		return
	}
	for i, e := range list {
		r.want(r.past(e.TriedAt), "exercises", i, "tried_at")
		r.want(e.PassedAt == nil || r.past(*e.PassedAt), "exercises", i, "passed_at")
		if r.installed(e.Exercise) {
			r.practice.Exercises = append(r.practice.Exercises, store.Practised{Exercise: e.Exercise, TriedAt: e.TriedAt, PassedAt: value(e.PassedAt)})
		}
	}
}

var hashPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (r *reader) predictions(list []filePrediction) {
	if !r.begins("predictions", len(list)) {
		return
	}
	for i, s := range list {
		r.want(slices.Contains(store.Guesses(), store.Guess(s.Guess)), "predictions", i, "guess")
		r.want(hashPattern.MatchString(s.Source), "predictions", i, "source")
		r.want(r.past(s.MadeAt), "predictions", i, "made_at")
		r.want(len(s.Came) <= len(outcomes), "predictions", i, "came")
		for _, came := range s.Came {
			r.want(outcomes[came], "predictions", i, "came")
		}
		r.want((len(s.Came) > 0) == (s.CameAt != nil) && (s.CameAt == nil || r.past(*s.CameAt)), "predictions", i, "came_at")
		if r.installed(s.Exercise) {
			r.practice.Predictions = append(r.practice.Predictions, store.Prediction{
				Exercise: s.Exercise, Guess: store.Guess(s.Guess), SourceHash: s.Source, MadeAt: s.MadeAt, Came: s.Came, CameAt: value(s.CameAt),
			})
		}
	}
}

// outcomes are what a starter can turn out to do.
var outcomes = map[string]bool{
	string(verdict.Passed): true, string(verdict.Failed): true, string(verdict.Rejected): true,
	string(verdict.Duplicate): true, string(verdict.Lost): true, string(verdict.Misordered): true, string(verdict.Stuck): true,
	string(verdict.Leaked): true, string(verdict.Crash): true, string(verdict.Timeout): true, string(verdict.Memory): true,
	string(verdict.Output): true, string(verdict.Compile): true, string(verdict.Policy): true,
}

// maxCount is more than anybody can click.
const maxCount = 1_000_000

func (r *reader) mistakes(list []fileMistake) {
	if !r.begins("mistakes", len(list)) {
		return
	}
	for i, m := range list {
		r.want(outcomes[m.Kind], "mistakes", i, "kind")
		r.want(m.Times >= 1 && m.Times <= maxCount, "mistakes", i, "times")
		r.want(r.past(m.LastAt), "mistakes", i, "last_at")
		if r.installed(m.Exercise) {
			r.practice.Mistakes = append(r.practice.Mistakes, store.Mistake{
				Exercise: m.Exercise, Kind: verdict.Kind(m.Kind), Times: m.Times, LastAt: m.LastAt,
			})
		}
	}
}

func (r *reader) cards(list []fileCard) {
	if !r.begins("cards", len(list)) {
		return
	}
	for i, c := range list {
		// FSRS divides by the stability and raises it to powers.
		r.want(c.Stability >= minStability && c.Stability <= maxStability, "cards", i, "stability")
		r.want(c.Difficulty >= 1 && c.Difficulty <= 10, "cards", i, "difficulty")
		r.want(c.Reps >= 1 && c.Reps <= maxCount, "cards", i, "reps")
		r.want(c.Lapses >= 0 && c.Lapses <= c.Reps, "cards", i, "lapses")
		r.want(r.past(c.CreatedAt), "cards", i, "created_at")
		r.want(r.past(c.ReviewedAt) && !c.ReviewedAt.Before(c.CreatedAt), "cards", i, "reviewed_at")
		r.want(!c.DueAt.Before(day(c.ReviewedAt)) && !c.DueAt.After(c.ReviewedAt.AddDate(0, 0, maxDays+1)), "cards", i, "due_at")
		if exercise, ok := strings.CutPrefix(c.Card, string(Prediction)+"/"); ok {
			if !r.installed(exercise) {
				continue
			}
		} else if _, ok := r.deck.byName[c.Card]; !ok {
			r.leftOut++
			continue
		}
		r.practice.Cards = append(r.practice.Cards, store.Card{
			Name: c.Card, Stability: c.Stability, Difficulty: c.Difficulty, Reps: c.Reps, Lapses: c.Lapses,
			CreatedAt: c.CreatedAt, ReviewedAt: c.ReviewedAt, DueAt: c.DueAt,
		})
	}
}
