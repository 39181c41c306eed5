package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/views/htmlcheck"
)

// newAssignment stores what is asked for; what is left out is an hour for
// core/charge-once with everything to see.
func newAssignment(t *testing.T, b *testBundle, by store.Actor, a store.Assignment) store.Assignment {
	t.Helper()
	a.Title, a.Lang = cmp.Or(a.Title, "Backend"), cmp.Or(a.Lang, "en")
	a.RetainDays = cmp.Or(a.RetainDays, 30)
	if a.Exercises == nil {
		a.Exercises, a.Limit = []string{"core/charge-once"}, time.Hour
		a.Hints, a.Approaches, a.AllPhases = true, true, true
	}
	id, err := b.st.Assign(t.Context(), by, a, b.srv.cfg.Now())
	if err != nil {
		t.Fatal(err)
	}
	if a, err = b.st.Assignment(t.Context(), by, id); err != nil {
		t.Fatal(err)
	}
	return a
}

// newCandidate makes a link for Grace.
func newCandidate(t *testing.T, b *testBundle, by store.Actor, a store.Assignment) (token string, c store.Candidate) {
	t.Helper()
	token = auth.NewToken()
	id, err := b.st.AddCandidate(t.Context(), by, a.ID, store.Invited{Name: "Grace", TokenHash: store.HashToken(token)}, b.srv.cfg.Now())
	if err != nil {
		t.Fatal(err)
	}
	if c, err = b.st.Candidate(t.Context(), by, a.ID, id); err != nil {
		t.Fatal(err)
	}
	return token, c
}

// testTime is a clock that a test moves.
type testTime struct{ atomic.Int64 }

func (c *testTime) now() time.Time          { return time.UnixMilli(c.Load()) }
func (c *testTime) advance(d time.Duration) { c.Add(d.Milliseconds()) }

// assignBundle is a site with an owner who is signed in, and a clock that stands.
type assignBundle struct {
	*testBundle
	clock *testTime
	owner *visitor
	by    store.Actor
}

func setupAssign(t *testing.T) *assignBundle {
	t.Helper()
	clock := &testTime{}
	clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli())
	b := &assignBundle{testBundle: setup(t, Config{Now: clock.now}, testCatalog()), clock: clock}
	token, _, err := b.srv.FirstOwner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.owner = b.visitor(t)
	b.owner.post(t, "/en/invitations/"+token, url.Values{
		views.NameField: {"Ada"}, views.LoginField: {"ada"}, views.PasswordField: {testPassword},
	})
	p, _, err := b.st.Password(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	b.by = store.Actor{Person: p}
	return b
}

// invite makes a link as the page does, and returns its path.
func (b *assignBundle) invite(t *testing.T, assignment string, values url.Values) string {
	t.Helper()
	a := b.owner.post(t, assignment+"/links", values)
	if a.status != http.StatusOK {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	_, link, _ := strings.Cut(a.body, `value="`+b.ts.URL)
	link, _, _ = strings.Cut(link, `"`)
	if !strings.Contains(link, "/a/") {
		t.Fatalf("no link in %s", a.body)
	}
	return link
}

// pieces is what is written, and how much of it at once at most.
type pieces struct {
	*httptest.ResponseRecorder
	largest int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.largest = max(p.largest, len(b))
	return p.ResponseRecorder.Write(b)
}

func assignForm(pairs ...string) url.Values {
	v := url.Values{
		views.TitleField: {"Backend"}, views.ExercisesField: {"core/charge-once", "core/secret"}, views.LangField: {"en"},
		views.MinutesField: {"60"}, views.RetainField: {"30"}, views.NoteField: {"Good <luck>."}, views.SeesField: {"hints", "phases"},
	}
	for i := 0; i < len(pairs); i += 2 {
		v[pairs[i]] = []string{pairs[i+1]}
	}
	return v
}

// made is the path of a new assignment.
func (b *assignBundle) made(t *testing.T, pairs ...string) string {
	t.Helper()
	a := b.owner.post(t, "/en/assign", assignForm(pairs...))
	if a.status != http.StatusSeeOther {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	path, _, _ := strings.Cut(a.header.Get("Location"), "?")
	return path
}

func checked(t *testing.T, body string, more ...htmlcheck.Checker) {
	t.Helper()
	htmlcheck.Page(t, body, append(more, htmlcheck.NothingInline, htmlcheck.LinksWithin)...)
}

func TestAssign(t *testing.T) {
	t.Parallel()

	t.Run("Form", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		checked(t, b.owner.get(t, "/en/assign/new", 200).body, htmlcheck.In(`input[value="core/secret"]`, htmlcheck.Attr("name", "exercises")))
		for name, tc := range map[string]struct{ field, value, problem string }{
			"NoTitle":         {views.TitleField, " ", "Type a name."},
			"LongTitle":       {views.TitleField, strings.Repeat("x", 121), "120 characters"},
			"Control":         {views.TitleField, "a\x01b", "cannot be shown"},
			"LongNote":        {views.NoteField, strings.Repeat("x", 2001), "2000 characters"},
			"TooShort":        {views.MinutesField, "29", "from 30 to 180"},
			"TooLong":         {views.MinutesField, "181", "from 30 to 180"},
			"NoNumber":        {views.MinutesField, "an hour", "from 30 to 180"},
			"NoDays":          {views.RetainField, "", "from 1 to 1000"},
			"NoTime":          {views.OpensField, "tomorrow", "no point in time"},
			"Past":            {views.ClosesField, "2026-03-01T11:59", "has passed"},
			"WarmUpIsAmongIt": {views.WarmUpField, "core/charge-once", "among the exercises"},
		} {
			a := b.owner.post(t, "/en/assign", assignForm(tc.field, tc.value))
			if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, tc.problem) {
				t.Errorf("%s: status %d", name, a.status)
			}
			checked(t, a.body)
		}
		order := assignForm(views.OpensField, "2026-03-03T12:00", views.ClosesField, "2026-03-02T12:00")
		if a := b.owner.post(t, "/en/assign", order); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "closes before it opens") {
			t.Errorf("order: status %d", a.status)
		}
		none := assignForm()
		none.Del(views.ExercisesField)
		if a := b.owner.post(t, "/en/assign", none); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "Choose an exercise.") {
			t.Errorf("no exercise: status %d", a.status)
		}
		for name, values := range map[string]url.Values{
			"Unknown": assignForm(views.ExercisesField, "core/none"), "SecretWarmUp": assignForm(views.WarmUpField, "core/secret", views.ExercisesField, "core/charge-once"),
			"Language": assignForm(views.LangField, "xx"),
		} {
			if a := b.owner.post(t, "/en/assign", values); a.status != http.StatusBadRequest {
				t.Errorf("%s: status %d", name, a.status)
			}
		}
		path := b.made(t)
		checked(t, b.owner.get(t, path, 200).body, htmlcheck.In("h1", htmlcheck.Text("Backend")))
		checked(t, b.owner.get(t, "/en/assign", 200).body, htmlcheck.In("tbody th a", htmlcheck.Attr("href", path)))
		for _, extra := range []string{"181", "-1", "x"} {
			if a := b.owner.post(t, path+"/links", url.Values{views.NameField: {"Grace"}, views.ExtraField: {extra}}); a.status != http.StatusUnprocessableEntity {
				t.Errorf("extra %s: status %d", extra, a.status)
			}
		}
		if a := b.owner.post(t, path+"/links", url.Values{views.NameField: {" "}}); a.status != http.StatusUnprocessableEntity {
			t.Errorf("no name: status %d", a.status)
		}
	})

	t.Run("Story", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		b.start(t)
		path := b.made(t, views.OpensField, "2026-03-01T13:00", views.ClosesField, "2026-03-02T12:00")
		link := b.invite(t, path, url.Values{views.NameField: {"Grace"}, views.ExtraField: {"30"}})
		v := b.visitor(t)
		early := v.get(t, link, 200).body
		checked(t, early, htmlcheck.In("blockquote", htmlcheck.Text("Good <luck>.")))
		for _, want := range []string{"You can begin from", "You have 90 minutes", "For Grace."} {
			if !strings.Contains(early, want) {
				t.Errorf("before the start the page lacks %q", want)
			}
		}
		v.post(t, link+"/start", nil) // too early
		v.get(t, link+"/exercises/core/charge-once", 404)
		b.clock.advance(time.Hour)
		v.post(t, link+"/start", nil)
		checked(t, v.get(t, link, 200).body, htmlcheck.In("[role=timer]", htmlcheck.Attr("data-left", "5400")))
		exercise := link + "/exercises/core/charge-once"
		checked(t, v.get(t, exercise, 200).body,
			htmlcheck.In("main form", htmlcheck.Attr("action", exercise+"/submissions")), htmlcheck.In("[role=timer]", htmlcheck.Text("90 minutes left")))
		v.get(t, link+"/exercises/core/secret", 200)

		// Two devices write in turns; neither overwrites what it has not seen.
		if a := v.post(t, exercise+"/drafts", form(0, "one\n")); a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), exercise) {
			t.Fatalf("status %d to %q", a.status, a.header.Get("Location"))
		}
		other := b.visitor(t)
		if body := other.get(t, exercise, 200).body; !strings.Contains(body, ">\none\n</textarea>") {
			t.Error("another device does not see the draft")
		}
		if a := other.post(t, exercise+"/drafts", form(0, "two\n")); a.status != http.StatusConflict {
			t.Errorf("status %d", a.status)
		}
		// What is written here is not on the pages for practising, and the other way round.
		if body := v.get(t, exercisePage, 200).body; strings.Contains(body, ">\none\n</textarea>") {
			t.Error("the draft of the sitting is on the page for practising")
		}

		a := v.post(t, exercise+"/submissions", form(1, "package handler // handed in\n"))
		sub := a.header.Get("Location")
		if a.status != http.StatusSeeOther || !strings.HasPrefix(sub, link+"/submissions/") {
			t.Fatalf("status %d to %q", a.status, sub)
		}
		b.grader.verdicts <- failedVerdict(t)
		b.graded(t, v, sub)
		judged := v.get(t, sub, 200).body
		checked(t, judged, htmlcheck.In(".verdict", htmlcheck.Contains("Failed")))
		if strings.Contains(judged, "/runs/") {
			t.Error("a verdict in a sitting leads to runs outside of it")
		}
		b.visitor(t).get(t, strings.Replace(sub, link[len("/en"):], "", 1), 404) // not for others

		v.post(t, exercise+"/drafts", form(2, "package handler // stands at the end\n"))
		b.clock.advance(91 * time.Minute)
		checked(t, v.get(t, exercise, http.StatusGone).body, htmlcheck.In("h1", htmlcheck.Text("The sitting has ended.")))
		if a := v.post(t, exercise+"/drafts", form(3, "late\n")); a.status != http.StatusGone {
			t.Errorf("saved late: status %d", a.status)
		}
		late := v.do(t, "POST", exercise+"/drafts", strings.NewReader(form(3, "late\n").Encode()),
			http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"application/json"}})
		if late.status != http.StatusGone || !strings.Contains(late.body, `"problem":"The sitting has ended`) {
			t.Errorf("the editor is told %d, %q", late.status, late.body)
		}
		checked(t, v.get(t, link, 200).body, htmlcheck.In("main", htmlcheck.Contains("The time is over.")))

		// The report.
		report := path + "/candidates/1"
		body := b.owner.get(t, report, 200).body
		checked(t, body, htmlcheck.In("h1", htmlcheck.Text("Grace")), htmlcheck.In("svg.axis", htmlcheck.Attr("role", "img")))
		for _, want := range []string{"the time was over", "Play back 5 steps", "2 submissions"} {
			if !strings.Contains(body, want) {
				t.Errorf("the report lacks %q", want)
			}
		}
		playback := report + "/exercises/core/charge-once"
		checked(t, b.owner.get(t, playback+"?at=1", 200).body, htmlcheck.In("main", htmlcheck.Contains("Step 1 of 5")), htmlcheck.In(".source", htmlcheck.Contains("one")))
		checked(t, b.owner.get(t, playback, 200).body, htmlcheck.In(".source", htmlcheck.Contains("stands at the end")))
		checked(t, b.owner.get(t, playback+"?version=1", 200).body, htmlcheck.In("main", htmlcheck.Contains("Step 1 of 5")))
		for _, bad := range []string{"?at=0", "?at=6", "?at=x", "?version=9", "?version=0"} {
			b.owner.get(t, playback+bad, 404)
		}
		checked(t, b.owner.get(t, playback+"/history", 200).body)
		checked(t, b.owner.get(t, report+sub[len(link):], 200).body, htmlcheck.In(".verdict", htmlcheck.Contains("Failed")))
		if a := b.owner.post(t, report+"/notes", url.Values{views.ExerciseField: {"core/charge-once"}, views.NoteField: {"Knows the key."}}); a.status != http.StatusSeeOther {
			t.Errorf("note: status %d", a.status)
		}
		if a := b.owner.post(t, report+"/notes", url.Values{views.ExerciseField: {"core/other"}, views.NoteField: {"x"}}); a.status != http.StatusBadRequest {
			t.Errorf("note about nothing: status %d", a.status)
		}
		if body := b.owner.get(t, report, 200).body; !strings.Contains(body, "Knows the key.") {
			t.Error("the note is not in the report")
		}

		csv := b.owner.get(t, path+"/candidates.csv", 200)
		if rows := strings.Split(csv.body, "\n"); len(rows) != 3 || !strings.Contains(rows[1], "Grace,ended,2026-03-01T13:00:00Z,2026-03-01T14:30:00Z,time,30,0.00,failed,2,") {
			t.Errorf("%q", csv.body)
		}
		var all exportedAssignment
		if err := json.Unmarshal([]byte(b.owner.get(t, path+"/candidates.json", 200).body), &all); err != nil || len(all.Candidates) != 1 || all.Candidates[0].Exercises[0].Runs != 2 {
			t.Errorf("%+v, err %v", all, err)
		}
		if err := json.Unmarshal([]byte(b.owner.get(t, report+"/candidate.json", 200).body), &all); err != nil {
			t.Fatal(err)
		}
		if e := all.Candidates[0].Exercises[0]; len(e.Drafts) != 3 || len(e.Submissions) != 2 || e.Submissions[1].Verdict == nil || e.Note != "Knows the key." {
			t.Errorf("%+v", e)
		}
		log := b.owner.get(t, "/en/people/log", 200).body
		for _, want := range []string{"made an assignment", "made a link for a candidate", "started the clock", "the sitting ended", "wrote about a candidate", "took out the data"} {
			if !strings.Contains(log, want) {
				t.Errorf("the log lacks %q", want)
			}
		}
		if strings.Contains(log, "Grace") {
			t.Error("the log has the name of a candidate")
		}
		b.owner.post(t, report+"/delete", nil)
		b.owner.get(t, report, 404)
		if body := v.get(t, link, 404).body; !strings.Contains(body, "leads nowhere") {
			t.Error("the page of a dead link does not say why")
		}
	})

	t.Run("OpenLink", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		path := b.made(t, views.ClosesField, "2026-03-01T13:00")
		made := b.owner.post(t, path+"/open-link", nil).body
		_, link, _ := strings.Cut(made, `value="`+b.ts.URL)
		link, _, _ = strings.Cut(link, `"`)
		v := b.visitor(t)
		checked(t, v.get(t, link, 200).body)
		if a := v.post(t, link, url.Values{views.NameField: {" "}}); a.status != http.StatusUnprocessableEntity {
			t.Errorf("no name: status %d", a.status)
		}
		a := v.post(t, link, url.Values{views.NameField: {"=Linus()"}})
		mine := a.header.Get("Location")
		if a.status != http.StatusSeeOther || mine == link {
			t.Fatalf("status %d to %q", a.status, mine)
		}
		checked(t, v.get(t, mine, 200).body, htmlcheck.In("main", htmlcheck.Contains("For =Linus()")))
		if csv := b.owner.get(t, path+"/candidates.csv", 200).body; !strings.Contains(csv, "'=Linus()") {
			t.Errorf("a spreadsheet would run %q", csv)
		}
		// Spreadsheets in German and Russian end a cell at a semicolon.
		v.post(t, link, url.Values{views.NameField: {"Linus; =1+1;x"}})
		if csv := b.owner.get(t, path+"/candidates.csv", 200).body; !strings.Contains(csv, ",Linus; '=1+1;x,") {
			t.Errorf("a spreadsheet that ends cells at semicolons would run %q", csv)
		}
		b.clock.advance(2 * time.Hour) // it has closed
		checked(t, v.get(t, link, 200).body, htmlcheck.In("main", htmlcheck.Contains("too late to begin")))
		if a := v.post(t, link, url.Values{views.NameField: {"Late"}}); a.status != http.StatusGone {
			t.Errorf("came late: status %d", a.status)
		}
		v.post(t, mine+"/start", nil)
		checked(t, v.get(t, mine, 200).body, htmlcheck.In("main", htmlcheck.Contains("too late to begin")))
		b.owner.post(t, path+"/open-link/cancel", nil)
		v.get(t, link, 404)
		v.get(t, mine, 200)
	})

	t.Run("WhatCandidatesMayNotSee", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		b.start(t)
		a := newAssignment(t, b.testBundle, b.by, store.Assignment{Exercises: []string{"core/charge-once"}, Limit: time.Hour})
		token, candidate := newCandidate(t, b.testBundle, b.by, a)
		link := "/en/a/" + token
		v := b.visitor(t)
		v.post(t, link+"/start", nil)
		exercise := link + "/exercises/core/charge-once"
		if body := v.get(t, exercise, 200).body; strings.Contains(body, "A hint &amp; a half") {
			t.Error("a hint is shown")
		}
		sub := v.post(t, exercise+"/submissions", form(0, "package handler\n")).header.Get("Location")
		b.grader.verdicts <- failedVerdict(t)
		b.graded(t, v, sub)
		body := v.get(t, sub, 200).body
		checked(t, body, htmlcheck.In(".verdict", htmlcheck.Contains("handed in")))
		if strings.Contains(body, "finding-0") || strings.Contains(body, "is-failed") {
			t.Error("the verdict is shown")
		}
		for _, path := range []string{exercise, link, exercise + "/history"} {
			if strings.Contains(v.get(t, path, 200).body, "is-failed") {
				t.Errorf("the outcome is shown at %s", path)
			}
		}
		report := fmt.Sprintf("/en/assign/%d/candidates/%d", a.ID, candidate.ID)
		checked(t, b.owner.get(t, report+sub[len(link):], 200).body, htmlcheck.In(".verdict", htmlcheck.Contains("Failed")))
	})

	// The sentence of a verdict is about its first finding, which may be of a phase
	// that the candidate does not see.
	t.Run("NorTheSentenceOfAnotherPhase", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		b.start(t)
		a := newAssignment(t, b.testBundle, b.by, store.Assignment{Exercises: []string{"core/charge-once"}, Limit: time.Hour})
		token, _ := newCandidate(t, b.testBundle, b.by, a)
		v := b.visitor(t)
		v.post(t, "/en/a/"+token+"/start", nil)
		sub := v.post(t, "/en/a/"+token+"/exercises/core/charge-once/submissions", form(0, "package handler\n")).header.Get("Location")
		failed := verdictOf(verdict.Failed)
		failed.Summary = "After a crash, a payment was charged twice."
		failed.Findings = []verdict.Finding{
			{Kind: verdict.Duplicate, Phase: schedule.CrashPoints, Message: "A payment was charged twice."},
			{Kind: verdict.Lost, Phase: schedule.HappyPath, Message: "A payment was not charged."},
		}
		b.grader.verdicts <- failed
		b.graded(t, v, sub)
		body := v.get(t, sub, 200).body
		checked(t, body, htmlcheck.In(".summary", htmlcheck.Text("A payment was not charged.")))
		if strings.Contains(body, "twice") {
			t.Error("a finding of a hidden phase is shown")
		}
	})

	t.Run("EndOfTheTime", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		// A page that counted down to zero before the time is over would load itself
		// again and again; the time may stand still then, because a submission waits.
		link := b.invite(t, b.made(t), url.Values{views.NameField: {"Grace"}})
		v := b.visitor(t)
		v.post(t, link+"/start", nil)
		b.clock.advance(time.Hour - 300*time.Millisecond)
		checked(t, v.get(t, link, 200).body, htmlcheck.In("[role=timer]", htmlcheck.Attr("data-left", "1")))

		// What was on its way at the end still comes, and is what is handed in; nothing
		// else does, and nothing later.
		exercise := link + "/exercises/core/charge-once"
		b.clock.advance(300*time.Millisecond + store.Grace - time.Millisecond)
		checked(t, v.get(t, link, 200).body, htmlcheck.In("main", htmlcheck.Contains("is being handed in")))
		if a := v.post(t, exercise+"/submissions", form(0, "late\n")); a.status != http.StatusGone {
			t.Errorf("handed in after the end: status %d", a.status)
		}
		v.get(t, exercise, http.StatusGone)
		if a := v.post(t, exercise+"/drafts", form(0, "on its way\n")); a.status != http.StatusSeeOther {
			t.Errorf("a draft that was on its way: status %d", a.status)
		}
		b.clock.advance(time.Millisecond)
		if a := v.post(t, exercise+"/drafts", form(1, "late\n")); a.status != http.StatusGone {
			t.Errorf("a draft that came late: status %d", a.status)
		}
		checked(t, v.get(t, link, 200).body, htmlcheck.In(`section[aria-labelledby="handed-in"] a`, htmlcheck.Text("Charge once")))
		playback := b.owner.get(t, "/en/assign/1/candidates/1/exercises/core/charge-once", 200).body
		checked(t, playback, htmlcheck.In("main", htmlcheck.Contains("Step 2 of 2")), htmlcheck.In(".source", htmlcheck.Contains("on its way")))

		// Without a limit, extra time begins where the assignment closes.
		path := b.made(t, views.MinutesField, "", views.ClosesField, "2026-03-02T12:00")
		link = b.invite(t, path, url.Values{views.NameField: {"Grace"}, views.ExtraField: {"30"}})
		checked(t, v.get(t, link, 200).body,
			htmlcheck.In(`section[aria-labelledby="rules"] time`, htmlcheck.Attr("datetime", "2026-03-02T12:30:00Z")),
			htmlcheck.In(`section[aria-labelledby="rules"]`, htmlcheck.Contains("is given back to you")))
		v.post(t, link+"/start", nil)
		checked(t, v.get(t, link, 200).body, htmlcheck.In("[role=timer] + span time", htmlcheck.Attr("datetime", "2026-03-02T12:30:00Z")))
	})

	// Each text that the editor saved can be compared, also in a long sitting.
	t.Run("ManyDrafts", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		a := newAssignment(t, b.testBundle, b.by, store.Assignment{})
		_, c := newCandidate(t, b.testBundle, b.by, a)
		for i := range int64(store.MaxDraftVersions + 20) {
			d := store.NewDraft{Exercise: "core/charge-once", Base: i, Auto: true, Files: []store.File{{Name: "handler.go", Content: fmt.Append(nil, i)}}}
			if _, err := b.st.SaveDraft(t.Context(), c.Browser, d, b.clock.now()); err != nil {
				t.Fatal(err)
			}
		}
		body := b.owner.get(t, fmt.Sprintf("/en/assign/%d/candidates/%d/exercises/core/charge-once/history", a.ID, c.ID), 200).body
		if !strings.Contains(body, `value="v1"`) {
			t.Error("the page leaves the first versions out")
		}
	})

	// The report is about all that was handed in, not only about what a page for
	// practising would list.
	t.Run("ManySubmissions", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		a := newAssignment(t, b.testBundle, b.by, store.Assignment{})
		_, c := newCandidate(t, b.testBundle, b.by, a)
		for i := range 250 {
			outcome := "failed"
			if i == 0 {
				outcome = "passed"
			}
			_, err := b.st.Write.ExecContext(t.Context(), `INSERT INTO submissions
				(public_id, browser_id, exercise, exercise_version, engine, seed, files, source_hash, state, outcome, verdict, created_at, finished_at)
				SELECT $1, id, 'core/charge-once', '1.0.0', '3', 1, x'', '', 'graded', $2, '{}', $3, $3 FROM browsers WHERE token_hash = $4`,
				fmt.Sprint("sub", i), outcome, i, string(c.Browser))
			if err != nil {
				t.Fatal(err)
			}
		}
		csv := b.owner.get(t, fmt.Sprintf("/en/assign/%d/candidates.csv", a.ID), 200).body
		if !strings.Contains(csv, ",passed,250,") {
			t.Errorf("%q", csv)
		}
	})

	// A pack may be removed while there are still assignments of its exercises.
	t.Run("UninstalledPack", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		a := newAssignment(t, b.testBundle, b.by, store.Assignment{Exercises: []string{"gone/task"}, Limit: time.Hour})
		token, c := newCandidate(t, b.testBundle, b.by, a)
		v := b.visitor(t)
		v.post(t, "/en/a/"+token+"/start", nil)
		report := fmt.Sprintf("/en/assign/%d/candidates/%d", a.ID, c.ID)
		b.owner.get(t, report, 200)
		for who, path := range map[*visitor]string{b.owner: report + "/exercises/gone/task", v: "/en/a/" + token + "/exercises/gone/task"} {
			body := who.get(t, path, 404).body
			checked(t, body, htmlcheck.In("h1", htmlcheck.Text("This exercise is not installed")), htmlcheck.In("main", htmlcheck.Contains("gone/task")))
			if out := strings.Contains(body, "To the home page"); out == (who == v) { // whose clock runs is not led away
				t.Errorf("%s leads to the home page: %v", path, out)
			}
		}
		b.owner.get(t, report+"/candidate.json", 200)
	})

	// All that a candidate may leave behind does not have to fit into memory.
	t.Run("ExportIsSentAsItIsRead", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		a := newAssignment(t, b.testBundle, b.by, store.Assignment{})
		_, c := newCandidate(t, b.testBundle, b.by, a)
		text := strings.Repeat("x", 60<<10)
		const versions = 40
		for i := range int64(versions) {
			d := store.NewDraft{Exercise: "core/charge-once", Base: i, Auto: true, Files: []store.File{{Name: "handler.go", Content: fmt.Append([]byte(text), i)}}}
			if _, err := b.st.SaveDraft(t.Context(), c.Browser, d, b.clock.now()); err != nil {
				t.Fatal(err)
			}
		}
		w := &pieces{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequest("GET", fmt.Sprintf("/en/assign/%d/candidates/%d/candidate.json", a.ID, c.ID), nil)
		at, err := url.Parse(b.ts.URL)
		if err != nil {
			t.Fatal(err)
		}
		for _, cookie := range b.owner.client.Jar.Cookies(at) {
			r.AddCookie(cookie)
		}
		b.srv.ServeHTTP(w, r)
		var all exportedAssignment
		if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil || w.Code != http.StatusOK {
			t.Fatalf("status %d, err %v", w.Code, err)
		}
		if n := len(all.Candidates[0].Exercises[0].Drafts); n != versions || w.largest > 2*len(text) {
			t.Errorf("%d drafts, at once %d bytes of %d", n, w.largest, w.Body.Len())
		}
	})

	t.Run("WarmUpThenTheClock", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		path := b.made(t, views.WarmUpField, "core/charge-once", views.ExercisesField, "core/secret")
		link := b.invite(t, path, url.Values{views.NameField: {"Grace"}})
		v := b.visitor(t)
		warmUp := link + "/exercises/core/charge-once"
		checked(t, v.get(t, link, 200).body, htmlcheck.In(`section[aria-labelledby="warm-up"] a`, htmlcheck.Attr("href", warmUp)))
		v.get(t, warmUp, 200)
		if a := v.post(t, warmUp+"/drafts", form(0, "try\n")); a.status != http.StatusSeeOther {
			t.Errorf("status %d", a.status)
		}
		v.get(t, link+"/exercises/core/secret", 404)
		v.post(t, link+"/start", nil)
		v.get(t, warmUp, 404)
		v.get(t, link+"/exercises/core/secret", 200)
		v.post(t, link+"/end", nil)
		checked(t, v.get(t, link, 200).body, htmlcheck.In("main", htmlcheck.Contains("You have finished.")))
	})

	t.Run("CancelAndExtra", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		path := b.made(t)
		link := b.invite(t, path, url.Values{views.NameField: {"Grace"}})
		v := b.visitor(t)
		v.post(t, link+"/start", nil)
		report := path + "/candidates/1"
		b.owner.post(t, report+"/extra", url.Values{views.ExtraField: {"15"}})
		checked(t, v.get(t, link, 200).body, htmlcheck.In("[role=timer]", htmlcheck.Attr("data-left", "4500")))
		if a := b.owner.post(t, report+"/extra", url.Values{views.ExtraField: {"999"}}); a.status != http.StatusUnprocessableEntity {
			t.Errorf("status %d", a.status)
		}
		v.post(t, link+"/exercises/core/charge-once/drafts", form(0, "package handler\n"))
		b.owner.post(t, report+"/cancel", nil)
		if body := b.owner.get(t, report, 200).body; !strings.Contains(body, "the link was cancelled") || !strings.Contains(body, "1 submission") {
			t.Error("the report does not say that it was cancelled, or lacks what stood there")
		}
		if a := v.post(t, link+"/exercises/core/charge-once/drafts", form(1, "more\n")); a.status != http.StatusGone {
			t.Errorf("status %d", a.status)
		}
		checked(t, v.get(t, link, 200).body, htmlcheck.In("main", htmlcheck.Contains("The interviewer has ended this sitting.")))
		link = b.invite(t, path, url.Values{views.NameField: {"Linus"}})
		b.owner.post(t, path+"/candidates/2/cancel", nil)
		checked(t, v.get(t, link, 200).body, htmlcheck.In("main", htmlcheck.Contains("cancelled before you began")))
	})
}
