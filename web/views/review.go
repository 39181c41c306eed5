package views

import (
	"strings"
	"time"

	"github.com/a-h/templ"

	"redeliver/content"
)

// ReviewState is what there is to review.
type ReviewState struct {
	Card  *CardState // nil: nothing for now
	Left  int        // cards for today, Card among them
	Fresh int        // cards that were never rated and do not come today
	Next  time.Time  // when the next of the others comes; zero: never
	New   bool       // this browser has never rated a card
	More  int        // cards beyond those that today brings by itself
	Rated time.Time  // when the card that was rated just now comes again; zero: none was
}

// CardState is a card to be shown. It is about a question, a pitfall of it, or an
// exercise.
type CardState struct {
	Name     string
	Kind     string // question, pitfall, prediction
	Why      string // mistaken, missed, due, fresh
	Reps     int
	Question *content.Question
	Pitfall  int
	Watch    templ.SafeURL // of a run that shows it, or ""
	// Of a prediction.
	Exercise ExerciseCard
	Said     Said
	// Of the mistake that brought the card forward.
	FailedTitle, FailedKind string
	Days                    []RatingDays
}

// RatingDays says when a card comes again after a rating.
type RatingDays struct {
	Rating string
	Days   int
}

// ReviewModel is the model of Review.
type ReviewModel struct {
	Page
	Notice string
	Lead   bool // the card is the first one that the reader sees
	Left   string
	More   int
	Card   *CardModel
	Next   string // when there is something again
	Fresh  string // what could be taken now
}

// CardModel is a card with its answer, which is closed at first.
type CardModel struct {
	Name       string
	Kind       string // in words
	Why        string // one sentence
	Context    string // what the prompt belongs to, or ""
	PromptHTML string
	PromptLang string
	Ask        string
	AnswerHTML string // or "": then Answer
	Answer     string
	Links      []CardLink
	Rating     RatingModel
}

// CardLink leads from a card to where more is said.
type CardLink struct {
	URL      templ.SafeURL
	Text     string
	NoFollow bool
}

// RatingModel is the form that rates a card.
type RatingModel struct {
	Card    string
	Reps    int
	More    int
	Back    string // where to go afterwards: "" is the review, otherwise a question's slug
	Choices []RatingChoice
}

// RatingChoice is a button of the form.
type RatingChoice struct{ ID, Name, In string }

// NewReview builds the model of Review. notice is the name of a notice or "".
func NewReview(p Page, s ReviewState, notice string) (ReviewModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("review.title"), t.say("review.description")
	m := ReviewModel{Page: p, Lead: s.New, More: s.More}
	switch {
	case notice == "rated" && !s.Rated.IsZero():
		m.Notice = t.say("review.rated", "Day", Day(s.Rated))
	case notice == "stale":
		m.Notice = t.say("review.stale")
	}
	if s.Card != nil {
		m.Left = t.count("review.left", s.Left)
		m.Card = t.card(p.Home(), *s.Card, s.More)
		return m, t.err
	}
	if !s.Next.IsZero() {
		m.Next = t.say("review.next", "Day", Day(s.Next))
	}
	if s.Fresh > 0 {
		m.Fresh = t.count("review.new", s.Fresh)
	}
	return m, t.err
}

func (t *text) card(root Root, s CardState, more int) *CardModel {
	lang := t.words.Lang()
	m := &CardModel{
		Name: s.Name, Kind: t.say("review." + s.Kind), PromptLang: lang,
		Rating: t.rating(s.Name, s.Reps, s.Days),
	}
	m.Rating.More = more
	if s.Why == "mistaken" {
		m.Why = t.say("review.mistaken", "Title", s.FailedTitle, "Kind", t.name("kind", s.FailedKind))
	} else {
		m.Why = t.say("review." + s.Why)
	}
	switch s.Kind {
	case "question":
		m.PromptHTML, m.Ask = t.inline(s.Question.Text[lang].Question), t.say("review.ask-question")
		m.AnswerHTML = s.Question.Text[lang].Short.HTML
	case "pitfall":
		pitfall := s.Question.Text[lang].Pitfalls[s.Pitfall]
		m.Context = t.say("review.from", "Question", strings.ReplaceAll(s.Question.Text[lang].Question, "`", ""))
		m.PromptHTML, m.Ask, m.AnswerHTML = pitfall.Claim.HTML, t.say("review.ask-pitfall"), pitfall.Why.HTML
	case "prediction":
		m.PromptHTML, m.PromptLang = templ.EscapeString(s.Exercise.Title), s.Exercise.Lang
		m.Ask = t.say("review.ask-prediction", "Guess", t.name("guess", s.Said.Guess))
		m.Answer = t.say("predict.came", "Came", t.came(s.Said.Came))
		m.Links = append(m.Links, CardLink{URL: ExerciseURL(root, s.Exercise.Name), Text: t.say("review.exercise")})
	}
	if s.Question != nil {
		m.Links = append(m.Links, CardLink{URL: QuestionURL(root, s.Question.Slug), Text: t.say("review.read")})
	}
	if s.Watch != "" {
		id := "question.watch"
		if s.Kind == "prediction" {
			id = "review.watch"
		}
		m.Links = append(m.Links, CardLink{URL: s.Watch, Text: t.say(id), NoFollow: true})
	}
	return m
}

func (t *text) inline(markdown string) string {
	html, err := content.Inline(markdown)
	t.keep(err)
	return html
}

func (t *text) rating(card string, reps int, days []RatingDays) RatingModel {
	m := RatingModel{Card: card, Reps: reps}
	for _, d := range days {
		m.Choices = append(m.Choices, RatingChoice{ID: d.Rating, Name: t.say("rating." + d.Rating), In: t.count("review.in", d.Days)})
	}
	return m
}

// Day is a day that reads the same in every language.
func Day(t time.Time) string { return t.UTC().Format("2006-01-02") }
