package grader_test

import (
	"testing"

	"redeliver/grader"
)

// BenchmarkGrade is a whole verdict of a source that was compiled before.
func BenchmarkGrade(b *testing.B) {
	e := chargeOnce(b)
	g := newGrader(b, 2)
	files := solution(b, e)
	for b.Loop() {
		v := grade(b, g, grader.Request{Exercise: e, Files: files})
		b.ReportMetric(float64(v.Timings.Load), "load-ms")
		b.ReportMetric(float64(v.Timings.Explore), "explore-ms")
	}
}
