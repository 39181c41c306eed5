package views

import "redeliver/exercises"

// ExercisesModel is the model of Exercises.
type ExercisesModel struct {
	Page
	Levels   []ExerciseLevel // those that have exercises, easiest first
	Problems []string        // why packs are left out, for an owner
	More     int             // problems that are not in the list
}

// ExerciseLevel holds the exercises of a level.
type ExerciseLevel struct {
	Level     int // 1 to 4
	Exercises []ExerciseLine
}

// ExerciseLine is an exercise in the list of all.
type ExerciseLine struct {
	ExerciseCard
	Mark
	Works []string      // what the submission is and what it calls, in words
	After *ExerciseCard // what to do before, if not the first of all; may be nil
}

// NewExercises builds the model of Exercises.
func NewExercises(p Page, list []*exercises.Head) (ExercisesModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("exercises.title"), t.say("exercises.description")
	cards := map[string]*ExerciseCard{}
	for _, c := range ExerciseCards(list, p.Lang()) {
		cards[c.Name] = &c
	}
	levels := map[int][]ExerciseLine{}
	for _, e := range list {
		line := ExerciseLine{ExerciseCard: *cards[e.Name()], Works: []string{t.name("entry", e.Entry)}}
		for _, service := range e.Services {
			line.Works = append(line.Works, t.name("service", service))
		}
		for _, name := range e.Prerequisites {
			if line.After == nil && name != list[0].Name() {
				line.After = cards[name]
			}
		}
		levels[e.Level] = append(levels[e.Level], line)
	}
	m := ExercisesModel{Page: p}
	for level := 1; level <= 4; level++ {
		if len(levels[level]) > 0 {
			m.Levels = append(m.Levels, ExerciseLevel{Level: level, Exercises: levels[level]})
		}
	}
	return m, t.err
}

// maxProblems is how many problems of packs are listed.
const maxProblems = 100

// LeftOut shows why packs are left out.
func (m *ExercisesModel) LeftOut(problems exercises.Problems) {
	shown := problems[:min(len(problems), maxProblems)]
	for _, p := range shown {
		m.Problems = append(m.Problems, p.String())
	}
	m.More = len(problems) - len(shown)
}

// Mark says how far a browser is with each exercise, by name.
func (m *ExercisesModel) Mark(marks map[string]Mark) {
	for _, level := range m.Levels {
		for i := range level.Exercises {
			level.Exercises[i].Mark = marks[level.Exercises[i].Name]
		}
	}
}
