//go:build synctests && !realtime

package grader_test

import (
	"os"
	"runtime"
	"slices"
	"testing"

	"redeliver/grader"
)

// A program that makes its Kafka clients itself gives the same trace hash however often
// it is graded, with however many workers and processors, and leaves no goroutine, no
// file descriptor and no file. With -whole that is tried for every such program of
// testdata/power, and each is graded as often as -gradings says; otherwise for one of
// each exercise, a tenth as often.
func TestRepetitionOfClients(t *testing.T) { //nolint:paralleltest // it sets GOMAXPROCS and counts goroutines
	programs, times := clientPrograms(t), *gradings
	if !*whole {
		programs, times = firstOfEach(programs), max(2, *gradings/10)
	}
	dir, graders := repeatedly(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	goroutines, files := 0, 0
	for n, p := range programs {
		var hashes []string
		for i := range times {
			runtime.GOMAXPROCS([]int{1, 4, 2}[i%3])
			v := grade(t, graders[[]int{1, 4}[i%2]], grader.Request{Exercise: p.exercise, Files: p.files})
			if i == 0 {
				p.judge(t, v)
			}
			if !slices.Contains(hashes, v.TraceHash) {
				hashes = append(hashes, v.TraceHash)
			}
		}
		if len(hashes) != 1 {
			t.Errorf("%s has %d trace hashes in %d gradings: %v", p.name, len(hashes), times, hashes)
		}
		if n == 0 { // the library's own long-lived goroutines have started
			goroutines, files = settled(), openFiles(t)
		}
		if after := settled(); after > goroutines {
			t.Fatalf("%d goroutines before %s, %d after %d gradings of it", goroutines, p.name, after, times)
		}
		if after := openFiles(t); after > files {
			t.Fatalf("%d open files before %s, %d after %d gradings of it", files, p.name, after, times)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
	t.Logf("%d programs, each graded %d times", len(programs), times)
}

// clientPrograms are those of the power set that make their Kafka clients.
func clientPrograms(t *testing.T) []powerHandler {
	t.Helper()
	return slices.DeleteFunc(powerHandlers(t), func(h powerHandler) bool { return !h.exercise.MakesClients() })
}

// firstOfEach keeps a program of each exercise, a right one and a wrong one in turn.
func firstOfEach(all []powerHandler) (kept []powerHandler) {
	seen := map[string]bool{}
	for _, h := range all {
		if right := len(seen)%2 == 0; !seen[h.exercise.Slug] && h.right == right {
			seen[h.exercise.Slug] = true
			kept = append(kept, h)
		}
	}
	return kept
}
