//go:build linux

package grader_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/build/buildtest"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

// The benchmarks compare within one run: what is compared takes turns, so that a
// machine that is busy for a while slows both. Each reports medians, of wall time
// and of processor time (ours and of the processes that we start), in
// milliseconds. Linux only, for getrusage.

// BenchmarkVerdict compares the whole verdict of core/charge-once, for a right
// and for the naive handler, with "go build" of the same program and with
// "go test" of the same handler and one crash. Every source is new to all caches.
func BenchmarkVerdict(b *testing.B) {
	e := chargeOnce(b)
	g := newGrader(b, 0)
	right, naive := source(b, solution(b, e)), source(b, e.Starter)
	workspace := buildtest.GoBuild(b, buildtest.Handler, right)
	native := newNativeTest(b)
	native.run(b, unseen(b, right)) // fills the go command's cache
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
		s.stages(v)
		s.add("schedules", float64(v.Schedules))
		tested := measure(func() { native.run(b, src) })
		s.cost("go-test", tested)
		s.ratio("verdict/go-test", graded, tested)

		src = unseen(b, naive)
		graded = measure(func() { v = grade(b, g, requestOf(e, src)) })
		if v.Outcome != verdict.Failed {
			b.Fatal(v.Outcome, v.Summary)
		}
		s.cost("naive-verdict", graded)
		s.ratio("naive-verdict/go-build", graded, build)
		s.add("first-result-ms", float64(v.Timings.FirstResult))
		s.add("first-result/go-build", float64(v.Timings.FirstResult)/milliseconds(build.wall))
	}
	s.report(b)
}

// BenchmarkExplore is the part of a verdict that runs schedules, of a right
// handler that was compiled before: how many a second, and for how much
// processor time. One worker: with several, phases overlap, and their processor
// time could not be told apart.
func BenchmarkExplore(b *testing.B) {
	e := chargeOnce(b)
	g := newGrader(b, 1)
	req := requestOf(e, source(b, solution(b, e)))
	grade(b, g, req)
	s := samples{}
	for b.Loop() {
		s.explored(b, g, req)
	}
	s.report(b)
}

// BenchmarkGrowth grades right handlers of 4 to 32 effects, the offset commit
// not counted, with one worker.
func BenchmarkGrowth(b *testing.B) {
	e := chargeOnce(b)
	g := newGrader(b, 1)
	for _, effects := range []int{4, 8, 16, 32} {
		b.Run("effects="+strconv.Itoa(effects), func(b *testing.B) {
			req := requestOf(e, handlerOf(effects))
			if v := grade(b, g, req); v.Outcome != verdict.Passed {
				b.Fatal(v.Outcome, v.Summary)
			}
			s := samples{}
			for b.Loop() {
				s.explored(b, g, req)
			}
			s.report(b)
		})
	}
}

// BenchmarkMemory is the peak of resident memory of "redeliver grade" as a
// process of its own: of a source that it must compile, the largest of
// redeliver, compiler and linker, and of one that was compiled before,
// redeliver alone.
func BenchmarkMemory(b *testing.B) {
	e := chargeOnce(b)
	right := source(b, solution(b, e))
	dir := b.TempDir()
	program := filepath.Join(dir, "redeliver")
	command(b, repository(b), "go", "build", "-tags", "synctests", "-o", program, ".")
	consumer, ok := exercises.Open(exercises.Builtin(), nil).Exercise("core/commit-order")
	if !ok {
		b.Fatal("core/commit-order is missing")
	}
	shared, err := buildtest.Dir()
	if err != nil {
		b.Fatal(err)
	}
	s := samples{}
	for b.Loop() {
		submission := filepath.Join(b.TempDir(), "handler.go")
		if err := os.WriteFile(submission, []byte(unseen(b, right)), 0o600); err != nil {
			b.Fatal(err)
		}
		for _, name := range []string{"peak-with-compiler-MB", "peak-MB"} {
			p := command(b, dir, program, "grade", "--cache", shared, e.Name(), submission)
			s.add(name, float64(p.SysUsage().(*syscall.Rusage).Maxrss)/1024) // Linux counts kilobytes
		}
		if err := os.WriteFile(submission, []byte(unseen(b, source(b, consumer.Solutions[0].Files))), 0o600); err != nil {
			b.Fatal(err)
		}
		for _, name := range []string{"consumer-with-compiler-MB", "consumer-peak-MB"} {
			p := command(b, dir, program, "grade", "--cache", shared, consumer.Name(), submission)
			s.add(name, float64(p.SysUsage().(*syscall.Rusage).Maxrss)/1024)
		}
	}
	s.report(b)
}

// classes of phases whose time grows alike with the number n of effects: about n
// schedules, as many as there are classes of interleavings, about n² up to a
// bound, a few.
var classes = map[string][]string{
	"one-fault":     {schedule.CrashPoints, schedule.Zombie, schedule.TransientErrors, schedule.LostReplies, schedule.TwoRecords},
	"interleavings": {schedule.Interleavings},
	"two-faults":    {schedule.DoubleCrash, schedule.CrashAndInterleave},
	"random":        {schedule.Random},
	"few":           {schedule.HappyPath, schedule.Redelivery, schedule.ProducerDuplicate, schedule.ClockJumps, schedule.RewindPhase, schedule.Cluster},
}

func classOf(phase string) string {
	for class, phases := range classes {
		if slices.Contains(phases, phase) {
			return class
		}
	}
	return "other"
}

// cost is what something took.
type cost struct{ wall, cpu time.Duration }

func measure(f func()) cost {
	start, before := time.Now(), processorTime()
	f()
	return cost{time.Since(start), processorTime() - before}
}

// processorTime is what this process and the ended ones that it started have used.
func processorTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			panic(err) // both are always there
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// samples are the values of each metric, one for each turn.
type samples map[string][]float64

func (s samples) add(name string, v float64) { s[name] = append(s[name], v) }

func (s samples) cost(name string, c cost) {
	s.add(name+"-ms", milliseconds(c.wall))
	s.add(name+"-cpu-ms", milliseconds(c.cpu))
}

func (s samples) ratio(name string, a, b cost) {
	s.add(name, float64(a.wall)/float64(b.wall))
	s.add(name+"-cpu", float64(a.cpu)/float64(b.cpu))
}

func (s samples) stages(v verdict.Verdict) {
	for name, ms := range map[string]int64{
		"check": v.Timings.Check, "build": v.Timings.Build, "load": v.Timings.Load, "explore": v.Timings.Explore,
	} {
		s.add(name+"-ms", float64(ms))
	}
}

// explored grades once and adds the processor time of each class of phases.
func (s samples) explored(b *testing.B, g *grader.Grader, req grader.Request) {
	b.Helper()
	spent := map[string]time.Duration{}
	count := map[string]int{}
	var last time.Duration
	start := time.Now()
	req.Progress = func(p grader.Progress) {
		switch {
		case p.Coverage != nil:
			now := processorTime()
			class := classOf(p.Coverage.Phase)
			spent[class] += now - last
			count[class] += p.Coverage.Schedules
			last = now
		case p.Stage == grader.Exploring:
			start, last = time.Now(), processorTime()
		}
	}
	v := grade(b, g, req)
	wall := time.Since(start)
	if v.Outcome != verdict.Passed {
		b.Fatal(v.Outcome, v.Summary)
	}
	var sum time.Duration
	for class, d := range spent {
		s.add(class+"-cpu-ms", milliseconds(d))
		s.add(class+"-schedules", float64(count[class]))
		sum += d
	}
	s.add("schedules", float64(v.Schedules))
	s.add("explore-ms", milliseconds(wall))
	s.add("explore-cpu-ms", milliseconds(sum))
	s.add("schedules/cpu-s", float64(v.Schedules)/sum.Seconds())
}

// report hands the medians to the benchmark, without the mean that it takes itself.
func (s samples) report(b *testing.B) {
	b.Helper()
	for name, values := range s {
		slices.Sort(values)
		n := len(values)
		b.ReportMetric((values[(n-1)/2]+values[n/2])/2, name)
	}
	b.ReportMetric(0, "ns/op")
}

func requestOf(e *exercises.Exercise, src string) grader.Request {
	return grader.Request{Exercise: e, Files: []exercises.File{{Name: "handler.go", Content: []byte(src)}}}
}

func source(b *testing.B, files []exercises.File) string {
	b.Helper()
	if len(files) != 1 {
		b.Fatalf("%d files", len(files))
	}
	return string(files[0].Content)
}

// unseen changes a text of a program: a comment alone would give an archive that
// the go command has linked before.
func unseen(b *testing.B, src string) string {
	b.Helper()
	changed := strings.Replace(src, "decode payment: ", fmt.Sprintf("decode payment (%d): ", time.Now().UnixNano()), 1)
	if changed == src {
		b.Fatal("the program has no text to change")
	}
	return changed
}

// handlerOf is a right handler with that many effects: BEGIN, a charge that is
// made once, the debit, COMMIT, and between them reads and writes in turn.
func handlerOf(effects int) string {
	var body strings.Builder
	for i := range effects - 4 {
		if i%2 == 0 {
			body.WriteString("\tif err := tx.QueryRowContext(ctx, `SELECT balance FROM accounts WHERE id = ?`, p.Account).Scan(&balance); err != nil {\n\t\treturn err\n\t}\n")
		} else {
			body.WriteString("\tif _, err := tx.ExecContext(ctx, `UPDATE accounts SET balance = balance + 0 WHERE id = ?`, p.Account); err != nil {\n\t\treturn err\n\t}\n")
		}
	}
	return strings.Replace(growing, "\t// more\n", body.String(), 1)
}

const growing = `package handler

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/twmb/franz-go/pkg/kgo"
)

type payment struct {
	ID      string ` + "`json:\"payment_id\"`" + `
	Account string ` + "`json:\"account\"`" + `
	Amount  int64  ` + "`json:\"amount\"`" + `
}

func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error {
	var p payment
	if err := json.Unmarshal(rec.Value, &p); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	res, err := tx.ExecContext(ctx, "INSERT INTO charges (payment_id, account, amount) SELECT :id, :account, :amount WHERE NOT EXISTS (SELECT 1 FROM charges WHERE payment_id = :id)",
		sql.Named("id", p.ID), sql.Named("account", p.Account), sql.Named("amount", p.Amount))
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	var balance int64
	_ = balance
	// more
	if _, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance - ? WHERE id = ?", p.Amount, p.Account); err != nil {
		return err
	}
	return tx.Commit()
}
`

// nativeTest runs testdata/native with a submission laid over it.
type nativeTest struct{ handler, overlay, dir string }

func newNativeTest(b *testing.B) nativeTest {
	b.Helper()
	tmp := b.TempDir()
	n := nativeTest{handler: filepath.Join(tmp, "handler.go"), overlay: filepath.Join(tmp, "overlay.json"), dir: repository(b)}
	overlay, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(n.dir, "grader", "testdata", "native", "handler.go"): n.handler},
	})
	if err := errors.Join(err, os.WriteFile(n.overlay, overlay, 0o600)); err != nil {
		b.Fatal(err)
	}
	return n
}

func (n nativeTest) run(b *testing.B, src string) {
	b.Helper()
	if err := os.WriteFile(n.handler, []byte(src), 0o600); err != nil {
		b.Fatal(err)
	}
	command(b, n.dir, "go", "test", "-count=1", "-overlay", n.overlay, "./grader/testdata/native")
}

// repository is the folder of the module; a test runs in its package's.
func repository(b *testing.B) string {
	b.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

func command(b *testing.B, dir, name string, args ...string) *os.ProcessState {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return cmd.ProcessState
}
