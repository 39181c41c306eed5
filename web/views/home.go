package views

import "redeliver/exercises"

// HomeModel is the model of Home.
type HomeModel struct {
	Page
	Exercises   []ExerciseCard
	Submissions []SubmissionLine
}

// ExerciseCard is an exercise in the list.
type ExerciseCard struct {
	Name    string // pack/slug
	Title   string
	Lang    string // of Title
	Level   int
	Minutes int
}

// NewHome builds the model of Home.
func NewHome(p Page, list []*exercises.Head, submissions []SubmissionLine) (HomeModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("home.title"), t.say("site.description")
	return HomeModel{Page: p, Submissions: submissions, Exercises: ExerciseCards(list, p.Lang())}, t.err
}

// ExerciseCards lists exercises for a page in a language.
func ExerciseCards(list []*exercises.Head, lang string) []ExerciseCard {
	cards := make([]ExerciseCard, 0, len(list))
	for _, e := range list {
		spoken := e.Language(lang)
		cards = append(cards, ExerciseCard{Name: e.Name(), Title: e.Title[spoken], Lang: spoken, Level: e.Level, Minutes: e.Minutes})
	}
	return cards
}
