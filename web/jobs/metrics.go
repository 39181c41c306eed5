package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"redeliver/grader/verdict"
	"redeliver/web/store/db"
)

// metrics is what a process tells about its gradings.
type metrics struct {
	outcomes *prometheus.CounterVec
	failures prometheus.Counter
	stages   *prometheus.HistogramVec
	running  prometheus.Gauge
}

// newMetrics registers with r, unless it is nil: then the figures are kept, and
// nobody reads them.
func newMetrics(q *Queue, r prometheus.Registerer) (metrics, error) {
	m := metrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "redeliver_gradings_total", Help: "Gradings that ended with a verdict, by outcome.",
		}, []string{"outcome"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "redeliver_grading_failures_total", Help: "Attempts at a grading that ended without a verdict. The fault is never a submission's.",
		}),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "redeliver_grading_stage_seconds", Help: "What a grading spent in each stage; queue is the wait before it, first_result and total are measured from its start.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2, 4, 8, 16, 32, 64},
		}, []string{"stage"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "redeliver_gradings_running", Help: "Gradings that this process has under way.",
		}),
	}
	for _, o := range []verdict.Outcome{verdict.Passed, verdict.Failed, verdict.Rejected, verdict.Inconclusive} {
		m.outcomes.WithLabelValues(string(o)) // a series that is not there yet cannot be watched for growing
	}
	if r == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.outcomes, m.failures, m.stages, m.running, unfinished{q}} {
		if err := r.Register(c); err != nil {
			return m, err
		}
	}
	return m, nil
}

// graded counts a verdict that was stored.
func (m metrics) graded(v verdict.Verdict) {
	m.outcomes.WithLabelValues(string(v.Outcome)).Inc()
	t := v.Timings
	for stage, ms := range map[string]int64{
		"queue": t.Queue, "check": t.Check, "build": t.Build, "load": t.Load,
		"explore": t.Explore, "first_result": t.FirstResult, "total": t.Total,
	} {
		m.stages.WithLabelValues(stage).Observe((time.Duration(ms) * time.Millisecond).Seconds())
	}
}

// unfinished counts the submissions without a verdict, in the database: it is one
// figure for all processes.
type unfinished struct{ q *Queue }

var unfinishedDesc = prometheus.NewDesc("redeliver_submissions_unfinished",
	"Submissions that wait or are being graded, in the whole installation.", nil, nil)

// Describe tells the name.
func (unfinished) Describe(ch chan<- *prometheus.Desc) { ch <- unfinishedDesc }

// Collect asks the database. When it does not answer, the figure is missing.
func (u unfinished) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	n, err := db.New(u.q.st.Read).CountQueued(ctx)
	if err != nil {
		u.q.cfg.Log.Warn("count unfinished submissions", slog.Any("error", err))
		return
	}
	ch <- prometheus.MustNewConstMetric(unfinishedDesc, prometheus.GaugeValue, float64(n))
}
