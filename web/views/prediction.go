package views

import "strings"

// PredictionModel is what a reader may say of a starter, or has said.
type PredictionModel struct {
	Choices []Choice // empty when it is too late to say anything
	Said    string   // one sentence, or ""
	Came    string   // one sentence, or "" until the starter has a verdict
	Right   bool
}

// GuessField is the name of the form field with a prediction.
const GuessField = "guess"

// Said is a prediction as the database knows it. Guess is empty when there is
// none, Came until the starter has a verdict.
type Said struct {
	Guess string
	Came  []string // "passed", or kinds of findings
	Right bool
}

// NewPrediction builds a PredictionModel. The guesses are those that can be
// chosen; none when it is too late.
func NewPrediction(p Page, guesses []string, said Said) (PredictionModel, error) {
	t := text{words: p.Words}
	m := PredictionModel{Right: said.Right}
	for _, g := range guesses {
		m.Choices = append(m.Choices, Choice{ID: g, Name: t.say("guess." + g), Chosen: g == said.Guess})
	}
	if said.Guess != "" {
		m.Said = t.say("predict.said", "Guess", t.name("guess", said.Guess))
	}
	if len(said.Came) > 0 {
		m.Came = t.say("predict.came", "Came", t.came(said.Came))
	}
	return m, t.err
}

// came says what a starter did, in words.
func (t *text) came(list []string) string {
	var words []string
	for _, c := range list {
		switch c {
		case "passed", "failed", "rejected":
			words = append(words, t.say("state."+c))
		default:
			words = append(words, t.name("kind", c))
		}
	}
	return strings.Join(words, ", ")
}

// PracticeModel is what a verdict means for the reader's practice.
type PracticeModel struct {
	Prediction *PredictionModel // nil: nothing was said of this source
	Cards      string           // what waits in the review because of it, one sentence, or ""
}

// NewPractice builds a PracticeModel from what was said of the source, if anything,
// and the number of cards that wait because of the verdict.
func NewPractice(p Page, said Said, cards int) (m PracticeModel, err error) {
	t := text{words: p.Words}
	if said.Guess != "" {
		prediction, err := NewPrediction(p, nil, said)
		t.keep(err)
		m.Prediction = &prediction
	}
	if cards > 0 {
		m.Cards = t.count("review.waiting", cards)
	}
	return m, t.err
}
