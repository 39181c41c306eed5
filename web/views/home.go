package views

import "redeliver/exercises"

// HomeModel is the model of Home.
type HomeModel struct {
	Page
	Exercises   []ExerciseCard
	Submissions []SubmissionLine
	Passed      string // what was passed, one sentence, or ""
	Waiting     string // what waits in the review, one sentence, or ""
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

// AddProgress says how far a browser is, if it has begun.
func (m *HomeModel) AddProgress(s ProgressState) error {
	t := text{words: m.Words}
	if s.Tried+s.Rated > 0 {
		m.Passed = t.say("progress.home", "Passed", s.Passed, "All", s.All)
		if s.Cards > 0 {
			m.Waiting = t.count("progress.home-cards", s.Cards)
		}
	}
	return t.err
}

// ExerciseCards lists exercises for a page in a language.
func ExerciseCards(list []*exercises.Head, lang string) []ExerciseCard {
	cards := make([]ExerciseCard, 0, len(list))
	for _, e := range list {
		cards = append(cards, CardOf(e, lang))
	}
	return cards
}

// CardOf is one exercise for a page in a language.
func CardOf(e *exercises.Head, lang string) ExerciseCard {
	spoken := e.Language(lang)
	return ExerciseCard{Name: e.Name(), Title: e.Title[spoken], Lang: spoken, Level: e.Level, Minutes: e.Minutes}
}
