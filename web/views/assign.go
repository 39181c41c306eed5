package views

import (
	"strconv"
	"time"

	"github.com/a-h/templ"
)

// The fields of the forms of an interviewer. Points in time are typed in UTC.
const (
	TitleField     = "title"
	LangField      = "lang"
	ExercisesField = "exercises"
	WarmUpField    = "warm-up"
	MinutesField   = "minutes"
	OpensField     = "opens"
	ClosesField    = "closes"
	SeesField      = "sees" // hints, approaches, phases
	RetainField    = "retain"
	ExtraField     = "extra"
	ExerciseField  = "exercise"
	MetField       = "met"
)

// TypedTime is how a form writes a point in time.
const TypedTime = "2006-01-02T15:04"

// AssignURL lists the assignments.
func AssignURL(root Root) templ.SafeURL { return HomeURL(root) + "assign" }

// AssignNewURL is the form for a new assignment.
func AssignNewURL(root Root) templ.SafeURL { return AssignURL(root) + "/new" }

// AssignmentURL is the page of an assignment.
func AssignmentURL(root Root, id int64) templ.SafeURL {
	return AssignURL(root) + templ.SafeURL("/"+strconv.FormatInt(id, 10))
}

// CandidateURL is the report of a candidate.
func CandidateURL(root Root, assignment, id int64) templ.SafeURL {
	return AssignmentURL(root, assignment) + templ.SafeURL("/candidates/"+strconv.FormatInt(id, 10))
}

// CandidateRoot is Page.Within for what lies below a report.
func CandidateRoot(assignment, id int64) string {
	return "assign/" + strconv.FormatInt(assignment, 10) + "/candidates/" + strconv.FormatInt(id, 10) + "/"
}

// AssignmentLine is one line of the list of assignments.
type AssignmentLine struct {
	ID                         int64
	Title, Maker               string
	Minutes                    int
	CreatedAt                  time.Time
	Candidates, Sitting, Ended int
}

// AssignmentsModel is the model of Assignments.
type AssignmentsModel struct {
	Page
	Lines  []AssignmentLine
	Notice string
}

// NewAssignments builds the model of Assignments. notice is "" or "deleted".
func NewAssignments(p Page, lines []AssignmentLine, notice string) (AssignmentsModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("assign.title"), t.say("assign.description")
	m := AssignmentsModel{Page: p, Lines: lines}
	if notice != "" {
		m.Notice = t.say("assign.notice-" + notice)
	}
	return m, t.err
}

// AssignForm is the form for a new assignment as it was typed.
type AssignForm struct {
	Title, Note, Lang, WarmUp, Minutes, Opens, Closes, Retain string
	Exercises, Sees                                           []string
	Problem                                                   FormProblem
}

// ExerciseChoice is an exercise that can be assigned.
type ExerciseChoice struct {
	Name, Title    string
	Level, Minutes int
	Assigned       bool // only for who has a link
}

// AssignModel is the model of Assign.
type AssignModel struct {
	Page
	Form    AssignForm
	Choices []ExerciseChoice
	Problem fieldProblem
	Langs   []LanguageLink
}

// NewAssign builds the model of Assign.
func NewAssign(p Page, form AssignForm, choices []ExerciseChoice) (AssignModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("assign.new"), t.say("assign.description")
	return AssignModel{Page: p, Form: form, Choices: choices, Problem: t.problem(form.Problem), Langs: p.Languages}, t.err
}

// CandidateLine is a candidate as the lists show it.
type CandidateLine struct {
	ID        int64
	Name      string
	Self      bool
	State     string // invited, sits, ended, cancelled
	ExtraMin  int
	StartedAt time.Time
	EndedAt   time.Time
	Left      time.Duration // of who sits; 0 without a limit
	GivenBack time.Duration
	Outcomes  []ExerciseOutcome
}

// ExerciseOutcome is how far a candidate is with an exercise.
type ExerciseOutcome struct {
	Name, Title string
	Best        SubmissionLine // the best one; the newest while none is graded
	Runs        int
}

// AssignmentFacts is what an assignment asks for, for both sides.
type AssignmentFacts struct {
	ID                          int64
	Title, Note                 string
	Minutes                     int
	OpensAt, ClosesAt           time.Time
	Exercises                   []ExerciseChoice
	WarmUp                      ExerciseChoice
	Hints, Approaches, AllPhase bool
	RetainDays                  int
	Open                        bool
	Lang                        string
}

// LinkForm is the form for a candidate's link as it was typed.
type LinkForm struct {
	Name, Extra string
	Problem     FormProblem
}

// AssignmentModel is the model of AssignmentPage.
type AssignmentModel struct {
	Page
	Facts      AssignmentFacts
	Candidates []CandidateLine
	Form       LinkForm
	Problem    fieldProblem
	Notice     string
}

// NewAssignment builds the model of AssignmentPage. notice is "" or the second half
// of a message's name.
func NewAssignment(p Page, f AssignmentFacts, candidates []CandidateLine, form LinkForm, notice string) (AssignmentModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = f.Title, t.say("assign.description")
	m := AssignmentModel{Page: p, Facts: f, Candidates: candidates, Form: form, Problem: t.problem(form.Problem)}
	if notice != "" {
		m.Notice = t.say("assign.notice-" + notice)
	}
	return m, t.err
}

// compared are the candidates that can be set side by side.
func (m AssignmentModel) compared() (choices []CandidateChoice) {
	for _, c := range m.Candidates {
		choices = append(choices, CandidateChoice{c.ID, c.Name})
	}
	return distinct(choices)
}

// CandidateLinkModel is the model of CandidateLink.
type CandidateLinkModel struct {
	Page
	Facts AssignmentFacts
	Lead  string
	URL   string
}

// NewCandidateLink builds the model of CandidateLink; name is empty for the link for
// everybody.
func NewCandidateLink(p Page, f AssignmentFacts, name, link string) (CandidateLinkModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("assign.link-title"), t.say("assign.description")
	lead := t.say("assign.link-open")
	if name != "" {
		lead = t.say("assign.link-for", "Name", name)
	}
	return CandidateLinkModel{Page: p, Facts: f, Lead: lead, URL: link}, t.err
}

// inMinutes rounds up: who has ten seconds has not none.
func inMinutes(d time.Duration) int { return int((d + time.Minute - 1) / time.Minute) }

// inSeconds are the seconds that a script counts down, rounded up: at zero it looks
// at the sitting, and would look again and again before the time is over.
func inSeconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }

// seen names the words for what candidates see, or do not.
func seen(what string, yes bool) string {
	if yes {
		return "assign.sees-" + what
	}
	return "assign.sees-no-" + what
}
