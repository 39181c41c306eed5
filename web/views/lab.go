package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"redeliver/content"
	"redeliver/grader/labs/scene"
	"redeliver/grader/trace"
	"redeliver/grader/verdict"
)

// LabsModel is the model of Labs.
type LabsModel struct {
	Page
	Lines []LabLine
}

// LabLine is a lab in a list.
type LabLine struct {
	Slug  string
	Title string
	Lead  string // safe HTML
}

// NewLabs builds the model of Labs.
func NewLabs(p Page, labs []*content.Lab) (LabsModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("labs.title"), t.say("labs.description")
	m := LabsModel{Page: p}
	for _, l := range labs {
		said := l.Text[p.Lang()]
		m.Lines = append(m.Lines, LabLine{Slug: l.Slug, Title: said.Title, Lead: said.Lead.HTML})
	}
	return m, t.err
}

// LabModel is the model of Lab.
type LabModel struct {
	Page
	Slug   string
	Text   content.LabText
	Notice string
	Stage  *StageModel // nil before the first action and after the lab has gone
	// Version is that of the stage; 0 without.
	Version int
	Next    *LabLine // the lab that builds on this one
	Closes  *LabLine // the lab that has to make room when this one is started, or nil
}

// LabState is the lab of a visitor as it stands.
type LabState struct {
	Slug    string
	Scene   *scene.Scene // nil when there is no stage
	Version int
	Closes  string // slug of the lab that makes room when this one starts, or ""
	Notice  string // the name of what an action has to say, or ""
}

// NewLab builds the model of Lab.
func NewLab(p Page, labs []*content.Lab, s LabState) (LabModel, error) {
	t := text{words: p.Words}
	i := slices.IndexFunc(labs, func(l *content.Lab) bool { return l.Slug == s.Slug })
	said := labs[i].Text[p.Lang()]
	p.Title, p.Live, p.Timeline = said.Title, true, true
	p.Card = CardURL(LabURL(p.Home(), s.Slug))
	p.Description = t.say("lab.page-description", "Title", said.Title)
	m := LabModel{Page: p, Slug: s.Slug, Text: said, Version: s.Version}
	if id := "lab-notice." + s.Notice; s.Notice != "" && p.Words.Has(id) {
		m.Notice = t.say(id)
	}
	if i+1 < len(labs) {
		m.Next = &LabLine{Slug: labs[i+1].Slug, Title: labs[i+1].Text[p.Lang()].Title}
	}
	for _, l := range labs {
		if l.Slug == s.Closes {
			m.Closes = &LabLine{Slug: l.Slug, Title: l.Text[p.Lang()].Title}
		}
	}
	if s.Scene != nil {
		m.Stage = t.stage(*s.Scene, p.Lang())
	}
	return m, t.err
}

// StageModel is a scene in words.
type StageModel struct {
	Apply     string // the action of the form with the settings
	Settings  []SettingModel
	Buttons   []ButtonModel
	Account   *AccountModel
	Said      string // what happened last
	Timeline  Timeline
	Logs      []LogModel
	Producers []ProducerModel
	Readers   []ReaderModel
	Instances []scene.Instance
	States    []string // of Instances, in words
	Tables    []scene.Table
	Facts     []FactModel
	RunNames  []string // of the settings in Runs
	Runs      []LabRunModel
	Predicts  bool // Runs have predictions
}

// SettingModel is a setting to choose.
type SettingModel struct {
	Name, Label string
	Options     []OptionModel
}

// OptionModel is one value of a setting.
type OptionModel struct {
	Value, Label string
	Chosen       bool
}

// ButtonModel is an action.
type ButtonModel struct {
	Action, Label string
	Off           bool
}

// AccountModel is the account with its amounts written out.
type AccountModel struct{ Opening, Price, Balance string }

// LogModel is a partition.
type LogModel struct {
	Topic   string
	Records []RecordModel
}

// RecordModel is an entry of a log; PID, Epoch and Sequence are "–" without.
type RecordModel struct {
	Offset, Key, PID, Epoch, Sequence, State string
	Mark                                     string // class of State, or ""
}

// ProducerModel is one life of a producer.
type ProducerModel struct{ PID, Epoch, Next, State string }

// ReaderModel is a reader with an isolation level.
type ReaderModel struct {
	Isolation, Keys string
	End             string
}

// FactModel is a figure.
type FactModel struct{ Name, Value string }

// LabRunModel is a line of what came of each configuration.
type LabRunModel struct {
	Options             []string
	Sent, Debits        int
	Balance             string
	Outcome, Prediction string
	Right               bool
	Wrong               bool // the balance is not what the payments come to
}

func (t *text) stage(sc scene.Scene, lang string) *StageModel {
	m := &StageModel{Apply: sc.Apply, Instances: sc.Instances, Tables: sc.Tables, Timeline: t.story(sc.Story, lang)}
	for _, s := range sc.Settings {
		m.Settings = append(m.Settings, t.setting(s))
	}
	for _, b := range sc.Buttons {
		m.Buttons = append(m.Buttons, ButtonModel{b.Action, t.say("lab-action." + b.Action), b.Off})
	}
	if a := sc.Account; a != nil {
		m.Account = &AccountModel{t.money(a.Opening, lang), t.money(a.Price, lang), t.money(a.Balance, lang)}
	}
	if rows := m.Timeline.Rows(); len(rows) > 0 {
		last := rows[len(rows)-1].Step
		m.Said = strings.TrimPrefix(last.Lane+": "+last.Text, ": ")
	}
	for _, l := range sc.Logs {
		m.Logs = append(m.Logs, t.log(l))
	}
	for _, p := range sc.Producers {
		m.Producers = append(m.Producers, ProducerModel{orDash(p.PID), orDash(int64(p.Epoch)), orDash(int64(p.Next)), t.say("lab-state." + p.State)})
	}
	for _, r := range sc.Readers {
		m.Readers = append(m.Readers, ReaderModel{r.Isolation, strings.Join(r.Keys, ", "), strconv.FormatInt(r.End, 10)})
	}
	for _, i := range sc.Instances {
		m.States = append(m.States, t.say("lab-state."+i.State))
	}
	for _, f := range sc.Facts {
		m.Facts = append(m.Facts, FactModel{t.say("lab-fact." + f.Name), strconv.FormatInt(f.Value, 10)})
	}
	t.labRuns(m, sc.Runs, lang)
	return m
}

func (t *text) setting(s scene.Setting) SettingModel {
	m := SettingModel{Name: s.Name, Label: t.say("lab-setting." + s.Name)}
	for _, o := range s.Options {
		m.Options = append(m.Options, OptionModel{o, t.option(s.Name, o), o == s.Chosen})
	}
	return m
}

func (t *text) option(setting, value string) string {
	return t.say("lab-option." + setting + "-" + value)
}

// money writes an amount as the language does: €353.00, 353,00 €.
func (t *text) money(c scene.Cents, lang string) string {
	amount := message.NewPrinter(language.Make(lang)).Sprint(number.Decimal(float64(c)/100, number.Scale(2)))
	return t.say("lab.money", "Amount", amount)
}

// orDash writes a number that may be missing.
func orDash(n int64) string {
	if n < 0 {
		return "–"
	}
	return strconv.FormatInt(n, 10)
}

func (t *text) log(l scene.Log) LogModel {
	m := LogModel{Topic: l.Topic}
	for _, r := range l.Records {
		line := RecordModel{
			Offset: strconv.FormatInt(r.Offset, 10), Key: r.Key, PID: orDash(r.PID), Epoch: orDash(int64(r.Epoch)), Sequence: orDash(int64(r.Sequence)),
		}
		if r.State != "" {
			line.State, line.Mark = t.say("lab-record."+r.State), "is-"+r.State
		}
		m.Records = append(m.Records, line)
	}
	return m
}

func (t *text) labRuns(m *StageModel, runs []scene.Run, lang string) {
	for i, r := range runs {
		line := LabRunModel{Sent: r.Sent, Debits: r.Debits, Balance: t.money(r.Balance, lang), Wrong: r.Debits > r.Sent || r.Outcome == "lost"}
		for _, s := range r.Settings {
			if s.Name == "prediction" { // has a column of its own
				continue
			}
			if i == 0 {
				m.RunNames = append(m.RunNames, t.say("lab-setting."+s.Name))
			}
			line.Options = append(line.Options, t.option(s.Name, s.Chosen))
		}
		if r.Outcome != "" {
			m.Predicts = true
			line.Outcome, line.Right = t.option("prediction", r.Outcome), r.Predicted == r.Outcome
			if r.Predicted != "" {
				line.Prediction = t.option("prediction", r.Predicted)
			}
		}
		m.Runs = append(m.Runs, line)
	}
}

// eventOf is how the drawing of a timeline knows the kinds of a lab's events.
var eventOf = map[scene.Kind]string{
	scene.Here: "check", scene.To: trace.CommitOffset, scene.From: trace.Deliver, scene.Query: trace.SQL, scene.Fault: trace.Fault,
	scene.Crash: trace.Crash, scene.Start: trace.Restart,
}

// story lays a lab's events out as a timeline.
func (t *text) story(events []scene.Event, lang string) Timeline {
	steps := make([]verdict.Step, 0, len(events))
	for i, e := range events {
		places := slices.Clone(e.Places)
		for j, v := range places {
			if c, ok := v.(scene.Cents); ok {
				places[j] = t.money(c, lang)
			}
		}
		steps = append(steps, verdict.Step{
			Step: i + 1, Lane: e.Lane, Event: eventOf[e.Kind], Text: t.say("lab-event."+e.ID, places...), Decisive: e.Decisive,
		})
	}
	tl := Timeline{}
	laid := trace.NewTimeline(steps)
	for _, l := range laid.Lanes {
		tl.Lanes = append(tl.Lanes, l.Name)
	}
	block := TimelineBlock{}
	for i, r := range laid.Rows {
		r.Again, r.Fold = events[i].Again, 0
		block.Rows = append(block.Rows, TimelineRow{Row: r})
	}
	if slices.Contains(tl.Lanes, "producer") {
		mirror(&tl, &block)
		t.nameLanes(&tl, &block)
	}
	if len(block.Rows) > 0 {
		tl.Blocks = []TimelineBlock{block}
	}
	return tl
}

// mirror puts the producer on the left and the consumer on the right: the order of
// their names is the other one.
func mirror(tl *Timeline, b *TimelineBlock) {
	if len(tl.Lanes) < 3 {
		return
	}
	slices.Reverse(tl.Lanes)
	for i := range b.Rows {
		r := &b.Rows[i]
		r.Lane = len(tl.Lanes) - 1 - r.Lane
		r.Lines = slices.Clone(r.Lines)
		slices.Reverse(r.Lines)
	}
}

// nameLanes gives lanes that are no instances their names in words.
func (t *text) nameLanes(tl *Timeline, b *TimelineBlock) {
	for i, lane := range tl.Lanes {
		if lane != trace.Middle {
			tl.Lanes[i] = t.say("lab-lane." + lane)
		}
	}
	for i := range b.Rows {
		if lane := b.Rows[i].Step.Lane; lane != trace.Middle {
			b.Rows[i].Step.Lane = t.say("lab-lane." + lane)
		}
	}
}

// labTarget is the part of the page that an action replaces.
const labTarget = "#stage"

func buttonID(action string) string { return "do-" + action }

func optionID(setting, value string) string { return "set-" + setting + "-" + value }

// LabsURL is the list of labs.
func LabsURL(root Root) templ.SafeURL { return HomeURL(root) + "labs" }

// LabURL is the page of a lab; its forms post there, too.
func LabURL(root Root, slug string) templ.SafeURL {
	return LabsURL(root) + templ.SafeURL("/"+slug)
}

// LabEventsURL tells when a lab is another one than at a version.
func LabEventsURL(root Root, slug string, version int) templ.SafeURL {
	return LabURL(root, slug) + templ.SafeURL(fmt.Sprintf("/events?after=%d", version))
}
