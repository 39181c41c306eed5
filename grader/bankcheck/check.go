// Package bankcheck proves that the question bank does what it promises: every
// text is there in every language, what questions and exercises name of each other
// exists, and each claim that can be watched fails when its handler is run. The
// form of the files is package content's business, the packs' is packcheck's.
//
// What it does not show: whether an answer is right, and whether the handler of a
// claim fails for the reason that the text gives. The texts name their sources.
package bankcheck

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"redeliver/content"
	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/packcheck"
	"redeliver/grader/verdict"
)

// Config says how to check.
type Config struct {
	Catalog *exercises.Catalog
	// Judge runs the handlers of the claims; nil: none is run.
	Judge packcheck.Judge
	// Workers is how many handlers are graded at once, at least 1.
	Workers int
	// Progress hears of each handler that has been graded, never twice at once. May
	// be nil.
	Progress func(done, total int, r Run)
}

// Run is a handler that claims refer to, after it was graded.
type Run struct {
	Exercise string          `json:"exercise"`        // pack/slug
	Wrong    string          `json:"wrong,omitempty"` // "": the starter
	Claims   []string        `json:"claims"`          // question/pitfall
	Outcome  verdict.Outcome `json:"outcome"`
	Summary  string          `json:"summary"`

	files []exercises.File
	of    *exercises.Exercise
}

// String names the handler: "core/charge-once wrong/seen-in-memory".
func (r Run) String() string {
	if r.Wrong == "" {
		return r.Exercise + " starter"
	}
	return r.Exercise + " wrong/" + r.Wrong
}

// Report is what a check has found.
type Report struct {
	Passed    bool     `json:"passed"`
	Summary   string   `json:"summary"` // one line, for logs
	Seconds   float64  `json:"seconds"`
	Questions int      `json:"questions"`
	Pitfalls  int      `json:"pitfalls"`
	Watchable int      `json:"watchable"` // pitfalls that name a run
	Runs      []Run    `json:"runs"`
	Problems  []string `json:"problems"`

	inconclusive bool
}

// Inconclusive says that a grading could not find out.
func (r Report) Inconclusive() bool { return r.inconclusive }

// Broken is the report on a bank that cannot be used.
func Broken(problems content.Problems) Report {
	r := Report{Runs: []Run{}, Problems: strings.Split(problems.String(), "\n")}
	r.Summary = fmt.Sprintf("FAIL content: %s, nothing was run", packcheck.Count(len(problems), "problem"))
	return r
}

// Check checks a bank whose form Load has found sound. What is wrong with it is in
// the report. An error is ours, or ctx has ended.
func Check(ctx context.Context, cfg Config, bank *content.Bank) (Report, error) {
	start := time.Now()
	r := Report{Runs: []Run{}, Problems: []string{}}
	for _, p := range bank.CheckExercises(func(name, wrong string) bool {
		e, ok := cfg.Catalog.Exercise(name)
		if !ok || e.Visibility != "public" {
			return false // readers would follow a link to nothing
		}
		_, ok = e.Failing(wrong)
		return ok
	}) {
		r.Problems = append(r.Problems, p.String())
	}
	r.Problems = append(r.Problems, unknownQuestions(cfg.Catalog, bank)...)
	r.collect(cfg.Catalog, bank)
	if cfg.Judge != nil {
		if err := r.runAll(ctx, cfg); err != nil {
			return Report{}, err
		}
	}
	r.finish(cfg.Judge != nil, time.Since(start))
	return r, nil
}

// unknownQuestions is the other direction: exercises name questions too.
func unknownQuestions(catalog *exercises.Catalog, bank *content.Bank) []string {
	var problems []string
	for _, e := range catalog.Public() {
		for _, slug := range e.Questions {
			if _, ok := bank.Question(slug); !ok {
				problems = append(problems, fmt.Sprintf("The exercise %s names the question %s, which is not there.", e.Name(), slug))
			}
		}
	}
	return problems
}

// collect lists the handlers that claims refer to, each once.
func (r *Report) collect(catalog *exercises.Catalog, bank *content.Bank) {
	for _, q := range bank.All() {
		r.Questions++
		for _, p := range q.Text["en"].Pitfalls {
			r.Pitfalls++
			if p.Run == nil {
				continue
			}
			r.Watchable++
			e, ok := catalog.Exercise(p.Run.Exercise)
			if !ok {
				continue
			}
			files, ok := e.Failing(p.Run.Wrong)
			if !ok {
				continue
			}
			claim := q.Slug + "/" + p.ID
			if i := slices.IndexFunc(r.Runs, func(o Run) bool { return o.Exercise == p.Run.Exercise && o.Wrong == p.Run.Wrong }); i >= 0 {
				r.Runs[i].Claims = append(r.Runs[i].Claims, claim)
				continue
			}
			r.Runs = append(r.Runs, Run{Exercise: p.Run.Exercise, Wrong: p.Run.Wrong, Claims: []string{claim}, files: files, of: e})
		}
	}
}

// runAll grades every handler, some at once, and stops at the first error.
func (r *Report) runAll(ctx context.Context, cfg Config) error {
	done := 0
	return packcheck.Each(ctx, cfg.Workers, len(r.Runs), func(ctx context.Context, i int) error {
		return r.Runs[i].grade(ctx, cfg.Judge)
	}, func(i int) {
		done++
		if cfg.Progress != nil {
			cfg.Progress(done, len(r.Runs), r.Runs[i])
		}
	})
}

func (run *Run) grade(ctx context.Context, judge packcheck.Judge) error {
	v, err := judge.Grade(ctx, grader.Request{Exercise: run.of, Files: run.files, Seed: packcheck.Seed})
	if err != nil {
		return fmt.Errorf("grade %s: %w", run, err)
	}
	run.Outcome, run.Summary = v.Outcome, v.Summary
	return nil
}

// finish judges what the runs showed: a claim whose handler does not fail is not
// refuted by it.
func (r *Report) finish(ran bool, took time.Duration) {
	failed := 0
	for _, run := range r.Runs {
		switch {
		case !ran:
		case run.Outcome == verdict.Failed:
			failed++
		case run.Outcome == verdict.Inconclusive:
			r.inconclusive = true
			r.Problems = append(r.Problems, fmt.Sprintf("%s: The grading was inconclusive: %s", run, run.Summary))
		default:
			r.Problems = append(r.Problems, fmt.Sprintf("%s: It %s, so it refutes nothing of %s. %s", run, run.Outcome, strings.Join(run.Claims, ", "), run.Summary))
		}
	}
	r.Seconds, r.Passed = float64(took.Milliseconds())/1000, len(r.Problems) == 0
	word := "ok"
	if !r.Passed {
		word = "FAIL"
	}
	runs := fmt.Sprintf("%d of %d handlers fail", failed, len(r.Runs))
	if !ran {
		runs = fmt.Sprintf("%s not run", packcheck.Count(len(r.Runs), "handler"))
	}
	r.Summary = fmt.Sprintf("%s content: %s, %s, %d of them to watch, %s, %s, %.0f s", word,
		packcheck.Count(r.Questions, "question"), packcheck.Count(r.Pitfalls, "pitfall"), r.Watchable, runs, packcheck.Count(len(r.Problems), "problem"), r.Seconds)
}
