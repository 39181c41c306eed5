package views

import (
	"net/url"
	"time"

	"github.com/a-h/templ"
)

// SittingURL is the candidate's side of an assignment.
func SittingURL(root Root, token string) templ.SafeURL {
	return HomeURL(root) + templ.SafeURL("a/"+url.PathEscape(token))
}

// SittingRoot is Page.Within inside of a sitting.
func SittingRoot(token string) string { return "a/" + url.PathEscape(token) + "/" }

// SittingBar stands on every page of a sitting. State is invited, sits, ended or
// cancelled, and "" elsewhere.
type SittingBar struct {
	State     string
	URL       templ.SafeURL // of the sitting, in the language of the page
	Deadline  time.Time     // zero: there is none
	Left      time.Duration
	GivenBack time.Duration
	VainSpent bool // for gradings without a result no more is given back
}

// runs reports whether time is running out.
func (b SittingBar) runs() bool { return b.State == "sits" && !b.Deadline.IsZero() }

// SittingModel is the model of Sitting.
type SittingModel struct {
	Page
	Facts    AssignmentFacts
	Name     string // of the candidate
	Extra    int    // minutes
	Early    bool   // it is not open yet
	Late     bool   // it has closed
	EndedBy  string // as for a candidate, or closing; "" before the end
	HandedIn bool
	Outcomes []ExerciseOutcome
	Notice   string
}

// NewSitting builds the model of Sitting; notice is "" or "over".
func NewSitting(m SittingModel, notice string) (SittingModel, error) {
	t := text{words: m.Words}
	m.Title, m.Description = t.say("sitting.title"), t.say("sitting.description")
	if notice == "over" {
		m.Notice = t.say("sitting.over")
	}
	return m, t.err
}

// ComeModel is the model of Come.
type ComeModel struct {
	Page
	Facts   AssignmentFacts
	URL     templ.SafeURL
	Name    string
	Closed  bool
	Problem fieldProblem
}

// NewCome builds the model of Come.
func NewCome(p Page, f AssignmentFacts, u templ.SafeURL, name string, closed bool, problem FormProblem) (ComeModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("sitting.title"), t.say("sitting.description")
	return ComeModel{Page: p, Facts: f, URL: u, Name: name, Closed: closed, Problem: t.problem(problem)}, t.err
}

// ended names the words that tell a candidate why the sitting is over.
func (m SittingModel) ended() string {
	if m.EndedBy == "candidate" {
		return "sitting.ended"
	}
	return "sitting.ended-" + m.EndedBy
}

// closesAt is when the sitting ends that has no limit: extra time counts from there.
func (m SittingModel) closesAt() time.Time {
	return m.Facts.ClosesAt.Add(time.Duration(m.Extra) * time.Minute)
}

// seenBy names the words that tell a candidate what it sees.
func seenBy(what string, yes bool) string {
	if yes {
		return "sitting.rule-" + what
	}
	return "sitting.rule-no-" + what
}
