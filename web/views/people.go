package views

import (
	"strings"
	"time"

	"github.com/a-h/templ"
)

// The fields of the forms about accounts.
const (
	LoginField       = "login"
	NameField        = "name"
	PasswordField    = "password"
	OldPasswordField = "old"
	NoteField        = "note"
	RoleField        = "role"
)

// PersonModel is somebody with an account.
type PersonModel struct {
	ID         int64
	Login      string
	Name       string
	Role       string // "owner", "interviewer"
	CreatedAt  time.Time
	SignedInAt time.Time // zero: never
}

// IsOwner reports whether the pages of owners are there for this person.
func (p PersonModel) IsOwner() bool { return p.Role == "owner" }

// FormProblem is what of a form was not accepted: a field and the reason, which
// name a message. The zero value is a form that nobody has sent.
type FormProblem struct{ Field, Reason string }

// fieldProblem is FormProblem in words.
type fieldProblem struct{ Field, Message string }

// of is the message for one field.
func (p fieldProblem) of(field string) string {
	if p.Field == field {
		return p.Message
	}
	return ""
}

func (t *text) problem(p FormProblem) fieldProblem {
	if p == (FormProblem{}) {
		return fieldProblem{}
	}
	return fieldProblem{p.Field, t.say("field." + p.Field + "-" + p.Reason)}
}

// SignInModel is the model of SignIn.
type SignInModel struct {
	Page
	Login    string
	Alert    string
	Provider bool // there is one to sign in with
}

// NewSignIn builds the model of SignIn. alert is "" or the second half of a
// message's name.
func NewSignIn(p Page, login, alert string, provider bool) (SignInModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("sign-in.title"), t.say("sign-in.description")
	m := SignInModel{Page: p, Login: login, Provider: provider}
	if alert != "" {
		m.Alert = t.say("sign-in." + alert)
	}
	return m, t.err
}

// NewcomerModel is who follows a link, and what the link is for.
type NewcomerModel struct {
	Login, Name string
	Role        string
	ExpiresAt   time.Time
	Reset       bool // it sets the password of somebody who is there
	Provider    bool // an account of a provider does instead of a password
}

// InvitationModel is the model of Invitation.
type InvitationModel struct {
	Page
	NewcomerModel
	URL     templ.SafeURL
	Lead    string
	Problem fieldProblem
}

// NewInvitation builds the model of Invitation.
func NewInvitation(p Page, u templ.SafeURL, n NewcomerModel, problem FormProblem) (InvitationModel, error) {
	t := text{words: p.Words}
	lead := "invitation.lead-" + n.Role
	p.Title = t.say("invitation.title")
	if n.Reset {
		p.Title, lead = t.say("invitation.title-reset"), "invitation.lead-reset"
	}
	p.Description = t.say("invitation.description")
	return InvitationModel{Page: p, NewcomerModel: n, URL: u, Lead: t.say(lead, "Login", n.Login), Problem: t.problem(problem)}, t.err
}

// AccountPageModel is the model of Account.
type AccountPageModel struct {
	Page
	Person   PersonModel
	Browsers int
	Tokens   []TokenLine
	Form     TokenForm
	Notice   string
	Problem  fieldProblem // of the form of the password
	Token    fieldProblem // of the form of a token
}

// NewAccount builds the model of Account. notice is "", "password" or "revoked".
func NewAccount(p Page, person PersonModel, browsers int, tokens []TokenLine, form TokenForm, problem FormProblem, notice string) (AccountPageModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("account.title"), t.say("account.description")
	m := AccountPageModel{Page: p, Person: person, Browsers: browsers, Tokens: tokens, Form: form, Problem: t.problem(problem), Token: t.problem(form.Problem)}
	if notice != "" {
		m.Notice = t.say("account.notice-" + notice)
	}
	return m, t.err
}

// LinkModel is a link that works once. The link itself is known only when it is
// made.
type LinkModel struct {
	ID        int64
	Role      string
	Note      string
	Reset     bool
	ExpiresAt time.Time
}

// InviteForm is what was typed into the form for a new link.
type InviteForm struct {
	Note, Role string
	Problem    FormProblem
	Notice     string // "", "removed", "cancelled", "signed-out"
}

// PeopleModel is the model of People.
type PeopleModel struct {
	Page
	People  []PersonModel
	Links   []LinkModel
	Form    InviteForm
	Notice  string
	Problem fieldProblem
}

// NewPeople builds the model of People.
func NewPeople(p Page, people []PersonModel, links []LinkModel, form InviteForm) (PeopleModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("people.title"), t.say("people.description")
	m := PeopleModel{Page: p, People: people, Links: links, Form: form, Problem: t.problem(form.Problem)}
	if form.Notice != "" {
		m.Notice = t.say("people.notice-" + form.Notice)
	}
	return m, t.err
}

// NewLinkModel is the model of Link.
type NewLinkModel struct {
	Page
	Link LinkModel
	URL  string // with the name of the site
	Lead string
}

// NewLink builds the model of Link.
func NewLink(p Page, link LinkModel, u string) (NewLinkModel, error) {
	t := text{words: p.Words}
	lead := "link.lead-" + link.Role
	if link.Reset {
		lead = "link.lead-reset"
	}
	p.Title, p.Description = t.say("link.title"), t.say("people.description")
	return NewLinkModel{Page: p, Link: link, URL: u, Lead: t.say(lead, "Login", link.Note)}, t.err
}

// PersonPageModel is the model of Person.
type PersonPageModel struct {
	Page
	Person   PersonModel
	Browsers int
	Self     bool // the reader's own account
}

// NewPerson builds the model of Person.
func NewPerson(p Page, person PersonModel, browsers int, self bool) (PersonPageModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = person.Name, t.say("people.description")
	return PersonPageModel{Page: p, Person: person, Browsers: browsers, Self: self}, t.err
}

// AuditLine is one entry of the log.
type AuditLine struct {
	At                            time.Time
	Who, Action, Subject, Network string
}

// AuditModel is the model of Audit.
type AuditModel struct {
	Page
	Lines []AuditLine
	Older int64 // the entry before which the next page begins; 0: there is none
}

// NewAudit builds the model of Audit.
func NewAudit(p Page, lines []AuditLine, older int64) (AuditModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("audit.title"), t.say("people.description")
	out := make([]AuditLine, 0, len(lines))
	for _, l := range lines {
		l.Action = t.name("audit", l.Action)
		switch {
		case l.Who == "" && l.Network == "":
			l.Who = t.say("audit.server")
		case l.Who == "":
			l.Who = t.say("audit.nobody")
		}
		out = append(out, l)
	}
	return AuditModel{Page: p, Lines: out, Older: older}, t.err
}

// idIn is the id among the attributes of an input.
func idIn(a templ.Attributes) string {
	id, _ := a["id"].(string)
	return id
}

// explainedBy lists the ids of what explains an input.
func explainedBy(a templ.Attributes, hint, problem string) string {
	var ids []string
	if hint != "" {
		ids = append(ids, idIn(a)+"-hint")
	}
	if problem != "" {
		ids = append(ids, idIn(a)+"-problem")
	}
	return strings.Join(ids, " ")
}
