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
func NewHome(p Page, list []*exercises.Exercise, submissions []SubmissionLine) (HomeModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("home.title"), t.say("site.description")
	m := HomeModel{Page: p, Submissions: submissions}
	for _, e := range list {
		m.Exercises = append(m.Exercises, ExerciseCard{
			Name: e.Name(), Title: e.Title[e.Language(p.Lang())], Lang: e.Language(p.Lang()), Level: e.Level, Minutes: e.Minutes,
		})
	}
	return m, t.err
}
