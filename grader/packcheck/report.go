package packcheck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redeliver/grader/verdict"
)

// Report is what a check of a pack has found.
type Report struct {
	Pack    string  `json:"pack"`
	Version string  `json:"version"`
	Passed  bool    `json:"passed"`
	Summary string  `json:"summary"` // one line, for logs
	Seconds float64 `json:"seconds"`
	// Form is what is wrong with the files; nothing is graded then.
	Form      []string   `json:"form,omitempty"`
	Exercises []Exercise `json:"exercises"`
}

// Exercise is what was found in one exercise.
type Exercise struct {
	Name     string   `json:"name"` // pack/slug
	Power    Power    `json:"power"`
	Samples  []Sample `json:"samples"`
	Problems []string `json:"problems"` // of the exercise as a whole; Samples have their own
	// Feedback is what candidates are told, where only some samples were graded.
	Feedback string `json:"feedback,omitempty"`
}

// Power says how many of the wrong handlers are rejected for the reason that
// expect.yaml gives.
type Power struct {
	Rejected int `json:"rejected"`
	Of       int `json:"of"`
}

// Role says what a sample is there for.
type Role string

// The roles.
const (
	Starter  Role = "starter"
	Solution Role = "solution"
	Wrong    Role = "wrong"
)

// Sample is a submission that comes with an exercise, after it was graded.
type Sample struct {
	Exercise string          `json:"exercise"`
	Role     Role            `json:"role"`
	Name     string          `json:"name,omitempty"` // a starter has none
	Outcome  verdict.Outcome `json:"outcome"`
	Summary  string          `json:"summary"`
	Kinds    []string        `json:"kinds"` // of the findings, each once
	// Phases are those that ran, in their order; Failed those that found something.
	Phases       []string `json:"phases"`
	Failed       []string `json:"failed"`
	Schedules    int      `json:"schedules"`
	HostCalls    int      `json:"host_calls"`   // the most in one delivery
	Milliseconds int64    `json:"milliseconds"` // of the first run
	Problems     []string `json:"problems"`
}

// String names the sample: "core/charge-once wrong/naive".
func (s Sample) String() string {
	return s.Exercise + " " + s.short()
}

// short names the sample inside its exercise: "wrong/naive", "starter".
func (s Sample) short() string {
	if s.Name == "" {
		return string(s.Role)
	}
	return string(s.Role) + "/" + s.Name
}

// Line is the sample in one line, as a check under way prints it.
func (s Sample) Line() string {
	line := fmt.Sprintf("%s: %s", s, s.Outcome)
	if len(s.Kinds) > 0 {
		line += " (" + strings.Join(s.Kinds, ", ") + ")"
	}
	line += fmt.Sprintf(", %.1f s", float64(s.Milliseconds)/1000)
	return strings.Join(append([]string{line}, s.Problems...), "\n    ")
}

func (s *Sample) problem(format string, args ...any) {
	s.Problems = append(s.Problems, fmt.Sprintf(format, args...))
}

func (s *Sample) fill(v verdict.Verdict) {
	s.Outcome, s.Summary, s.Schedules, s.HostCalls, s.Milliseconds = v.Outcome, v.Summary, v.Schedules, v.HostCalls, v.Timings.Total
	for _, f := range v.Findings {
		if !slices.Contains(s.Kinds, string(f.Kind)) {
			s.Kinds = append(s.Kinds, string(f.Kind))
		}
	}
	slices.Sort(s.Kinds)
	for _, c := range v.Coverage {
		phase := c.Phase
		if c.Database != "" {
			phase += " on " + c.Database
		}
		s.Phases = append(s.Phases, phase)
		if c.Failed > 0 {
			s.Failed = append(s.Failed, phase)
		}
	}
}

// Problems lists everything that is wrong, each with the exercise it is in.
func (r Report) Problems() []string {
	all := slices.Clone(r.Form)
	for _, e := range r.Exercises {
		all = append(all, e.Problems...)
		for _, s := range e.Samples {
			for _, p := range s.Problems {
				all = append(all, s.String()+": "+p)
			}
		}
	}
	return all
}

// Inconclusive says that a grading could not find out: a failure of ours, or a
// handler that does not repeat.
func (r Report) Inconclusive() bool {
	for _, e := range r.Exercises {
		for _, s := range e.Samples {
			if s.Outcome == verdict.Inconclusive {
				return true
			}
		}
	}
	return false
}

func (r *Report) finish(took time.Duration) {
	r.Seconds = float64(took.Milliseconds()) / 1000
	problems, passing, solutions := len(r.Problems()), 0, 0
	var power Power
	for _, e := range r.Exercises {
		power.Rejected += e.Power.Rejected
		power.Of += e.Power.Of
		for _, s := range e.Samples {
			if s.Role != Solution {
				continue
			}
			solutions++
			if s.Outcome == verdict.Passed {
				passing++
			}
		}
	}
	r.Passed = problems == 0
	word := "ok"
	if !r.Passed {
		word = "FAIL"
	}
	if len(r.Form) > 0 {
		r.Summary = fmt.Sprintf("FAIL %s: %s, nothing was graded", r.Pack, Count(problems, "problem"))
		return
	}
	r.Summary = fmt.Sprintf("%s %s %s: %s, %d of %d solutions pass, rejects %d of %d, %s, %.0f s", word, r.Pack, r.Version,
		Count(len(r.Exercises), "exercise"), passing, solutions, power.Rejected, power.Of, Count(problems, "problem"), r.Seconds)
}

// Text is the report for a terminal: for each exercise the matrix of wrong
// handlers and phases, then the problems, and the summary as the last line.
func (r Report) Text() string {
	var b strings.Builder
	for _, e := range r.Exercises {
		e.text(&b)
	}
	for i, p := range r.Problems() {
		if i == 0 {
			b.WriteString("Problems\n")
		}
		fmt.Fprintf(&b, "  %s\n", p)
	}
	fmt.Fprintf(&b, "%s\n", r.Summary)
	return b.String()
}

func (e Exercise) text(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n", e.Name)
	for _, s := range e.Samples {
		if s.Role != Wrong {
			fmt.Fprintf(b, "  %-40s %-8s %4d schedules %3d calls in a delivery %6.1f s\n",
				s.short(), s.Outcome, s.Schedules, s.HostCalls, float64(s.Milliseconds)/1000)
		}
	}
	e.matrix(b)
	fmt.Fprintf(b, "  rejects %d of %d\n\n", e.Power.Rejected, e.Power.Of)
	if e.Feedback != "" {
		fmt.Fprintf(b, "%s\n", e.Feedback)
	}
}

// matrix shows which phase catches which wrong handler: x found something, . ran
// and did not, a blank did not run.
func (e Exercise) matrix(b *strings.Builder) {
	phases := e.phases()
	fmt.Fprintf(b, "  %-40s ", "which phase catches")
	for i := range phases {
		fmt.Fprintf(b, "%3d", i+1)
	}
	b.WriteByte('\n')
	for _, s := range e.Samples {
		if s.Role != Wrong {
			continue
		}
		fmt.Fprintf(b, "  %-40s ", s.short())
		for _, p := range phases {
			mark := " "
			switch {
			case slices.Contains(s.Failed, p):
				mark = "x"
			case slices.Contains(s.Phases, p):
				mark = "."
			}
			fmt.Fprintf(b, "%3s", mark)
		}
		fmt.Fprintf(b, "  %s\n", strings.Join(s.Kinds, ", "))
	}
	for i, p := range phases {
		fmt.Fprintf(b, "  %3d %s\n", i+1, p)
	}
}

// phases lists those that ran for any sample, in the order of the grader. A
// handler that does not get through one record undisturbed has one phase only.
func (e Exercise) phases() []string {
	var longest []string
	for _, s := range e.Samples {
		if len(s.Phases) > len(longest) {
			longest = s.Phases
		}
	}
	return longest
}
