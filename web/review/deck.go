// Package review decides what a browser should look at again: which cards there
// are, when each is due, and which a failed submission brings forward.
package review

import (
	"slices"
	"strings"

	"redeliver/content"
	"redeliver/exercises"
)

// Kind is what a card asks about.
type Kind string

// The kinds.
const (
	Question   Kind = "question"   // of the bank
	Pitfall    Kind = "pitfall"    // a wrong claim of a question
	Prediction Kind = "prediction" // a starter that did something else than was said
)

// Card is a card that can be shown. Name identifies it in the database, in a
// form and in an exported file.
type Card struct {
	Name     string // question/slug, pitfall/slug/id, prediction/pack/slug
	Kind     Kind
	Question *content.Question   // of a question or a pitfall
	Pitfall  int                 // its place in the question
	Exercise *exercises.Exercise // of a prediction
}

// QuestionCard names the card of a question.
func QuestionCard(slug string) string { return string(Question) + "/" + slug }

// PredictionCard names the card of a prediction for an exercise.
func PredictionCard(exercise string) string { return string(Prediction) + "/" + exercise }

// Catalog is the exercises that are installed; the packs of those that are not
// asked for stay closed.
type Catalog interface {
	Exercise(name string) (*exercises.Exercise, bool)
	Public() []*exercises.Head
}

// Deck is every card of the bank and of the installed exercises. It may be used
// by many goroutines.
type Deck struct {
	cards   []*Card // questions with their pitfalls, in the order of the bank
	byName  map[string]*Card
	catalog Catalog
}

// NewDeck makes the deck.
func NewDeck(bank *content.Bank, catalog Catalog) *Deck {
	d := &Deck{byName: map[string]*Card{}, catalog: catalog}
	for _, q := range bank.All() {
		d.add(&Card{Name: QuestionCard(q.Slug), Kind: Question, Question: q})
		for i, p := range q.Text["en"].Pitfalls {
			d.add(&Card{Name: string(Pitfall) + "/" + q.Slug + "/" + p.ID, Kind: Pitfall, Question: q, Pitfall: i})
		}
	}
	return d
}

func (d *Deck) add(c *Card) {
	d.cards = append(d.cards, c)
	d.byName[c.Name] = c
}

// Card finds a card by its name.
func (d *Deck) Card(name string) (*Card, bool) {
	if c, ok := d.byName[name]; ok {
		return c, true
	}
	exercise, ok := strings.CutPrefix(name, string(Prediction)+"/")
	if !ok {
		return nil, false
	}
	e, ok := d.catalog.Exercise(exercise)
	if !ok || e.Visibility != "public" {
		return nil, false
	}
	return &Card{Name: name, Kind: Prediction, Exercise: e}, true
}

// maxAbout bounds the cards that a mistake brings forward: more than that is no
// help but a pile.
const maxAbout = 5

// About lists the cards that a kind of finding in an exercise brings forward, the
// closest first: the pitfalls whose claim is refuted by a handler of this exercise
// that fails in this way. Those of the questions that the exercise names come
// first, in the order of their names; a claim refuted by the starter comes last,
// because nothing says in which ways the starter fails.
func (d *Deck) About(exercise, kind string) []*Card {
	e, ok := d.catalog.Exercise(exercise)
	if !ok || e.Visibility != "public" {
		return nil
	}
	type found struct {
		card *Card
		rank int
	}
	var all []found
	for _, c := range d.cards {
		if c.Kind != Pitfall {
			continue
		}
		run := c.Question.Text["en"].Pitfalls[c.Pitfall].Run
		if run == nil || run.Exercise != exercise {
			continue
		}
		rank := slices.Index(e.Questions, c.Question.Slug)
		if rank < 0 {
			rank = len(e.Questions)
		}
		switch {
		case run.Wrong == "" && !fails(kind):
			continue
		case run.Wrong == "":
			rank += len(e.Questions) + 1
		case !slices.Contains(e.Expect[run.Wrong].Kinds, kind):
			continue
		}
		all = append(all, found{c, rank})
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.rank - b.rank })
	var cards []*Card
	for _, f := range all[:min(len(all), maxAbout)] {
		cards = append(cards, f.card)
	}
	return cards
}

// fails tells what a starter fails with from what is wrong with a program.
func fails(kind string) bool {
	return slices.Contains([]string{"duplicate", "lost", "misordered", "stuck"}, kind)
}

// Questions counts the questions of the bank.
func (d *Deck) Questions() (n int) {
	for _, c := range d.cards {
		if c.Kind == Question {
			n++
		}
	}
	return n
}
