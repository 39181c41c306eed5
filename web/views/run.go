package views

import "redeliver/grader/verdict"

// RunModel is the model of Run.
type RunModel struct {
	Page
	Exercise string // pack/slug; empty when it has no page
	Name     string // of the exercise, for people
	Source   string
	Files    Source // what ran; empty when it is somebody's or a solution
	Phase    string
	Database string
	Choices  string // the schedule as its token writes it
	Outcome  verdict.Outcome
	Headline string
	Summary  string
	Timeline Timeline
	Command  string // that runs the schedule again
}

// RunState is what is known about a run.
type RunState struct {
	Token    string
	Exercise string // pack/slug
	Public   bool   // the exercise has a page
	Title    string // of the exercise
	Owner    RunOwner
	Phase    string
	Database string
	Choices  string
	Verdict  verdict.Verdict // of the replay
	Steps    []verdict.Step
	Twin     string      // token of the nearest schedule that passes, or ""
	Files    []FileModel // to show; none for what is somebody's or a solution
}

// RunOwner says whose source was run.
type RunOwner string

// The owners; each has words in package locale.
const (
	OfSubmission RunOwner = "submission"
	OfStarter    RunOwner = "starter"
	OfSolution   RunOwner = "solution"
	OfWrong      RunOwner = "wrong"
)

// NewRun builds the model of Run.
func NewRun(p Page, s RunState) (RunModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("run.title", "Title", s.Title), t.say("run.description", "Title", s.Title)
	p.Timeline, p.Card = true, RunFileURL(p.Home(), s.Token, PictureFile)
	source := NewSource(s.Files)
	m := RunModel{
		Page: p, Name: s.Title, Source: t.say("run.of-" + string(s.Owner)), Phase: t.name("phase", s.Phase), Database: s.Database,
		Choices: s.Choices, Outcome: s.Verdict.Outcome, Headline: t.name("run", string(s.Verdict.Outcome)), Summary: s.Verdict.Summary,
		Timeline: t.timeline(s.Steps, source), Files: source,
		Command: "redeliver grade --replay " + s.Token + " " + s.Exercise + " .",
	}
	m.Timeline.Run, m.Timeline.Twin = s.Token, s.Twin
	if s.Public {
		m.Exercise = s.Exercise
	}
	return m, t.err
}
