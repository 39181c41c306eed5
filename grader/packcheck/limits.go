package packcheck

import (
	"fmt"
	"os"
	"path/filepath"

	"redeliver/exercises"
	"redeliver/grader/verdict"
)

// The limit of calls that exercise.yaml leaves out follows from the solutions: some
// times what the one with the most calls makes, and never so few that a right
// handler in another style, which tries again more often, would be stopped.
const (
	callsFactor = 2
	leastCalls  = 100 // ten attempts at about ten calls
	// measuringCalls is the limit while solutions are measured.
	measuringCalls = 10_000
)

// measured grades solutions with room for their calls, and sets the limit that
// follows for what is graded then.
func (c *checker) measured(grade func() error) error {
	var all []*exerciseCheck
	for _, e := range c.exercises {
		if c.Update && e.Measured {
			all = append(all, e)
		}
	}
	before := make([]*exercises.Exercise, len(all))
	for i, e := range all {
		before[i] = e.Exercise
		e.Exercise = e.withCalls(measuringCalls)
	}
	if err := grade(); err != nil {
		return err
	}
	for i, e := range all {
		e.Exercise = before[i]
		if e.countCalls() {
			e.Exercise = e.withCalls(e.calls())
		}
	}
	return nil
}

// withCalls is the exercise with another limit of calls.
func (e *exerciseCheck) withCalls(n int) *exercises.Exercise {
	other := *e.Exercise
	other.Limits.HostCalls = n
	return &other
}

// countCalls looks at the solutions. It is false where one of them does not pass:
// nobody knows how many calls it would make.
func (e *exerciseCheck) countCalls() bool {
	e.most = 0
	for _, s := range e.report.Samples {
		if s.Role != Solution {
			continue
		}
		if s.Outcome != verdict.Passed {
			return false
		}
		e.most = max(e.most, s.HostCalls)
	}
	return e.most > 0
}

// calls is the limit that follows from the solutions.
func (e *exerciseCheck) calls() int { return max(callsFactor*e.most, leastCalls) }

// checkLimits compares the limit of calls with limits.golden, or writes it.
func (c *checker) checkLimits(e *exerciseCheck) error {
	if !e.Measured || !e.countCalls() {
		return nil
	}
	if c.Update {
		text := fmt.Sprintf("# Twice the calls of the solution with the most in one delivery, at least %d. Written by `redeliver pack check --update`.\nhost_calls: %d\n", leastCalls, e.calls())
		if err := os.WriteFile(filepath.Join(c.dir, e.Slug, exercises.LimitsFile), []byte(text), 0o644); err != nil {
			return fmt.Errorf("update the golden file: %w", err)
		}
		return nil
	}
	switch recorded := e.Limits.HostCalls; recorded {
	case e.calls():
	case 0:
		e.problem("limits.host_calls is left out and %s is missing: write it with --update.", exercises.LimitsFile)
	default:
		e.problem("%s allows %d calls in one delivery; a solution makes %d, so it should be %d. --update writes that; then raise the version of the exercise.",
			exercises.LimitsFile, recorded, e.most, e.calls())
	}
	return nil
}
