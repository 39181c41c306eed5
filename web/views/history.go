package views

import (
	"slices"
	"strconv"
)

// HistoryRef names a text that somebody wrote for an exercise.
type HistoryRef string

// StarterRef is the text that everybody begins with; the prefixes stand before the
// number of a draft and the id of a submission.
const (
	StarterRef       = HistoryRef("starter")
	DraftPrefix      = "v"
	SubmissionPrefix = "s"
)

func draftRef(version int64) HistoryRef {
	return HistoryRef(DraftPrefix + strconv.FormatInt(version, 10))
}

func submissionRef(publicID string) HistoryRef { return HistoryRef(SubmissionPrefix + publicID) }

// History is what a browser has written for an exercise, the newest first.
type History struct {
	Exercise    string // pack/slug
	Title       string // of the exercise
	Drafts      []DraftLine
	Submissions []SubmissionLine
	From, To    HistoryRef
	Old, New    []FileModel // the texts of From and To
}

// Compared fills in what an address leaves open: the newest submission with the one
// before it, or the newest draft with the starter.
func Compared(h History, from, to string) (HistoryRef, HistoryRef) {
	newer := HistoryRef(to)
	if to == "" {
		switch {
		case len(h.Submissions) > 0:
			newer = submissionRef(h.Submissions[0].PublicID)
		case len(h.Drafts) > 0:
			newer = draftRef(h.Drafts[0].Version)
		default:
			newer = StarterRef
		}
	}
	if from != "" {
		return HistoryRef(from), newer
	}
	return before(h, newer), newer
}

// before is the text of the same kind that came before, or else the starter.
func before(h History, ref HistoryRef) HistoryRef {
	var refs []HistoryRef
	for _, s := range h.Submissions {
		refs = append(refs, submissionRef(s.PublicID))
	}
	refs = append(refs, StarterRef)
	for _, d := range h.Drafts {
		refs = append(refs, draftRef(d.Version))
	}
	refs = append(refs, StarterRef)
	if i := slices.Index(refs, ref); i >= 0 && ref != StarterRef {
		return refs[i+1]
	}
	return StarterRef
}

// HistoryModel is the model of HistoryPage.
type HistoryModel struct {
	Page
	Exercise    string
	Name        string // the exercise's title
	Choices     []HistoryChoice
	From, To    HistoryRef
	Submissions []SubmissionLine
	Drafts      []DraftLine
	Differences []DifferenceModel
	Between     string // one sentence on what is compared
}

// HistoryChoice is a text that can be chosen.
type HistoryChoice struct {
	Ref  HistoryRef
	Text string
}

// DifferenceModel is a FileDiff in words.
type DifferenceModel struct {
	FileDiff
	Caption string
}

// NewHistory builds the model of HistoryPage.
func NewHistory(p Page, h History) (HistoryModel, error) {
	t := text{words: p.Words}
	p.Title = t.say("history.title", "Title", h.Title)
	p.Description = t.say("history.description", "Title", h.Title)
	m := HistoryModel{Page: p, Exercise: h.Exercise, Name: h.Title, From: h.From, To: h.To, Submissions: h.Submissions, Drafts: h.Drafts}
	m.Choices = append(m.Choices, HistoryChoice{StarterRef, t.say("exercise.starter-link")})
	for _, s := range h.Submissions {
		state := t.say("state." + stateName(s.Outcome))
		m.Choices = append(m.Choices, HistoryChoice{submissionRef(s.PublicID), t.say("history.submission", "Time", ClockTime(s.At), "State", state)})
	}
	for _, d := range h.Drafts {
		m.Choices = append(m.Choices, HistoryChoice{draftRef(d.Version), t.say("history.draft", "N", d.Version, "Time", ClockTime(d.At))})
	}
	m.Between = t.say("history.between", "From", m.choice(h.From), "To", m.choice(h.To))
	m.Differences = t.differences(h.Old, h.New)
	return m, t.err
}

// choice is what a reference is called.
func (m HistoryModel) choice(ref HistoryRef) string {
	for _, c := range m.Choices {
		if c.Ref == ref {
			return c.Text
		}
	}
	return string(ref) // older than what is listed
}
