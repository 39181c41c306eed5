package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"redeliver/exercises"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
	"redeliver/static"
	"redeliver/web/jobs"
	"redeliver/web/views/htmlcheck"
)

// failedVerdict has everything that a page can show.
func failedVerdict(t *testing.T) verdict.Verdict {
	t.Helper()
	b, err := os.ReadFile("testdata/failed.json")
	if err != nil {
		t.Fatal(err)
	}
	var v verdict.Verdict
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEveryPageObeysThePolicy(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	b.start(t)
	v := b.visitor(t)
	failed, _ := v.submit(t, 0, "package handler // failed\n")
	b.grader.say("happy-path")
	v.get(t, failed, http.StatusOK)
	b.grader.verdicts <- failedVerdict(t)
	b.graded(t, v, failed)
	running, _ := v.submit(t, 1, "package handler // running\n")
	b.grader.say("happy-path")
	for path, status := range map[string]int{
		"/en/":                             200,
		"/en/exercises":                    200,
		exercisePage:                       200,
		exercisePage + "?version=0":        200,
		exercisePage + "?version=1":        200,
		exercisePage + "?version=99":       404,
		exercisePage + "?version=x":        404,
		exercisePage + "?notice=saved":     200,
		failed:                             200,
		failed + "?notice=stored":          200,
		running:                            200,
		running + "?notice=running":        200,
		"/en/submissions/unknown":          404,
		"/en/submissions/unknown/events":   404,
		running + "/events?after=x":        400,
		"/en/exercises/core/nothing":       404,
		"/en/exercises/core/secret":        404,
		"/en/nothing":                      404,
		"/nothing":                         404,
		"/tlh/":                            404,
		static.URL("app.css"):              200,
		static.URL("lib/htmx.js"):          200,
		"/static/000000000000/app.css":     404,
		"/%ff/":                            404,
		"/en/exercises/core/charge%2fonce": 404,
	} {
		a := v.get(t, path, status)
		policy := a.header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self'; ") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("X-Request-Id") == "" {
			t.Errorf("%s: header %v", path, a.header)
		}
		if !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
			continue
		}
		if a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control %q", path, a.header.Get("Cache-Control"))
		}
		htmlcheck.Page(t, a.body,
			htmlcheck.NothingInline, htmlcheck.LinksWithin,
			htmlcheck.In("html", htmlcheck.Attr("lang", "en")),
			htmlcheck.In("meta[name=description]:not([content=''])"),
			htmlcheck.In("a.skip", htmlcheck.Attr("href", "#content")),
			htmlcheck.In("main#content"), htmlcheck.In("nav[aria-label]"), htmlcheck.In("footer"),
			htmlcheck.Count("h1", 1), htmlcheck.Count("head title", 1))
	}
}

func TestHome(t *testing.T) {
	t.Parallel()

	t.Run("ListsPublicExercises", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		a := b.visitor(t).get(t, "/en/", http.StatusOK)
		htmlcheck.Page(t, a.body,
			htmlcheck.Count(".cards li", 1),
			htmlcheck.In(".cards a", htmlcheck.Attr("href", exercisePage), htmlcheck.Text("Charge once")),
			htmlcheck.In(".cards .muted", htmlcheck.Text("Level 1 of 4, about 20 minutes")),
			htmlcheck.NotIn("#submissions"))
		if strings.Contains(a.body, "secret") {
			t.Error("an assigned exercise is on a public page")
		}
		if len(a.header.Values("Set-Cookie")) != 1 {
			t.Errorf("reading sets cookies: %v", a.header.Values("Set-Cookie"))
		}
	})

	t.Run("WithoutExercisesSaysSo", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, fakeCatalog{})
		a := b.visitor(t).get(t, "/en/", http.StatusOK)
		htmlcheck.Page(t, a.body, htmlcheck.In("#exercises + p", htmlcheck.Contains("No exercises are installed.")))
	})
}

func TestExercises(t *testing.T) {
	t.Parallel()
	v := setup(t, Config{}, testCatalog()).visitor(t)
	a := v.get(t, "/en/exercises", http.StatusOK)
	htmlcheck.Page(t, a.body,
		htmlcheck.Count(".cards > li", 1),
		htmlcheck.In("h2", htmlcheck.Text("Level 1 of 4")),
		htmlcheck.In(".cards a", htmlcheck.Attr("href", exercisePage), htmlcheck.Text("Charge once")),
		htmlcheck.In(".tags", htmlcheck.Attr("aria-label", "What your code works with")),
		htmlcheck.In(".tags li", htmlcheck.Text("one record at a time")))
	if strings.Contains(a.body, "secret") {
		t.Error("an assigned exercise is on a public page")
	}
	empty := setup(t, Config{}, fakeCatalog{}).visitor(t).get(t, "/en/exercises", http.StatusOK)
	htmlcheck.Page(t, empty.body, htmlcheck.In("main p + p", htmlcheck.Contains("No exercises are installed.")))
}

// Who cannot be graded here hears of it before writing anything.
func TestExerciseNotGraded(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{CanGrade: func(e *exercises.Exercise) bool { return e.Slug != "charge-once" }}, testCatalog())
	for _, lang := range []string{"en", "ru", "de"} {
		page := strings.Replace(exercisePage, "/en/", "/"+lang+"/", 1)
		htmlcheck.Page(t, b.visitor(t).get(t, page, http.StatusOK).body, htmlcheck.In("main > .alert p + p", htmlcheck.Contains("-tags synctests")), htmlcheck.NothingInline)
	}
	all := setup(t, Config{}, testCatalog())
	htmlcheck.Page(t, all.visitor(t).get(t, exercisePage, http.StatusOK).body, htmlcheck.NotIn("main > .alert"))
}

func TestExercise(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	a := b.visitor(t).get(t, exercisePage, http.StatusOK)
	htmlcheck.Page(t, a.body,
		htmlcheck.In("h1", htmlcheck.Text("Charge once")),
		htmlcheck.In(".prose strong", htmlcheck.Text("once")),
		htmlcheck.In(".prose .chroma .k"),
		htmlcheck.NotIn(".prose script"),
		htmlcheck.In("details summary", htmlcheck.Text("A hint & a half")),
		htmlcheck.In("form[data-drafts]", htmlcheck.Attr("action", exercisePage+"/submissions")),
		htmlcheck.In("input[name=base]", htmlcheck.Attr("value", "0")),
		htmlcheck.In("textarea[name='file.handler.go']"),
		htmlcheck.In("textarea[name='file.schema.sql']"),
		htmlcheck.In(`button[formaction$="/drafts"]`, htmlcheck.Attr("formaction", exercisePage+"/drafts")),
		htmlcheck.In("textarea[data-language=sql]"),
		htmlcheck.Count("script", 1)) // the editor
	// The text begins with an empty line, which browsers drop once.
	if !strings.Contains(a.body, ">\n\npackage handler // starter\n</textarea>") {
		t.Error("the starter is not in the form as it is")
	}
}

// A form that was not accepted stays at the address that it was posted to; who
// loads that address anew gets the page of the exercise.
func TestAddressesOfFormsLeadBack(t *testing.T) {
	t.Parallel()
	v := setup(t, Config{}, testCatalog()).visitor(t)
	for _, action := range []string{"/drafts", "/submissions"} {
		if a := v.get(t, exercisePage+action, http.StatusSeeOther); a.header.Get("Location") != exercisePage {
			t.Errorf("%s leads to %s", action, a.header.Get("Location"))
		}
	}
}

func TestSubmission(t *testing.T) {
	t.Parallel()

	t.Run("QueueThenPhasesThenVerdict", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		b.grader.preparing.Store(true)
		v := b.visitor(t)
		firstVisitor := b.visitor(t)
		first, _ := firstVisitor.submit(t, 0, "package handler // before\n")
		path, query := v.submit(t, 0, "package handler\n")
		if query != "" || first == path {
			t.Errorf("leads to %s?%s", path, query)
		}
		htmlcheck.Page(t, v.get(t, path, http.StatusOK).body,
			htmlcheck.In("#status", htmlcheck.Contains("the compiler is being prepared")))
		b.grader.preparing.Store(false)
		waiting := v.get(t, path, http.StatusOK).body
		htmlcheck.Page(t, waiting,
			htmlcheck.In("#status", htmlcheck.Text("Waiting: 1 submission is before this one.")),
			htmlcheck.In("[sse-connect]", htmlcheck.Attr("sse-connect", path+"/events?after=0")))
		if !strings.Contains(waiting, `<noscript><meta http-equiv="refresh" content="2"></noscript>`) {
			t.Error("a running submission does not reload without script")
		}

		b.start(t)
		b.grader.verdicts <- verdictOf(verdict.Passed) // of the first
		b.graded(t, firstVisitor, first)
		b.grader.progress <- jobs.Progress{Stage: "check"} // the second has begun
		if _, err := b.st.Write.ExecContext(t.Context(), "UPDATE submissions SET started_at = finished_at - 12000 WHERE finished_at IS NOT NULL"); err != nil {
			t.Fatal(err)
		}
		third := b.visitor(t)
		last, _ := third.submit(t, 0, "package handler // behind\n")
		htmlcheck.Page(t, third.get(t, last, http.StatusOK).body,
			htmlcheck.In("#status", htmlcheck.Text("Waiting: this submission is next. The verdict comes in about 25 s.")))
		b.grader.say("happy-path", "redelivery")
		b.grader.progress <- jobs.Progress{Stage: "explore", Finding: &verdict.Finding{
			Kind: verdict.Duplicate, Message: "Charged <twice>.",
			Trace: []verdict.Step{{Step: 1, Lane: "A", Event: "sql", Text: "INSERT", File: "handler.go", Line: 7}},
		}}
		lines := v.stream(t, path+"/events", "")
		seen := until(t, lines, "id: 5") // started, check, two phases, a finding
		if !slices.Contains(seen, "event: finding") {
			t.Errorf("no finding in %q", seen)
		}
		htmlcheck.Page(t, v.get(t, path, http.StatusOK).body,
			htmlcheck.In("#status", htmlcheck.Text("Running schedules. A first finding is there; it stands below.")),
			htmlcheck.Count(".phases li", len(schedule.Phases())), // from the beginning, so that nothing moves
			htmlcheck.Count(".phases .done", 2),
			htmlcheck.In(".phases li:nth-child(2)", htmlcheck.Text("✗ A record delivered again: 3 schedules, 1 failed")),
			htmlcheck.In(".phases li:nth-child(4)", htmlcheck.Text("… A crash at every point")),
			htmlcheck.In("#result .first h3", htmlcheck.Text("Done twice Charged <twice>.")),
			htmlcheck.In("#result .first .tl-row", htmlcheck.Contains("handler.go:7")), htmlcheck.LinksWithin)

		b.grader.verdicts <- verdictOf(verdict.Failed)
		until(t, lines, "event: done")
		done := v.get(t, path, http.StatusOK).body
		htmlcheck.Page(t, done,
			htmlcheck.In(".verdict h2", htmlcheck.Text("Verdict: ✗ Failed")),
			htmlcheck.In(".summary", htmlcheck.Text("This is the sentence of the verdict.")),
			htmlcheck.NotIn("[sse-connect]"), htmlcheck.NotIn("noscript"), htmlcheck.NotIn("script"))
	})

	t.Run("FailedShowsTheStory", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		b.start(t)
		v := b.visitor(t)
		path, _ := v.submit(t, 0, strings.Repeat("// line\n", 60))
		want := failedVerdict(t)
		b.grader.verdicts <- want
		b.graded(t, v, path)
		f := want.Findings[0]
		checks := []htmlcheck.Checker{
			htmlcheck.In(".summary", htmlcheck.Text(want.Summary)),
			htmlcheck.Count(".finding", len(want.Findings)),
			htmlcheck.In(".finding h3 .badge", htmlcheck.Text("Done twice")),
			htmlcheck.In(".finding .explanation"),
			htmlcheck.Count(".finding:first-of-type .timeline tbody tr", len(f.Trace)),
			htmlcheck.In(".finding .tl-row.is-decisive .tl-diamond"),
			htmlcheck.In(".finding .tl-files a", htmlcheck.Attr("href", "/en/runs/"+f.Schedule+".txt")),
			htmlcheck.In(".finding .tl-files a[data-copy=address]", htmlcheck.Attr("href", "/en/runs/"+f.Schedule)),
			htmlcheck.In(".finding .tl-twin a", htmlcheck.Attr("href", "/en/runs/"+f.PassingTwin)),
			htmlcheck.In("script[src*=timeline]"),
			htmlcheck.In(".timeline thead", htmlcheck.Text("Step Instance A Kafka and database")),
			htmlcheck.In(".timeline tr.decisive .decisive-mark", htmlcheck.Text("◆ decisive")),
			htmlcheck.In(".timeline tr.fault .fault-mark", htmlcheck.Text("⚡ fault")),
			htmlcheck.In(".timeline .rows .added code"),
			htmlcheck.In(".timeline a.place"),
			htmlcheck.In(".finding > details code", htmlcheck.Text("redeliver grade --replay "+f.Schedule+" core/charge-once .")),
			htmlcheck.In(".coverage tbody th", htmlcheck.Text("Every record delivered once")),
			htmlcheck.In(".skipped", htmlcheck.Contains("Two instances in every order")),
			htmlcheck.In("#stdout + pre", htmlcheck.Contains("charging")),
			htmlcheck.In("#stderr + pre"),
			htmlcheck.In(".source #f0-L60.line"),
			htmlcheck.LinksWithin,
		}
		htmlcheck.Page(t, v.get(t, path, http.StatusOK).body, checks...)
	})

	t.Run("CompileMessagesLeadToTheLine", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		b.start(t)
		v := b.visitor(t)
		path, _ := v.submit(t, 0, "package handler\n\nvar x int = \"\"\n")
		rejected := verdictOf(verdict.Rejected)
		rejected.Findings = []verdict.Finding{{
			Kind: verdict.Compile, Message: `cannot use "" as int value`, File: "handler.go", Line: 3, Column: 13,
		}, {Kind: verdict.Compile, Message: "elsewhere", File: "other.go", Line: 3}}
		b.grader.verdicts <- rejected
		b.graded(t, v, path)
		htmlcheck.Page(t, v.get(t, path, http.StatusOK).body,
			htmlcheck.In(".badge.is-rejected", htmlcheck.Text("⊘ Rejected")),
			htmlcheck.In(".finding a.place", htmlcheck.Attr("href", "#f0-L3"), htmlcheck.Text("handler.go:3")),
			htmlcheck.In(".finding span.place", htmlcheck.Text(":13")),
			htmlcheck.Count(".finding a.place", 1), // a file that is not there has no link
			htmlcheck.In(".source .hit", htmlcheck.Text(`var x int = ""`)),
			htmlcheck.In("#coverage + p", htmlcheck.Text("Nothing was run.")),
			htmlcheck.LinksWithin)
	})

	for outcome, words := range map[verdict.Outcome]string{
		verdict.Passed:       "This does not say that the code is correct",
		verdict.Inconclusive: "That is our fault and costs you nothing.",
	} {
		t.Run(string(outcome)+"SaysWhatItMeans", func(t *testing.T) {
			t.Parallel()
			b := setup(t, Config{}, testCatalog())
			b.start(t)
			v := b.visitor(t)
			path, _ := v.submit(t, 0, "package handler\n")
			attempts := 1
			if outcome == verdict.Inconclusive {
				attempts = 3 // jobs gives up then
			}
			for range attempts {
				b.grader.verdicts <- verdictOf(outcome)
			}
			b.graded(t, v, path)
			htmlcheck.Page(t, v.get(t, path, http.StatusOK).body, htmlcheck.In(".verdict", htmlcheck.Contains(words)))
		})
	}

	t.Run("SecondAttemptIsAnnounced", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		b.start(t)
		v := b.visitor(t)
		path, _ := v.submit(t, 0, "package handler\n")
		b.grader.say("happy-path")
		b.grader.verdicts <- verdictOf(verdict.Inconclusive)
		b.grader.say("redelivery")
		until(t, v.stream(t, path+"/events", "3"), "id: 4")
		htmlcheck.Page(t, v.get(t, path, http.StatusOK).body,
			htmlcheck.In(".phases .note", htmlcheck.Text("The grading ended without a result and was started again (attempt 2). "+
				"This is a fault of the server, not of your code.")),
			htmlcheck.Count(".phases .done", 1), // what the first attempt had done counts no more
			htmlcheck.In(".phases .done", htmlcheck.Text("✗ A record delivered again: 3 schedules, 1 failed")))
	})

	t.Run("OthersGetNotFound", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		path, _ := b.visitor(t).submit(t, 0, "package handler // mine\n")
		other := b.visitor(t)
		other.submit(t, 0, "package handler // theirs\n")
		for _, v := range []*visitor{other, b.visitor(t)} {
			a := v.get(t, path, http.StatusNotFound)
			if strings.Contains(a.body, "mine") {
				t.Error("the page shows the code of another browser")
			}
			v.get(t, path+"/events", http.StatusNotFound)
		}
		htmlcheck.Page(t, other.get(t, "/en/", http.StatusOK).body, htmlcheck.Count(".submissions li", 1))
	})

	t.Run("UninstalledExerciseKeepsItsSubmissions", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		path, _ := v.submit(t, 0, "package handler\n")
		b.srv.catalog = fakeCatalog{}
		htmlcheck.Page(t, v.get(t, path, http.StatusOK).body, htmlcheck.In("h1", htmlcheck.Text("Submission for “core/charge-once”")))
	})
}

func TestStoredVerdictIsAnswered(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	b.start(t)
	v := b.visitor(t)
	path, _ := v.submit(t, 0, "package handler\n")
	b.grader.verdicts <- verdictOf(verdict.Failed)
	b.graded(t, v, path)

	again, query := v.submit(t, 1, "package handler\n")
	if again != path || query != "notice=stored" {
		t.Errorf("leads to %s?%s", again, query)
	}
	htmlcheck.Page(t, v.get(t, again+"?"+query, http.StatusOK).body,
		htmlcheck.In(".notice", htmlcheck.Contains("this is the stored verdict")))

	// Nobody grades here: another browser has the verdict at once.
	other := b.visitor(t)
	theirs, query := other.submit(t, 0, "package handler\n")
	if theirs == path || query != "notice=stored" {
		t.Errorf("leads to %s?%s", theirs, query)
	}
	htmlcheck.Page(t, other.get(t, theirs, http.StatusOK).body, htmlcheck.In(".badge.is-failed"))
}

func TestHealth(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	v := b.visitor(t)
	v.get(t, "/healthz", http.StatusOK)
	if a := v.get(t, "/readyz", http.StatusOK); a.body != "database: ok\ncompiler: ok\n" {
		t.Errorf("says %q", a.body)
	}
	b.grader.preparing.Store(true)
	if a := v.get(t, "/readyz", http.StatusServiceUnavailable); a.body != "database: ok\ncompiler: being prepared\n" {
		t.Errorf("says %q", a.body)
	}
	if a := v.do(t, "HEAD", "/healthz", nil, nil); a.status != http.StatusOK {
		t.Errorf("HEAD: status %d", a.status)
	}

	closed := setup(t, Config{}, testCatalog())
	w := httptest.NewRecorder()
	if err := closed.st.Read.Close(); err != nil {
		t.Fatal(err)
	}
	closed.srv.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	if w.Code != http.StatusServiceUnavailable || !strings.HasPrefix(w.Body.String(), "database: no answer\n") {
		t.Errorf("without a database: status %d, %q", w.Code, w.Body)
	}
}

// What the compiler said stands beside the text that it read, and goes when the
// text changes.
func TestDiagnostics(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	b.start(t)
	v := b.visitor(t)
	path, _ := v.submit(t, 0, "package handler\n\nfunc Handle() { x }\n")
	rejected := verdictOf(verdict.Rejected)
	rejected.Findings = []verdict.Finding{{Kind: verdict.Compile, File: "handler.go", Line: 3, Column: 17, Message: `undefined: "x"`}}
	b.grader.verdicts <- rejected
	b.graded(t, v, path)

	page := v.get(t, exercisePage, http.StatusOK).body
	htmlcheck.Page(t, page,
		htmlcheck.In(".diagnostics li", htmlcheck.Contains(`handler.go:3:17 undefined: "x"`)),
		htmlcheck.In("textarea[name='file.handler.go']", htmlcheck.Attr("data-diagnostics", `[{"line":3,"column":17,"message":"undefined: \"x\""}]`)))
	v.post(t, exercisePage+"/drafts", form(1, "package handler\n"))
	htmlcheck.Page(t, v.get(t, exercisePage, http.StatusOK).body, htmlcheck.NotIn(".diagnostics"))
}
