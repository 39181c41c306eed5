//go:build linux && synctests && !realtime

package grader_test

import (
	"slices"
	"testing"

	"redeliver/exercises"
	"redeliver/grader/build/buildtest"
	"redeliver/grader/verdict"
)

// BenchmarkConsumer is BenchmarkVerdict for core/commit-order, in which the submission
// polls and commits by itself.
func BenchmarkConsumer(b *testing.B) {
	e, ok := exercises.Open(exercises.Builtin(), nil).Exercise("core/commit-order")
	if !ok {
		b.Fatal("core/commit-order is missing")
	}
	g := newGrader(b, 0)
	i := slices.IndexFunc(e.Solutions, func(s exercises.Sample) bool { return s.Name == "commit-after-the-batch" })
	right, naive := source(b, e.Solutions[i].Files), source(b, e.Starter)
	workspace := buildtest.GoBuild(b, buildtest.Consumer, right)
	s := samples{}
	for b.Loop() {
		src := unseen(b, right)
		build := measure(func() { workspace.Build(b, src) })
		s.cost("go-build", build)
		var v verdict.Verdict
		graded := measure(func() { v = grade(b, g, requestOf(e, src)) })
		if v.Outcome != verdict.Passed {
			b.Fatal(v.Outcome, v.Summary)
		}
		s.cost("verdict", graded)
		s.ratio("verdict/go-build", graded, build)
		s.add("schedules", float64(v.Schedules))

		src = unseen(b, naive)
		graded = measure(func() { v = grade(b, g, requestOf(e, src)) })
		if v.Outcome != verdict.Failed {
			b.Fatal(v.Outcome, v.Summary)
		}
		s.cost("naive-verdict", graded)
		s.add("first-result-ms", float64(v.Timings.FirstResult))
		s.add("first-result/go-build", float64(v.Timings.FirstResult)/milliseconds(build.wall))
	}
	s.report(b)
}
