package views

import (
	"fmt"
	"slices"
	"time"

	"github.com/a-h/templ"

	"redeliver/grader/verdict"
)

// Progress is one step of a grading.
type Progress struct {
	Stage    string            // has words in package locale
	Coverage *verdict.Coverage // a phase that has ended
	Finding  *verdict.Finding  // the first one
}

// SubmissionState is what the database knows about a submission.
type SubmissionState struct {
	PublicID  string
	Exercise  string // pack/slug
	Title     string // of the exercise
	Partial   bool   // the reader may see the happy path only
	CreatedAt time.Time
	Files     []FileModel
	Attempt   int // 0: it waits
	Waiting   int // submissions before it
	// Wait is how long it may take to the verdict; 0: nobody can say.
	Wait time.Duration
	// Newer is the submission that took the place of this one, which is not graded
	// then; "": none.
	Newer     string
	Preparing bool
	Planned   []string // the phases that will run, by name
	// Databases are those on which each phase runs, where there is more than plain
	// SQLite.
	Databases []string
	Steps     []Progress
	// StepNumbers are those of Steps, which only grow.
	StepNumbers []int64
	Verdict     *verdict.Verdict // nil: not graded yet
	// ApproachHTML compares the ways to solve the exercise, for those who have
	// solved it: safe HTML, or "".
	ApproachHTML string
	// Said is what was predicted of this source, if it is the starter.
	Said Said
	// Cards are those in the review that the verdict brings forward.
	Cards int
}

// SubmissionModel is the model of Submission.
type SubmissionModel struct {
	Page
	PublicID  string
	Exercise  string
	CreatedAt time.Time
	Notice    string
	Progress  ProgressModel
	Result    *ResultModel  // nil: not graded yet
	Newer     templ.SafeURL // of the submission that took the place of this one, or ""
	Source    Source
	Approach  string // safe HTML, or ""
	Practice  PracticeModel
}

// ProgressModel is how far a grading has come; it changes while it is looked at.
type ProgressModel struct {
	Status string   // one sentence
	Notes  []string // what went wrong on the way
	// Phases are listed from the beginning, so that nothing moves when one ends.
	Phases   []PhaseLine
	First    *FindingModel // the first finding, or nil
	FirstAt  int64         // the step that brought it
	LastStep int64
	Done     bool
}

// PhaseLine is a phase that has ended, or will run.
type PhaseLine struct {
	Text string
	Done bool
	Sign string // a mark beside the words
}

// NewSubmission builds the model of Submission. notice is the name of a notice
// or "".
func NewSubmission(p Page, s SubmissionState, notice string) (SubmissionModel, error) {
	t := text{words: p.Words}
	p.Title = t.say("submission.title", "Title", s.Title)
	p.Description = t.say("submission.description", "Title", s.Title)
	p.Live = s.Verdict == nil && s.Newer == ""
	p.Refresh = p.Live
	p.Timeline = p.Live || s.Verdict != nil && len(s.Verdict.Findings) > 0
	progress, err := NewProgress(p, s)
	t.keep(err)
	m := SubmissionModel{
		Page: p, PublicID: s.PublicID, Exercise: s.Exercise, CreatedAt: s.CreatedAt,
		Progress: progress, Source: NewSource(s.Files), Approach: s.ApproachHTML,
	}
	if s.Newer != "" {
		m.Newer = SubmissionURL(p.Root(), s.Newer)
	}
	if notice == "stored" || notice == "running" {
		m.Notice = t.say("notice." + notice)
	}
	if s.Verdict != nil {
		m.Practice, err = NewPractice(p, s.Said, s.Cards)
		t.keep(err)
		m.Result = t.result(*s.Verdict, m.Source)
		m.Result.Partial = s.Partial
	}
	return m, t.err
}

// NewProgress builds the models of SubmissionStatus, SubmissionPhases and
// SubmissionFinding.
func NewProgress(p Page, s SubmissionState) (ProgressModel, error) {
	t := text{words: p.Words}
	m := ProgressModel{Done: s.Verdict != nil || s.Newer != ""}
	if n := len(s.StepNumbers); n > 0 {
		m.LastStep = s.StepNumbers[n-1]
	}
	if s.Attempt > 1 {
		m.Notes = append(m.Notes, t.say("submission.again", "N", s.Attempt))
	}
	ended := map[phaseOn]verdict.Coverage{}
	phases := s.phases()
	for i, step := range s.Steps {
		if c := step.Coverage; c != nil {
			p := phaseOn{c.Phase, c.Database}
			ended[p] = *c
			if !slices.Contains(phases, p) {
				phases = append(phases, p)
			}
		}
		if step.Finding != nil {
			// The code is not on the page yet, so its lines cannot be linked.
			f := t.finding(*step.Finding, s.Exercise, nil)
			m.First, m.FirstAt = &f, s.StepNumbers[i]
		}
	}
	for _, p := range phases {
		c, ok := ended[p]
		m.Phases = append(m.Phases, t.phaseLine(p, c, ok))
	}
	m.Status = t.status(s)
	if s.Newer == "" && s.Verdict == nil && s.Attempt == 0 && !s.Preparing && s.Wait > 0 {
		m.Status += " " + t.wait(s.Wait)
	}
	if m.First != nil && !m.Done {
		m.Status = m.Status + " " + t.say("submission.found")
	}
	return m, t.err
}

// phaseOn is a phase and the database on which it runs, "" for the only one.
type phaseOn struct{ phase, database string }

// phases lists what is planned, in the order in which it runs.
func (s SubmissionState) phases() (all []phaseOn) {
	databases := s.Databases
	if len(databases) == 0 {
		databases = []string{""}
	}
	for _, database := range databases {
		for _, phase := range s.Planned {
			all = append(all, phaseOn{phase, database})
		}
	}
	return all
}

func (t *text) phaseLine(p phaseOn, c verdict.Coverage, ended bool) PhaseLine {
	name := t.name("phase", p.phase)
	if p.database != "" {
		name = join(name, t.name("database", p.database))
	}
	if !ended {
		return PhaseLine{Text: name, Sign: "…"}
	}
	if c.LeftOut != "" {
		return PhaseLine{Done: true, Text: name, Sign: "–"}
	}
	line := PhaseLine{Done: true, Sign: "✓", Text: t.count("submission.phase-line", c.Schedules, "Phase", name, "Failed", c.Failed)}
	if c.Failed > 0 {
		line.Sign = "✗"
	}
	return line
}

// wait says about how long it takes, in steps that do not pretend to know better.
func (t *text) wait(d time.Duration) string {
	const step = 5 * time.Second
	if d = (d + step - 1).Truncate(step); d < time.Minute {
		return t.say("submission.seconds", "N", int(d.Seconds()))
	}
	return t.say("submission.minutes", "N", int((d+time.Minute-1)/time.Minute))
}

func (t *text) status(s SubmissionState) string {
	switch {
	case s.Newer != "":
		return t.say("submission.replaced")
	case s.Verdict != nil:
		return t.say("submission.done", "Outcome", t.say("state."+string(s.Verdict.Outcome)))
	case s.Attempt == 0 && s.Preparing:
		return t.say("submission.preparing")
	case s.Attempt == 0 && s.Waiting == 0:
		return t.say("submission.next")
	case s.Attempt == 0:
		return t.count("submission.waiting", s.Waiting)
	}
	stage := "started"
	if len(s.Steps) > 0 {
		stage = s.Steps[len(s.Steps)-1].Stage
	}
	return t.name("stage", stage)
}

// ResultModel is a verdict.
type ResultModel struct {
	Outcome   verdict.Outcome
	Summary   string
	Meaning   string // what a passed or inconclusive verdict says and does not say
	Schedules string
	Took      string
	Findings  []FindingModel
	Coverage  []CoverageModel
	Databases bool     // the coverage tells databases apart
	Model     bool     // one of them is the model of READ COMMITTED
	Skipped   []string // phases that were not run
	Partial   bool     // the reader may see the happy path only
	Stdout    string
	Stderr    string
}

// FindingModel is one finding.
type FindingModel struct {
	verdict.Finding
	KindText string
	Where    string // phase and database
	Link     SourceLink
	Lines    []string // the deliveries
	Timeline Timeline
	Replay   string // the command that runs the schedule again, or ""
}

// CoverageModel is one row of what was looked at.
type CoverageModel struct {
	Phase     string
	Database  string
	Schedules int
	Failed    int
	Extent    string
	Outside   []string // why schedules could not be judged, in the grader's words
}

func (t *text) result(v verdict.Verdict, source Source) *ResultModel {
	r := &ResultModel{
		Outcome: v.Outcome, Summary: v.Summary, Stdout: v.Stdout, Stderr: v.Stderr,
		Schedules: t.count("submission.schedules", v.Schedules),
		Took: t.say("submission.took", "Seconds", seconds(v.Timings.Queue+v.Timings.Total), "Queue", seconds(v.Timings.Queue),
			"Build", seconds(v.Timings.Build), "Explore", seconds(v.Timings.Load+v.Timings.Explore)),
	}
	if v.Outcome == verdict.Passed || v.Outcome == verdict.Inconclusive || v.Outcome == Withheld {
		r.Meaning = t.say("submission." + string(v.Outcome))
	}
	for _, f := range v.Findings {
		source.mark(f.File, f.Line)
		r.Findings = append(r.Findings, t.finding(f, v.Exercise, source))
	}
	r.Coverage, r.Skipped = t.coverage(v)
	for _, c := range v.Coverage {
		r.Databases, r.Model = r.Databases || c.Database != "", r.Model || c.Database == verdict.ReadCommitted
	}
	return r
}

func (t *text) finding(f verdict.Finding, exercise string, source Source) FindingModel {
	m := FindingModel{
		Finding: f, KindText: t.name("kind", string(f.Kind)),
		Link: source.Link(f.File, f.Line), Timeline: t.timeline(f.Trace, source),
	}
	m.Timeline.Run, m.Timeline.Twin = f.Schedule, f.PassingTwin
	if f.Schedule != "" {
		m.Replay = "redeliver grade --replay " + f.Schedule + " " + exercise + " ."
	}
	if f.Phase != "" {
		m.Where = t.name("phase", f.Phase)
	}
	if f.Database != "" {
		m.Where = join(m.Where, t.say("submission.database", "Name", t.name("database", f.Database)))
	}
	for _, d := range f.Deliveries {
		what := "submission.delivery"
		if d.Offset == verdict.NoOffset {
			what = "submission.call"
		}
		m.Lines = append(m.Lines, t.say(what,
			"Offset", d.Offset, "Attempt", d.Attempt, "Instance", d.Instance, "Ended", d.Ended))
	}
	return m
}

// coverage lists the phases that ran, and then those that did not.
func (t *text) coverage(v verdict.Verdict) (ran []CoverageModel, skipped []string) {
	seen := map[string]bool{}
	for _, c := range v.Coverage {
		if c.LeftOut != "" {
			continue
		}
		seen[c.Phase] = true
		extent := "submission.sampled"
		switch {
		case c.Complete:
			extent = "submission.complete"
		case len(c.Outside) > 0:
			extent = "submission.outside"
		}
		line := CoverageModel{Phase: t.name("phase", c.Phase), Schedules: c.Schedules, Failed: c.Failed, Extent: t.say(extent), Outside: c.Outside}
		if c.Note != "" {
			line.Phase += " " + t.name("phase-note", c.Phase)
		}
		if c.Database != "" {
			line.Database = t.name("database", c.Database)
		}
		ran = append(ran, line)
	}
	for _, name := range phaseNames {
		if !seen[name] {
			skipped = append(skipped, t.name("phase", name))
		}
	}
	return ran, skipped
}

func seconds(ms int64) string { return fmt.Sprintf("%.1f", float64(ms)/1000) }

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}
