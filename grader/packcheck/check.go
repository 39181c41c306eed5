// Package packcheck proves that a pack does what it promises: its solutions
// pass, its starters and wrong handlers fail as expect.yaml says, two runs give
// one trace, and what candidates are told is what feedback.golden shows. The form
// of the files is the loader's business, in package exercises.
//
// What it does not show: whether the statement can be understood, whether there
// are right solutions that the invariants refuse, and wrong ones that nobody has
// thought of.
package packcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/verdict"
)

// Seed is what every sample is graded with. One seed is enough: it changes the
// values in the records, and the golden file needs them to stay.
const Seed = 1

// Judge is the grader.
type Judge interface {
	Grade(ctx context.Context, req grader.Request) (verdict.Verdict, error)
}

// Config says how to check.
type Config struct {
	Judge Judge
	// Dir is a folder for the databases in which queries are tried.
	Dir string
	// Workers is how many samples are graded at once, at least 1.
	Workers int
	// Exercise is the slug of the only exercise to check; "" for all.
	Exercise string
	// Samples are the only ones to grade, as the report writes them: "starter",
	// "wrong/naive". Empty: all, and only then is the feedback compared.
	Samples []string
	// Update writes the golden files below the pack instead of comparing with them.
	Update bool
	// Twice runs the wrong handlers a second time too. Without it only starter and
	// solutions run twice and their traces are compared: that a wrong handler's
	// findings repeat is seen from the golden file, which an earlier run has
	// written, and a second run of them all would double the time.
	Twice bool
	// Progress hears of each sample that has been graded, never twice at once. May
	// be nil.
	Progress func(done, total int, s Sample)
}

// NoExerciseError says that the pack has no exercise of that name.
type NoExerciseError struct{ Pack, Exercise string }

func (e *NoExerciseError) Error() string {
	return fmt.Sprintf("the pack %s has no exercise %s", e.Pack, e.Exercise)
}

// NoSampleError says that no exercise has a sample of that name.
type NoSampleError struct {
	Sample string
	Have   []string
}

func (e *NoSampleError) Error() string {
	return fmt.Sprintf("there is no sample %s; there are: %s", e.Sample, strings.Join(e.Have, ", "))
}

// Check checks the pack in a directory, whose form Load has found sound. What is
// wrong with the pack is in the report. An error is ours, or ctx has ended, or
// is a *NoExerciseError or a *NoSampleError.
func Check(ctx context.Context, cfg Config, dir string, pack *exercises.Pack) (Report, error) {
	start := time.Now()
	c := &checker{Config: cfg, dir: dir, pack: pack, report: Report{Pack: pack.ID, Version: pack.Version}}
	for _, e := range pack.Exercises {
		if cfg.Exercise == "" || cfg.Exercise == e.Slug {
			c.exercises = append(c.exercises, &exerciseCheck{Exercise: e, report: Exercise{Name: e.Name()}})
		}
	}
	if len(c.exercises) == 0 {
		return Report{}, &NoExerciseError{pack.ID, cfg.Exercise}
	}
	if err := c.missingSample(); err != nil {
		return Report{}, err
	}
	for _, e := range c.exercises {
		if err := c.checkQueries(ctx, e); err != nil {
			return Report{}, err
		}
	}
	if err := c.gradeAll(ctx, c.tasks()); err != nil {
		return Report{}, err
	}
	for _, e := range c.exercises {
		c.checkLeaks(e)
		e.checkPower()
		if len(c.Samples) > 0 {
			e.report.Feedback = e.feedback()
		} else if err := errors.Join(c.checkLimits(e), c.checkFeedback(e)); err != nil {
			return Report{}, err
		}
		c.report.Exercises = append(c.report.Exercises, e.report)
	}
	c.report.finish(time.Since(start))
	return c.report, nil
}

type checker struct {
	Config
	dir       string
	pack      *exercises.Pack
	exercises []*exerciseCheck
	report    Report
}

// exerciseCheck is one exercise under way. Its samples are the starter, the
// solutions and the wrong handlers, in this order.
type exerciseCheck struct {
	*exercises.Exercise
	report   Exercise
	verdicts []verdict.Verdict // of report.Samples
	most     int               // calls of one delivery of a solution; 0: not measured
}

// problem adds what is wrong with the exercise as a whole.
func (e *exerciseCheck) problem(format string, args ...any) {
	e.report.Problems = append(e.report.Problems, e.Name()+": "+fmt.Sprintf(format, args...))
}

// task is one sample to grade.
type task struct {
	exercise *exerciseCheck
	index    int
	files    []exercises.File
}

func (t task) sample() *Sample { return &t.exercise.report.Samples[t.index] }

func (c *checker) tasks() []task {
	var all []task
	for _, e := range c.exercises {
		if len(e.report.Problems) > 0 {
			continue // its queries do not work, so no grading would end
		}
		add := func(role Role, name string, files []exercises.File) {
			if !c.wants(role, name) {
				return
			}
			all = append(all, task{e, len(e.report.Samples), files})
			e.report.Samples = append(e.report.Samples, Sample{Exercise: e.Name(), Role: role, Name: name})
		}
		add(Starter, "", e.Starter)
		for _, s := range e.Solutions {
			add(Solution, s.Name, s.Files)
		}
		for _, s := range e.Wrong {
			add(Wrong, s.Name, s.Files)
		}
		e.verdicts = make([]verdict.Verdict, len(e.report.Samples))
	}
	return all
}

// wants says that a sample is to be graded.
func (c *checker) wants(role Role, name string) bool {
	return len(c.Samples) == 0 || slices.Contains(c.Samples, Sample{Role: role, Name: name}.short())
}

// missingSample makes sure that a misspelt name does not look like a success.
func (c *checker) missingSample() error {
	have := []string{string(Starter)}
	for _, e := range c.exercises {
		for _, s := range e.Solutions {
			have = append(have, Sample{Role: Solution, Name: s.Name}.short())
		}
		for _, s := range e.Wrong {
			have = append(have, Sample{Role: Wrong, Name: s.Name}.short())
		}
	}
	for _, name := range c.Samples {
		if !slices.Contains(have, name) {
			return &NoSampleError{name, have}
		}
	}
	return nil
}

// gradeAll grades every sample, some at once, and stops at the first error. With
// Update the solutions whose calls are counted come first: the limit that follows
// is for the others, too.
func (c *checker) gradeAll(ctx context.Context, tasks []task) error {
	var first, then []task
	for _, t := range tasks {
		if c.Update && t.exercise.Measured && t.sample().Role == Solution {
			first = append(first, t)
		} else {
			then = append(then, t)
		}
	}
	done := 0
	graded := func(t task) {
		done++
		if c.Progress != nil {
			c.Progress(done, len(tasks), *t.sample())
		}
	}
	if err := c.measured(func() error { return c.gradeSome(ctx, first, graded) }); err != nil {
		return err
	}
	return c.gradeSome(ctx, then, graded)
}

func (c *checker) gradeSome(ctx context.Context, tasks []task, graded func(task)) error {
	return Each(ctx, c.Workers, len(tasks), func(ctx context.Context, i int) error {
		return c.grade(ctx, tasks[i])
	}, func(i int) { graded(tasks[i]) })
}

// grade grades one sample and compares the verdict with what the pack says.
func (c *checker) grade(ctx context.Context, t task) error {
	sample := t.sample()
	req := grader.Request{Exercise: t.exercise.Exercise, Files: t.files, Seed: Seed}
	v, err := c.Judge.Grade(ctx, req)
	if err != nil {
		return fmt.Errorf("grade %s: %w", sample, err)
	}
	t.exercise.verdicts[t.index] = v
	sample.fill(v)
	if v.Outcome == verdict.Inconclusive {
		sample.problem("The grading was inconclusive: %s", v.Summary)
		return nil
	}
	switch sample.Role {
	case Starter:
		sample.checkStarter(v)
	case Solution:
		sample.checkSolution(v)
	case Wrong:
		sample.checkWrong(v, t.exercise.Expect[sample.Name])
	}
	if v.Outcome == verdict.Rejected || sample.Role == Wrong && !c.Twice {
		return nil
	}
	again, err := c.Judge.Grade(ctx, req)
	if err != nil {
		return fmt.Errorf("grade %s again: %w", sample, err)
	}
	if again.TraceHash != v.TraceHash {
		sample.problem("Two runs gave two traces: %s and %s.", v.TraceHash, again.TraceHash)
	}
	return nil
}

func (s *Sample) checkStarter(v verdict.Verdict) {
	switch v.Outcome {
	case verdict.Passed:
		s.problem("The starter passes: there is nothing to do.")
	case verdict.Rejected:
		s.problem("The starter does not compile: %s", v.Summary)
	default:
	}
}

func (s *Sample) checkSolution(v verdict.Verdict) {
	if v.Outcome != verdict.Passed {
		s.problem("The solution does not pass: %s", v.Summary)
	}
}

func (s *Sample) checkWrong(v verdict.Verdict, want exercises.Expected) {
	if v.Outcome == verdict.Passed {
		s.problem("The wrong handler passes.")
		return
	}
	for _, k := range want.Kinds {
		if !slices.Contains(s.Kinds, k) {
			s.problem("expect.yaml wants %s; found: %v.", k, s.Kinds)
		}
	}
	for _, k := range s.Kinds {
		if !slices.Contains(want.Kinds, k) && !slices.Contains(want.May, k) {
			s.problem("Found %s, which expect.yaml does not name.", k)
		}
	}
	for _, words := range want.Message {
		if !slices.ContainsFunc(v.Findings, func(f verdict.Finding) bool { return says(f, words) }) {
			s.problem("No message contains %q.", words)
		}
	}
}

// checkPower counts the wrong handlers that were rejected for the right reason.
func (e *exerciseCheck) checkPower() {
	for _, s := range e.report.Samples {
		if s.Role != Wrong {
			continue
		}
		e.report.Power.Of++
		if len(s.Problems) == 0 {
			e.report.Power.Rejected++
		}
	}
}
