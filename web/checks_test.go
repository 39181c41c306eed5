package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"redeliver/grader/verdict"
	"redeliver/web/jobs"
	"redeliver/web/views"
	"redeliver/web/views/htmlcheck"
)

// refused is what a grader says of a text that it does not run.
func refused() verdict.Verdict {
	v := verdictOf(verdict.Rejected)
	v.Findings = []verdict.Finding{
		{Kind: verdict.Compile, File: "handler.go", Line: 2, Column: 3, Message: "undefined: <b>"},
		{Kind: verdict.Compile, File: "schema.sql", Line: 1, Column: 1, Message: "near \"x\": syntax error"},
	}
	return v
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const checks = exercisePage + "/checks"

	t.Run("SaysWhatTheCompilerSays", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		go func() { b.grader.verdicts <- refused() }()
		a := v.post(t, checks, form(0, "my text\n"))
		if a.status != http.StatusOK {
			t.Fatalf("status %d: %s", a.status, a.body)
		}
		holds(t, a, "1", "my text\n")
		htmlcheck.Page(t, a.body, htmlcheck.NothingInline, htmlcheck.LinksWithin,
			htmlcheck.In("[role=alert]", htmlcheck.Contains("2 problems: this cannot be graded. handler.go:2:3 undefined: <b>")),
			htmlcheck.In("#file-0-diagnostics li", htmlcheck.Text("handler.go:2:3 undefined: <b>")),
			htmlcheck.In("#file-1-diagnostics li", htmlcheck.Contains("syntax error")),
			htmlcheck.NotIn("#submissions"))
		holds(t, v.get(t, exercisePage, http.StatusOK), "1", "my text\n") // it was saved, too
	})

	t.Run("SaysThatItCompiles", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		for i, lang := range []string{"en", "ru", "de"} {
			go func() { b.grader.progress <- jobs.Progress{Stage: jobs.StageExplore} }()
			a := v.post(t, strings.Replace(checks, "/en/", "/"+lang+"/", 1), form(i, strings.Repeat("\n", i)+"my text\n"))
			htmlcheck.Page(t, a.body, htmlcheck.In(".notice"), htmlcheck.NotIn("[role=alert]"), htmlcheck.NotIn(".diagnostics"))
		}
	})

	t.Run("AnswersTheEditor", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		ask := func(base, want int) (said checkAnswer) {
			t.Helper()
			a := v.do(t, "POST", checks, strings.NewReader(form(base, "my text\n").Encode()),
				http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"application/json"}})
			if err := json.Unmarshal([]byte(a.body), &said); err != nil || a.status != want {
				t.Fatalf("status %d, %q, err %v", a.status, a.body, err)
			}
			return said
		}
		v.get(t, exercisePage, http.StatusOK)
		v.post(t, exercisePage+"/drafts", form(0, "one\n"))
		if said := ask(0, http.StatusConflict); said.Version != 0 || !strings.Contains(said.Problem, "Another tab has saved version 1") {
			t.Errorf("a conflict: %+v", said)
		}
		go func() { b.grader.verdicts <- refused() }()
		said := ask(1, http.StatusOK)
		if d := said.Diagnostics[views.FieldOf("handler.go")]; said.Version != 2 || said.State == "" || said.Passed || len(d) != 1 || d[0].Line != 2 {
			t.Errorf("%+v", said)
		}
		// Who cannot compile now has saved all the same.
		b.grader.preparing.Store(true)
		if said := ask(2, http.StatusServiceUnavailable); said.Version != 2 || !strings.HasPrefix(said.Said, "Other code is being compiled") {
			t.Errorf("busy: %+v", said)
		}
	})

	// Who leaves the page has made no mistake, and nor have we.
	t.Run("WhoeverLeavesIsNoError", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		ctx, leave := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, "POST", checks, strings.NewReader(form(0, "x").Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		done := make(chan struct{})
		w := httptest.NewRecorder()
		go func() {
			defer close(done)
			b.srv.ServeHTTP(w, r)
		}()
		b.grader.progress <- jobs.Progress{Stage: "build"} // it is being compiled
		leave()
		<-done
		if w.Code != statusLeft {
			t.Errorf("status %d", w.Code)
		}
	})

	t.Run("IsLimited", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{PostsPerMinute: 1}, testCatalog())
		v := b.visitor(t)
		for _, want := range []int{http.StatusBadRequest, http.StatusTooManyRequests} {
			if a := v.post(t, checks, url.Values{}); a.status != want {
				t.Errorf("status %d, want %d", a.status, want)
			}
		}
	})
}
