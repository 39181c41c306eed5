package grader_test

import (
	"os"
	"runtime"
	"slices"
	"testing"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/schedule"
)

// The same submission gives the same trace hash however often, with however
// many workers and processors; and a grading leaves no goroutine, no file
// descriptor and no file.
func TestRepetition(t *testing.T) { //nolint:paralleltest // it sets GOMAXPROCS and counts goroutines
	e := chargeOnce(t)
	dir, graders := repeatedly(t)
	// Ten of a hundred gradings run all phases, the others those with the cheapest
	// schedules: what a grading leaves behind does not depend on their number. With
	// -whole all gradings run all phases.
	quick := *e
	quick.Phases = []string{schedule.Redelivery}
	asked := []*exercises.Exercise{&quick, e}
	sources := [][]exercises.File{e.Starter, solution(t, e)}
	for _, s := range []exercises.Sample{e.Solutions[1], e.Wrong[0], e.Wrong[1]} {
		sources = append(sources, s.Files)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	hashes := map[int][]string{}
	goroutines, files := 0, 0
	for i := range *gradings {
		runtime.GOMAXPROCS([]int{1, 4, 2}[i%3])
		n := i % len(sources)
		full := 0
		if *whole || i%100 < 2*len(sources) { // each once with one worker, once with four
			full = 1
		}
		v := grade(t, graders[[]int{1, 4}[i/len(sources)%2]], grader.Request{Exercise: asked[full], Files: sources[n]})
		n += len(sources) * full
		if !slices.Contains(hashes[n], v.TraceHash) {
			hashes[n] = append(hashes[n], v.TraceHash)
		}
		if i == 2*len(sources) { // the library's own long-lived goroutines have started
			goroutines, files = settled(), openFiles(t)
		}
	}
	for n, all := range hashes {
		if len(all) != 1 {
			t.Errorf("submission %d has %d trace hashes: %v", n, len(all), all)
		}
	}
	if after := settled(); after > goroutines {
		t.Errorf("%d goroutines after the first gradings, %d after %d", goroutines, after, *gradings)
	}
	if after := openFiles(t); after > files {
		t.Errorf("%d open files after the first gradings, %d after %d", files, after, *gradings)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

// repeatedly is the folder of graders with one and with four workers.
func repeatedly(t *testing.T) (dir string, graders map[int]*grader.Grader) {
	t.Helper()
	dir, graders = t.TempDir(), map[int]*grader.Grader{}
	for _, workers := range []int{1, 4} {
		g, err := grader.New(grader.Config{Dir: dir, Workers: workers}, compiler)
		if err != nil {
			t.Fatal(err)
		}
		graders[workers] = g
	}
	return dir, graders
}

// settled is the number of goroutines once it stops falling: kgo's and kfake's
// end a moment after Close has returned.
func settled() int {
	least := runtime.NumGoroutine()
	for quiet := 0; quiet < 1000; quiet++ {
		runtime.Gosched()
		runtime.GC()
		if n := runtime.NumGoroutine(); n < least {
			least, quiet = n, 0
		}
		if quiet > 20 {
			break
		}
	}
	return least
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("open files can be counted on Linux only")
	}
	return len(entries)
}
