package views

import (
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"redeliver/content"
)

// QuestionsModel is the model of Questions.
type QuestionsModel struct {
	Page
	Topics []Choice
	Levels []Choice
	Lines  []QuestionLine
}

// Choice is an entry of a filter.
type Choice struct {
	ID, Name string
	Chosen   bool
}

// QuestionLine is a question in a list.
type QuestionLine struct {
	Slug     string
	Question string // plain text
	HTML     string // the same, with code as such
	Level    string
	Topics   []string
	Rated    bool // in the reader's review
}

// QuestionFilter says which questions to list; an empty field lists all.
type QuestionFilter struct{ Topic, Level string }

// NewQuestions builds the model of Questions.
func NewQuestions(p Page, bank *content.Bank, filter QuestionFilter) (QuestionsModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("questions.title"), t.say("questions.description")
	m := QuestionsModel{Page: p}
	for _, topic := range bank.Topics() {
		m.Topics = append(m.Topics, Choice{ID: topic.ID, Name: topic.Title[p.Lang()], Chosen: topic.ID == filter.Topic})
	}
	for _, level := range content.Levels() {
		m.Levels = append(m.Levels, Choice{ID: level, Name: t.say("level." + level), Chosen: level == filter.Level})
	}
	for _, q := range bank.All() {
		if (filter.Topic == "" || slices.Contains(q.Topics, filter.Topic)) && (filter.Level == "" || q.Level == filter.Level) {
			m.Lines = append(m.Lines, t.questionLine(bank, q, p.Lang()))
		}
	}
	return m, t.err
}

func (t *text) questionLine(bank *content.Bank, q *content.Question, lang string) QuestionLine {
	html, err := content.Inline(q.Text[lang].Question)
	t.keep(err)
	line := QuestionLine{
		Slug: q.Slug, Question: strings.ReplaceAll(q.Text[lang].Question, "`", ""), HTML: html, Level: t.say("level." + q.Level),
	}
	for _, topic := range bank.Topics() {
		if slices.Contains(q.Topics, topic.ID) {
			line.Topics = append(line.Topics, topic.Title[lang])
		}
	}
	return line
}

// QuestionModel is the model of Question.
type QuestionModel struct {
	Page
	QuestionLine
	Text      content.Text
	Pitfalls  []PitfallModel
	FollowUps []QuestionLine
	Exercises []ExerciseCard
	Sources   []content.Source
	Own       OwnAnswer
	Rating    RatingModel
	Again     string // when the reader's rating brings it back, or ""
}

// OwnAnswer is what the reader answers before opening ours.
type OwnAnswer struct {
	Text    string
	SavedAt time.Time // zero when nothing is saved
	TooLong bool      // Text was not saved
}

// AnswerField is the name of the form field with the reader's answer, which has at
// most MaxAnswer characters.
const (
	AnswerField = "answer"
	MaxAnswer   = 4000
)

// PitfallModel is a wrong claim with a way to see it fail.
type PitfallModel struct {
	ID        string
	ClaimHTML string
	WhyHTML   string
	Watch     templ.SafeURL // empty when nothing that is installed shows it
}

// NewQuestion builds the model of Question. The exercises are those of q that
// are installed; watch gives the address of a run that refutes a claim, or "".
func NewQuestion(p Page, bank *content.Bank, q *content.Question, exercises []ExerciseCard, watch func(content.Run) templ.SafeURL) (QuestionModel, error) {
	t := text{words: p.Words}
	said := q.Text[p.Lang()]
	line := t.questionLine(bank, q, p.Lang())
	p.Card = CardURL(QuestionURL(p.Home(), q.Slug))
	p.Title, p.Description = line.Question, t.say("question.description", "Question", line.Question)
	m := QuestionModel{
		Page: p, QuestionLine: line, Text: said, Exercises: exercises, Sources: q.Sources,
	}
	for _, pitfall := range said.Pitfalls {
		line := PitfallModel{ID: pitfall.ID, ClaimHTML: pitfall.Claim.HTML, WhyHTML: pitfall.Why.HTML}
		if pitfall.Run != nil {
			line.Watch = watch(*pitfall.Run)
		}
		m.Pitfalls = append(m.Pitfalls, line)
	}
	for _, slug := range q.FollowUps {
		if next, ok := bank.Question(slug); ok {
			m.FollowUps = append(m.FollowUps, t.questionLine(bank, next, p.Lang()))
		}
	}
	return m, t.err
}

// AddRating lets the reader rate the question's card, or says on which day it
// comes again.
func (m *QuestionModel) AddRating(card string, reps int, due time.Time, later bool, days []RatingDays) error {
	t := text{words: m.Words}
	if later {
		m.Again = t.say("review.again-on", "Day", Day(due))
		return t.err
	}
	m.Rating = t.rating(card, reps, days)
	m.Rating.Back = m.Slug
	return t.err
}

// GlossaryModel is the model of Glossary.
type GlossaryModel struct {
	Page
	HTML string // safe, from package content
}

// NewGlossary builds the model of Glossary.
func NewGlossary(p Page, bank *content.Bank) (GlossaryModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("glossary.title"), t.say("glossary.description")
	return GlossaryModel{Page: p, HTML: bank.Glossary(p.Lang()).HTML}, t.err
}
