package main

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"redeliver/exercises"
)

// What is asked of the pages beside a running grading.
const (
	pagesPerSecond = 200
	pagesFor       = 15 * time.Second
)

// BenchmarkPages measures how long pages take at 200 requests a second while one
// grading follows the other on the same machine. A request begins when it is due, not
// when the one before is answered, so a server that stands still is seen to. It reports
// milliseconds.
func BenchmarkPages(b *testing.B) {
	data := b.TempDir()
	if err := os.Symlink(compilerCache(b), filepath.Join(data, "build")); err != nil {
		b.Fatal(err)
	}
	s := startServer(b, data)
	exercise, _ := exercises.Open(exercises.Builtin(), nil).Exercise("core/charge-once")
	source := exercise.Solutions[0].Files[0].Content
	stop, gradings := make(chan struct{}), make(chan int, 1)
	go func() {
		n := 0
		defer func() { gradings <- n }()
		for {
			select {
			case <-stop:
				return
			default:
			}
			jar, _ := cookiejar.New(nil) // never an error without options
			v := &visitor{Client: http.Client{Jar: jar}}
			v.submit(b, s.base, "core/charge-once", fmt.Sprintf("%s\n// submission %d\n", source, n))
			waitForVerdict(b, v, s.base)
			n++
		}
	}()
	var took []time.Duration
	for b.Loop() {
		took = append(took, askPages(b, s.base)...)
	}
	close(stop)
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	b.ReportMetric(ms(took[len(took)/2]), "median-ms")
	b.ReportMetric(ms(took[len(took)*99/100]), "p99-ms")
	b.ReportMetric(ms(took[len(took)-1]), "max-ms")
	b.ReportMetric(float64(len(took)), "requests")
	b.ReportMetric(float64(<-gradings), "gradings")
}

// askPages asks for pages at the rate and returns how long each took.
func askPages(b *testing.B, base string) []time.Duration {
	paths := []string{"/en/", "/en/questions", "/de/glossary", "/en/exercises", "/ru/exercises/core/charge-once", "/en/labs", "/en/search?q=offset"}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	took := make([]time.Duration, int(pagesFor.Seconds()*pagesPerSecond))
	var all sync.WaitGroup
	begin := time.Now()
	for i := range took {
		due := begin.Add(time.Duration(i) * time.Second / pagesPerSecond)
		time.Sleep(time.Until(due)) // the rate of the requests, which is what is asked for
		all.Go(func() {
			v := &visitor{Client: *client}
			if _, err := v.get(b.Context(), base+paths[i%len(paths)]); err != nil {
				b.Error(err)
			}
			took[i] = time.Since(due)
		})
	}
	all.Wait()
	return took
}
