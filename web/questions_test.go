package web

import (
	"context"
	"html"
	"net/http"
	"strings"
	"testing"

	"redeliver/content"
	"redeliver/exercises"
	"redeliver/grader/verdict"
	"redeliver/web/jobs"
	"redeliver/web/store"
)

func stored(files []exercises.File) []store.File {
	out := make([]store.File, 0, len(files))
	for _, f := range files {
		out = append(out, store.File(f))
	}
	return out
}

func TestQuestionsInEveryLanguage(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, exercises.Open(exercises.Builtin(), nil))
	v := b.visitor(t)
	bank, err := content.Questions()
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range content.Languages() {
		list := v.get(t, "/"+lang+"/questions", http.StatusOK).body
		for _, q := range bank.All() {
			if !strings.Contains(list, `href="/`+lang+`/questions/`+q.Slug+`"`) {
				t.Errorf("the list in %s lacks %s", lang, q.Slug)
			}
			page := v.get(t, "/"+lang+"/questions/"+q.Slug, http.StatusOK).body
			for i, p := range q.Text[lang].Pitfalls {
				if !strings.Contains(page, p.Why.HTML) {
					t.Errorf("%s in %s lacks pitfall %d", q.Slug, lang, i)
				}
			}
			for _, s := range q.Sources {
				if !strings.Contains(page, html.EscapeString(s.Title)) || !strings.Contains(page, s.Checked) {
					t.Errorf("%s in %s does not name %q and when it was checked", q.Slug, lang, s.Title)
				}
			}
		}
		if page := v.get(t, "/"+lang+"/glossary", http.StatusOK).body; strings.Count(page, "<h1") != 1 {
			t.Errorf("the glossary in %s has %d main headings", lang, strings.Count(page, "<h1"))
		}
	}
}

func TestQuestionsFilter(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	v := b.visitor(t)
	bank, err := content.Questions()
	if err != nil {
		t.Fatal(err)
	}
	page := v.get(t, "/en/questions?topic=producer&level=senior", http.StatusOK).body
	for _, q := range bank.All() {
		wanted := q.Level == "senior" && strings.Contains(strings.Join(q.Topics, " "), "producer")
		if got := strings.Contains(page, "/en/questions/"+q.Slug+`"`); got != wanted {
			t.Errorf("%s is listed: %v, want %v", q.Slug, got, wanted)
		}
	}
	if !strings.Contains(page, `<option value="producer" selected`) {
		t.Error("the filter has forgotten the topic")
	}
	none := v.get(t, "/en/questions?topic=cookery", http.StatusOK).body
	if !strings.Contains(none, "No question has both.") || !strings.Contains(none, "Show all questions") {
		t.Error("an empty list does not lead back to all questions")
	}
	v.get(t, "/en/questions/nothing", http.StatusNotFound)
	if to := v.do(t, "GET", "/questions/acks-all", nil, http.Header{"Accept-Language": {"de"}}).header.Get("Location"); to != "/en/questions/acks-all" { // read last in English
		t.Errorf("an address without a language leads to %q", to)
	}
}

// Every claim that names a run leads to one, as long as its exercise is here.
func TestPitfallsLeadToRuns(t *testing.T) {
	t.Parallel()
	catalog := exercises.Open(exercises.Builtin(), nil)
	bank, err := content.Questions()
	if err != nil {
		t.Fatal(err)
	}
	problems := bank.CheckExercises(func(name, wrong string) bool {
		e, ok := catalog.Exercise(name)
		if !ok || e.Visibility != "public" {
			return false
		}
		_, ok = e.Failing(wrong)
		return ok
	})
	if len(problems) > 0 {
		t.Error(problems)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	catalog := exercises.Open(exercises.Builtin(), nil)
	b := setup(t, Config{}, catalog)
	e, _ := catalog.Exercise("core/charge-once")
	wrong, ok := e.Failing("seen-in-memory")
	if !ok {
		t.Fatal("core/charge-once has no handler seen-in-memory")
	}
	token := tokenFor(e, stored(wrong)).String()
	gradings := 0
	b.grader.samples = func(jobs.Request) verdict.Finding {
		gradings++
		f := failedVerdict(t).Findings[0]
		f.Schedule = token
		return f
	}
	b.grader.replay = func(_ context.Context, r jobs.Request) (verdict.Verdict, error) {
		v := failedVerdict(t)
		v.Replay = &verdict.Replay{Schedule: r.Replay, Trace: v.Findings[0].Trace}
		return v, nil
	}
	v := b.visitor(t)
	for range 2 {
		a := v.do(t, "GET", "/en/exercises/core/charge-once/watch/seen-in-memory", nil, nil)
		if to := a.header.Get("Location"); a.status != http.StatusSeeOther || to != "/en/runs/"+token {
			t.Fatalf("status %d, leads to %q, want the run", a.status, to)
		}
	}
	if gradings != 1 {
		t.Errorf("%d gradings, want 1", gradings)
	}
	page := v.get(t, "/en/runs/"+token, http.StatusOK).body
	if !strings.Contains(page, "a handler that is wrong on purpose") || !strings.Contains(page, "The code that ran") {
		t.Error("the run does not show the handler that fails")
	}
	v.get(t, "/en/exercises/core/charge-once/watch/nothing", http.StatusNotFound)
	v.get(t, "/en/exercises/core/nothing/watch", http.StatusNotFound)
}

// The code of a solution is not for everybody who has a link to one of its runs.
func TestRunOfASolutionHidesItsCode(t *testing.T) {
	t.Parallel()
	catalog := exercises.Open(exercises.Builtin(), nil)
	b := setup(t, Config{}, catalog)
	e, _ := catalog.Exercise("core/charge-once")
	token := tokenFor(e, stored(e.Solutions[0].Files)).String()
	b.grader.replay = func(_ context.Context, r jobs.Request) (verdict.Verdict, error) {
		v := verdictOf(verdict.Passed)
		v.Replay = &verdict.Replay{Schedule: r.Replay, Trace: failedVerdict(t).Findings[0].Trace}
		return v, nil
	}
	page := b.visitor(t).get(t, "/en/runs/"+token, http.StatusOK).body
	if !strings.Contains(page, "a reference solution") || strings.Contains(page, "The code that ran") || strings.Contains(page, "package handler") {
		t.Error("the run of a solution shows its code")
	}
}
