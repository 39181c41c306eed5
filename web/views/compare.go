package views

import (
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"
)

// The fields of the form that chooses two candidates.
const (
	FirstField  = "a"
	SecondField = "b"
)

// CompareURL sets two candidates of an assignment side by side; 0 leaves the choice open.
func CompareURL(root Root, assignment, a, b int64) templ.SafeURL {
	u := AssignmentURL(root, assignment) + "/compare"
	if a != 0 && b != 0 {
		u += templ.SafeURL("?" + FirstField + "=" + strconv.FormatInt(a, 10) + "&" + SecondField + "=" + strconv.FormatInt(b, 10))
	}
	return u
}

// CandidateChoice is a candidate that can be chosen.
type CandidateChoice struct {
	ID   int64
	Name string
}

// CompareModel is the model of Compare.
type CompareModel struct {
	Page
	Facts   AssignmentFacts
	Choices []CandidateChoice
	Chosen  [2]int64 // 0: nobody
	Same    bool     // somebody was chosen twice
	// Sides are both candidates; none while they are not chosen.
	Sides     []CandidateLine
	Exercises []ComparedExercise
}

// ComparedExercise is what both did for one exercise.
type ComparedExercise struct {
	ExerciseChoice
	Gone  bool // its pack is no longer installed
	Sides []ComparedText
	Alike Alikeness
	// What is drawn.
	Said        []string // about Alike
	Differences []DifferenceModel
}

// ComparedText is the best submission of a candidate for an exercise.
type ComparedText struct {
	Outcome ExerciseOutcome
	Files   []FileModel // none: nothing was handed in
	Source  Source
}

// Alikeness is what part of each text is in the other one.
type Alikeness struct {
	Compared     bool // there are two texts
	Broken, Long [2]bool
	Percent      [2]int
	Figure       [2]bool // false: too short for a figure
	Above        [2]bool // the figure reaches the threshold
	Threshold    int
	Passages     []Passage // only with a figure above the threshold
}

// Passage is a stretch of lines that both texts have.
type Passage [2]Span

// Span is lines of a file, from 1.
type Span struct {
	File     string
	From, To int
}

// ComparedRoot is Page.Root of the report of a candidate.
func (m CompareModel) ComparedRoot(side int) Root {
	return m.Home().Within(CandidateRoot(m.Facts.ID, m.Sides[side].ID))
}

// Took is how long a sitting has lasted; false: it has not ended.
func (m CompareModel) Took(side int) (string, bool) {
	line := m.Sides[side]
	if line.StartedAt.IsZero() || line.EndedAt.IsZero() {
		return "", false
	}
	return clockFace(line.EndedAt.Sub(line.StartedAt)), true
}

// After is how long after its start a candidate did something.
func (m CompareModel) After(side int, at time.Time) string {
	return clockFace(at.Sub(m.Sides[side].StartedAt))
}

// NewCompare completes the model of Compare.
func NewCompare(m CompareModel) (CompareModel, error) {
	t := text{words: m.Words}
	m.Title, m.Description = t.say("compare.title"), t.say("assign.description")
	m.Choices = distinct(m.Choices)
	for i := range m.Sides {
		k := slices.IndexFunc(m.Choices, func(c CandidateChoice) bool { return c.ID == m.Sides[i].ID })
		m.Sides[i].Name = m.Choices[k].Name // a side was chosen among them
	}
	for i := range m.Exercises {
		m.complete(&t, i)
	}
	return m, t.err
}

// distinct tells candidates of the same name apart by their numbers.
func distinct(list []CandidateChoice) []CandidateChoice {
	times := map[string]int{}
	for _, c := range list {
		times[c.Name]++
	}
	out := make([]CandidateChoice, 0, len(list))
	for _, c := range list {
		if times[c.Name] > 1 {
			c.Name += " (" + strconv.FormatInt(c.ID, 10) + ")"
		}
		out = append(out, c)
	}
	return out
}

func (m CompareModel) complete(t *text, i int) {
	e := &m.Exercises[i]
	for k := range e.Sides {
		e.Sides[k].Source = NewSource(e.Sides[k].Files).within("e" + strconv.Itoa(i) + "-" + strconv.Itoa(k) + "-")
	}
	if !e.Alike.Compared {
		return
	}
	e.Differences = t.differences(e.Sides[0].Files, e.Sides[1].Files)
	e.Said = t.alike(e.Alike, m.Sides[0].Name, m.Sides[1].Name)
	for _, p := range e.Alike.Passages {
		for k, span := range p {
			e.Sides[k].Source.markAlike(span)
		}
	}
}

// differences says which lines of two texts differ, file by file.
func (t *text) differences(before, after []FileModel) (out []DifferenceModel) {
	for i, f := range after {
		d := diffOf(f.Name, before[i].Content, f.Content)
		caption := t.say("history.unchanged", "Name", f.Name)
		if len(d.Lines) > 0 {
			caption = t.say("history.changed", "Name", f.Name, "Added", d.Added, "Removed", d.Removed)
		}
		out = append(out, DifferenceModel{d, caption})
	}
	return out
}

// alike says how much of two texts is the same, or why there is no figure.
func (t *text) alike(a Alikeness, names ...string) (said []string) {
	for i, name := range names {
		switch {
		case a.Broken[i]:
			said = append(said, t.say("compare.broken", "Name", name))
		case a.Long[i]:
			said = append(said, t.say("compare.long", "Name", name))
		case a.Above[i]:
			said = append(said, t.say("compare.shares", "Name", name, "Other", names[1-i], "Percent", a.Percent[i]))
		}
	}
	switch {
	case len(said) > 0:
	case a.Figure[0] || a.Figure[1]:
		said = append(said, t.say("compare.below", "Percent", a.Threshold))
	default:
		said = append(said, t.say("compare.short"))
	}
	return said
}

func idText(id int64) string { return strconv.FormatInt(id, 10) }
