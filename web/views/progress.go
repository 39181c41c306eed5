package views

import "redeliver/exercises"

// Mark says how far a reader is with an exercise.
type Mark struct{ Tried, Passed bool }

// ProgressState is what a browser has practised.
type ProgressState struct {
	All       int // exercises that can be seen here
	Passed    int
	Tried     int // passed ones among them
	Questions int // of the bank
	Rated     int // of those
	Right     int // predictions
	Said      int // predictions that have come out, right or wrong
	Cards     int // that wait
	Exercises []ExerciseState
	Mistakes  []MistakeState
	LeftOut   int // entries of the file that was added just now
}

// ExerciseState is an exercise that was tried or predicted.
type ExerciseState struct {
	Head *exercises.Head
	Mark
	Said Said
}

// MistakeState is a kind of finding in an exercise.
type MistakeState struct {
	Head  *exercises.Head
	Kind  string
	Times int
}

// PracticePageModel is the model of PracticePage; the Progress of a grading is
// another one.
type PracticePageModel struct {
	Page
	Notice     string
	AlertTitle string
	Alert      string
	Empty      bool
	Facts      []Fact
	Cards      int // that wait in the review
	Exercises  []ExerciseProgress
	Mistakes   []MistakeLine
}

// Fact is a term with what there is to say of it.
type Fact struct{ Term, Value string }

// ExerciseProgress is a row of the table of exercises.
type ExerciseProgress struct {
	ExerciseCard
	Mark
	Prediction string // what was said and whether it came, or ""
}

// MistakeLine is an entry of the list of mistakes.
type MistakeLine struct {
	ExerciseCard
	Kind  string
	Times string
}

// NewPracticePage builds the model of PracticePage. notice is the name of a notice
// or "".
func NewPracticePage(p Page, s ProgressState, notice string) (PracticePageModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("progress.title"), t.say("progress.description")
	m := PracticePageModel{Page: p, Empty: s.Tried+s.Rated+s.Said+len(s.Exercises)+len(s.Mistakes) == 0}
	switch notice {
	case "imported":
		m.Notice = t.say("progress.imported")
		if s.LeftOut > 0 {
			m.Notice += " " + t.count("progress.left-out", s.LeftOut)
		}
	case "forgotten":
		m.Notice = t.say("progress.forgotten")
	}
	m.Cards = s.Cards
	m.Facts = []Fact{
		{t.say("progress.passed"), t.say("progress.of", "N", s.Passed, "All", s.All)},
		{t.say("progress.tried"), t.say("progress.of", "N", s.Tried, "All", s.All)},
		{t.say("progress.questions"), t.say("progress.of", "N", s.Rated, "All", s.Questions)},
		{t.say("progress.predictions"), t.say("progress.of", "N", s.Right, "All", s.Said)},
	}
	for _, e := range s.Exercises {
		m.Exercises = append(m.Exercises, t.exerciseProgress(e))
	}
	for _, f := range s.Mistakes {
		m.Mistakes = append(m.Mistakes, MistakeLine{
			ExerciseCard: CardOf(f.Head, p.Lang()), Kind: t.name("kind", f.Kind), Times: t.count("progress.times", f.Times),
		})
	}
	return m, t.err
}

func (t *text) exerciseProgress(e ExerciseState) ExerciseProgress {
	line := ExerciseProgress{ExerciseCard: CardOf(e.Head, t.words.Lang()), Mark: e.Mark}
	if e.Said.Guess != "" {
		state := "open"
		if len(e.Said.Came) > 0 {
			state = map[bool]string{true: "right", false: "wrong"}[e.Said.Right]
		}
		line.Prediction = t.name("guess", e.Said.Guess) + ": " + t.say("progress."+state)
	}
	return line
}
