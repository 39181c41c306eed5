package web

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"redeliver/grader/verdict"
	"redeliver/web/jobs"
)

// stream opens an event stream; its lines end with the test.
func (v *visitor) stream(t *testing.T, path, lastEventID string) *bufio.Scanner {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", v.b.ts.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	resp, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	})
	if ct := resp.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Fatalf("Content-Type %q, status %d", ct, resp.StatusCode)
	}
	return bufio.NewScanner(resp.Body)
}

// until reads up to the first line with this prefix and returns all lines.
func until(t *testing.T, lines *bufio.Scanner, prefix string) (seen []string) {
	t.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), "\r") { // ends a line in a browser, though not here
			t.Errorf("carriage return in %q", lines.Text())
		}
		seen = append(seen, lines.Text())
		if strings.HasPrefix(lines.Text(), prefix) {
			return seen
		}
	}
	t.Fatalf("the stream ended before %q: %v, after %q", prefix, lines.Err(), seen)
	return nil
}

func TestEvents(t *testing.T) {
	t.Parallel()

	t.Run("ResumesAfterTheLastEvent", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		b.start(t)
		v := b.visitor(t)
		path, _ := v.submit(t, 0, "x")
		b.grader.say("happy-path", "redelivery") // steps 2 and 3
		first := until(t, v.stream(t, path+"/events?after=1", ""), "id: 3")
		if !slices.Contains(first, "event: status") {
			t.Errorf("no status in %q", first)
		}
		b.grader.say("crash-points")
		seen := until(t, v.stream(t, path+"/events?after=1", "3"), "id:")
		if last := seen[len(seen)-1]; last != "id: 4" {
			t.Errorf("after step 3 comes %q", last)
		}
		// Who has everything gets the status, and then only what is new.
		lines := v.stream(t, path+"/events", "4")
		seen = until(t, lines, "event: status")
		b.grader.say("zombie")
		if seen = append(seen, until(t, lines, "id: 5")...); slices.Contains(seen, "id: 4") {
			t.Errorf("sent again: %q", seen)
		}
	})

	t.Run("EndsAtOnceWhenGraded", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		b.start(t)
		v := b.visitor(t)
		path, _ := v.submit(t, 0, "x")
		b.grader.verdicts <- verdictOf(verdict.Failed)
		b.graded(t, v, path)
		lines := v.stream(t, path+"/events", "")
		seen := until(t, lines, "event: done")
		if !slices.Contains(seen, "data: Graded: Failed. The verdict stands below.") {
			t.Errorf("events %q", seen)
		}
		for lines.Scan() {
		}
		if lines.Err() != nil {
			t.Error(lines.Err())
		}
	})

	t.Run("TextCannotForgeFields", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		b.start(t)
		v := b.visitor(t)
		path, _ := v.submit(t, 0, "x")
		for _, message := range []string{"a\revent: done\rb", "a\nevent: done\nb", "a\r\n\r\nevent: done\r\n\r\nb"} {
			b.grader.progress <- jobs.Progress{Stage: "explore", Finding: &verdict.Finding{Message: message}}
		}
		lines := v.stream(t, path+"/events", "")
		for _, line := range until(t, lines, "id: 4") {
			if line == "event: done" {
				t.Error("the text has ended the stream")
			}
		}
		b.grader.say("happy-path")
		if seen := until(t, lines, "id: 5"); slices.Contains(seen, "event: done") {
			t.Error("the text has ended the stream")
		}
	})

	t.Run("OutlivesTheTimeOutsOfTheServer", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		b.start(t)
		v := b.visitor(t)
		path, _ := v.submit(t, 0, "x")
		const timeout = 100 * time.Millisecond
		ts := httptest.NewUnstartedServer(b.srv)
		ts.Config.ReadTimeout, ts.Config.WriteTimeout = timeout, timeout
		ts.Start()
		t.Cleanup(ts.Close)
		short := &visitor{b: &testBundle{ts: ts}, client: v.client}
		b.grader.say("happy-path")
		lines := short.stream(t, path+"/events", "")
		until(t, lines, "id: 2")
		waited := time.After(3 * timeout) // the time itself is tested here
		<-waited
		b.grader.say("redelivery")
		until(t, lines, "id: 3")
	})

	t.Run("EndsWhenTheServerStops", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		path, _ := v.submit(t, 0, "x")
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- b.srv.Serve(ctx, ln) }()
		other := &visitor{b: &testBundle{ts: &httptest.Server{URL: "http://" + ln.Addr().String()}}, client: v.client}
		lines := other.stream(t, path+"/events", "")
		until(t, lines, "event: status")
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		for lines.Scan() {
		}
		if err := lines.Err(); err != nil {
			t.Errorf("the stream was cut: %v", err)
		}
	})
}

func TestErrorsStayInTheLog(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	if err := b.st.Read.Close(); err != nil {
		t.Fatal(err)
	}
	a := b.visitor(t).get(t, exercisePage, http.StatusInternalServerError)
	if strings.Contains(a.body, "sql") || strings.Contains(a.body, "closed") || !strings.Contains(a.body, a.header.Get("X-Request-Id")) {
		t.Errorf("the page says %s", a.body)
	}
}
