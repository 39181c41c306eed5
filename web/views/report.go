package views

import (
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"redeliver/grader/verdict"
)

// EventsOf is everything that was written for an exercise in a sitting, in order.
type EventsOf []ReportEvent

// ReportEvent is a draft or a submission on the axis of a sitting.
type ReportEvent struct {
	Ref     HistoryRef
	At      time.Time
	Version int64 // of a draft; 0: it is a submission
	Auto    bool  // the editor saved the draft by itself
	Size    int64 // of the draft, in bytes
	// ByEditor says that the draft came from the editor, which notes pastes.
	ByEditor bool
	Pastes   []Paste         // into this draft
	Outcome  verdict.Outcome // of a submission; "": not graded yet
	ID       string          // of a submission
	Waited   time.Duration   // of a submission, for a worker
}

// Paste is a mark of the editor: text was pasted.
type Paste struct {
	File     string
	From, To int  // lines of the draft
	Lines    int  // as it was pasted
	Size     int  // the same in characters
	Moved    bool // within the exercise
	At       time.Time
	Step     int // of the draft, from 1; 0: it was thinned out
}

// DraftEvent is the reference of a version of a draft.
func DraftEvent(version int64) HistoryRef { return draftRef(version) }

// SubmissionEvent is the reference of a submission.
func SubmissionEvent(publicID string) HistoryRef { return submissionRef(publicID) }

// Runs are the submissions among the events.
func (e EventsOf) Runs() EventsOf {
	return slices.DeleteFunc(slices.Clone(e), func(v ReportEvent) bool { return v.Version != 0 })
}

// Unnoted counts the drafts in which no paste could be noted.
func (e EventsOf) Unnoted() (n int) {
	for _, v := range e {
		if v.Version != 0 && !v.ByEditor {
			n++
		}
	}
	return n
}

// PlaybackURL is one step of what was written for an exercise, from 1; 0 is the last.
func PlaybackURL(root Root, exercise string, step int) templ.SafeURL {
	u := ExerciseURL(root, exercise)
	if step != 0 {
		u += templ.SafeURL("?at=" + strconv.Itoa(step))
	}
	return u
}

// ExerciseReport is what a report says about one exercise.
type ExerciseReport struct {
	ExerciseChoice
	Outcome ExerciseOutcome
	Events  EventsOf
	Pastes  []Paste
	// PastesKept is how many marks are kept when there are as many; else 0.
	PastesKept int
	Rubric     []RubricLine
	Note       string
	Closest    Closest // zero: no text is close
}

// Closest is the candidate whose text has the largest part of another one.
type Closest struct {
	ID      int64
	Name    string
	Percent int
}

// RubricLine is something that the interviewer looks for.
type RubricLine struct {
	Number string
	Text   string
	Met    bool
}

// CandidateModel is the model of Candidate.
type CandidateModel struct {
	Page
	Facts     AssignmentFacts
	Line      CandidateLine
	Deadline  time.Time // zero: none
	EndedBy   string
	Exercises []ExerciseReport
	Note      string // about the whole
	Whole     string // what that is called
	Notice    string
	Problem   fieldProblem
	Marked    bool // there are marks of pastes
	// Axis is from when to when the pictures go.
	From, To time.Time
}

// NewCandidate completes the model of Candidate. notice is "" or the second half of a
// message's name.
func NewCandidate(m CandidateModel, notice string, problem FormProblem) (CandidateModel, error) {
	t := text{words: m.Words}
	m.Title, m.Description = m.Line.Name, t.say("assign.description")
	m.Problem, m.Whole = t.problem(problem), t.say("candidate.whole")
	m.Live = m.Line.State == "sits" // looks again by itself
	if notice != "" {
		m.Notice = t.say("candidate.notice-" + notice)
	}
	m.From, m.To = m.Line.StartedAt, m.Line.EndedAt
	for _, e := range m.Exercises {
		m.Marked = m.Marked || len(e.Pastes) > 0
		if n := len(e.Events); n > 0 && e.Events[n-1].At.After(m.To) {
			m.To = e.Events[n-1].At
		}
	}
	return m, t.err
}

// axisX is where a point in time stands on an axis of 1000.
func (m CandidateModel) axisX(at time.Time) string {
	whole := m.To.Sub(m.From)
	if whole <= 0 {
		return "10"
	}
	return strconv.FormatFloat(10+980*float64(max(0, at.Sub(m.From)))/float64(whole), 'f', 1, 64)
}

// pastePoints is a triangle above the axis that points at a time.
func (m CandidateModel) pastePoints(at time.Time) string {
	x, err := strconv.ParseFloat(m.axisX(at), 64)
	if err != nil {
		panic("views: place on an axis: " + err.Error()) // we wrote it
	}
	left, right := strconv.FormatFloat(x-6, 'f', 1, 64), strconv.FormatFloat(x+6, 'f', 1, 64)
	return left + ",1 " + right + ",1 " + m.axisX(at) + ",11"
}

// pasteWord names the words for a mark.
func pasteWord(p Paste) string {
	if p.Moved {
		return "paste.moved"
	}
	return "paste.pasted"
}

// After is how long after the start something happened, as minutes and seconds.
func (m CandidateModel) After(at time.Time) string { return clockFace(at.Sub(m.From)) }

func clockFace(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	two := func(n int) string {
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
		return strconv.Itoa(n)
	}
	if s >= 3600 {
		return strconv.Itoa(s/3600) + ":" + two(s/60%60) + ":" + two(s%60)
	}
	return strconv.Itoa(s/60) + ":" + two(s%60)
}

// PlaybackModel is the model of Playback.
type PlaybackModel struct {
	Page
	Facts    AssignmentFacts
	Name     string // of the candidate
	Person   int64
	Exercise ExerciseChoice
	Events   EventsOf
	Step     int // from 1; 0: nothing was written
	From     time.Time
	Files    []FileModel
	Old      []FileModel // what was there before
	// What is drawn.
	Source      Source
	Differences []DifferenceModel
	What        string // one sentence about the step
}

// NewPlayback completes the model of Playback.
func NewPlayback(m PlaybackModel) (PlaybackModel, error) {
	t := text{words: m.Words}
	m.Title = t.say("playback.title", "Title", m.Exercise.Title)
	m.Description = t.say("assign.description")
	if m.Step == 0 {
		return m, t.err
	}
	m.Source = NewSource(m.Files)
	for _, p := range m.Events[m.Step-1].Pastes {
		m.Source.markPasted(p)
	}
	m.Differences = t.differences(m.Old, m.Files)
	m.What = t.stepText(m.Events[m.Step-1], m.From)
	return m, t.err
}

func (t *text) stepText(e ReportEvent, from time.Time) string {
	after := clockFace(e.At.Sub(from))
	switch {
	case e.Version == 0:
		return t.say("playback.run", "After", after, "State", t.say("state."+stateName(e.Outcome)))
	case e.Auto:
		return t.say("playback.auto", "After", after, "N", e.Version)
	default:
		return t.say("playback.saved", "After", after, "N", e.Version)
	}
}

// What says in one sentence what a step is.
func (m PlaybackModel) stepText(e ReportEvent) (string, error) {
	t := text{words: m.Words}
	return t.stepText(e, m.From), t.err
}

// After is how long after the start something happened.
func (m PlaybackModel) After(at time.Time) string { return clockFace(at.Sub(m.From)) }

// whole stands for the sitting as a whole where the form has an exercise.
func (m CandidateModel) whole() ExerciseReport {
	return ExerciseReport{ExerciseChoice: ExerciseChoice{Title: m.Whole}, Note: m.Note}
}
