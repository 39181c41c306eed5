package web

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redeliver/content"
	"redeliver/exercises"
	"redeliver/grader/verdict"
	"redeliver/web/labs"
	"redeliver/web/review"
	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/views/htmlcheck"
)

// setupPractice starts a server with the built-in exercises, whose grader answers
// at once, and a clock.
func setupPractice(t *testing.T) (*testBundle, *atomic.Int64) {
	t.Helper()
	clock := &atomic.Int64{}
	clock.Store(time.Now().UnixMilli()) // submissions have the queue's clock
	b := setup(t, Config{Now: func() time.Time { return time.UnixMilli(clock.Load()) }}, exercises.Open(exercises.Builtin(), nil))
	b.start(t)
	return b, clock
}

func failed(kinds ...verdict.Kind) verdict.Verdict {
	v := verdictOf(verdict.Failed)
	for _, k := range kinds {
		v.Findings = append(v.Findings, verdict.Finding{Kind: k, Message: "It went wrong."})
	}
	return v
}

// predict says something of the starter and returns the address of its verdict.
func (v *visitor) predict(t *testing.T, guess string, given verdict.Verdict) string {
	t.Helper()
	a := v.post(t, exercisePage+"/predictions", url.Values{"guess": {guess}})
	if a.status != http.StatusSeeOther {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	path, _, _ := strings.Cut(a.header.Get("Location"), "?")
	v.b.grader.verdicts <- given
	v.b.graded(t, v, path)
	return path
}

func TestPrediction(t *testing.T) {
	t.Parallel()

	t.Run("IsComparedWithTheVerdict", func(t *testing.T) {
		t.Parallel()
		b, _ := setupPractice(t)
		v := b.visitor(t)
		if a := v.post(t, exercisePage+"/drafts", form(0, "mine")); a.status != http.StatusSeeOther {
			t.Fatalf("status %d", a.status)
		}
		htmlcheck.Page(t, v.get(t, exercisePage, 200).body,
			htmlcheck.Count(".predict input[type=radio]", 6), htmlcheck.In(".predict input[value=duplicate][required]"),
			htmlcheck.NotIn(".predict[open]"))
		path := v.predict(t, "lost", failed("duplicate", "lost"))
		htmlcheck.Page(t, v.get(t, path, 200).body,
			htmlcheck.In(".practised", htmlcheck.Contains("You said of the starter: Something is lost. It came out: Done twice, Lost. You were right.")))
		page := v.get(t, exercisePage, 200).body
		htmlcheck.Page(t, page, htmlcheck.NotIn(".predict input"), htmlcheck.In(".predict", htmlcheck.Contains("You were right.")))
		if !strings.Contains(page, ">\nmine</textarea>") {
			t.Error("the reader's own text is not in the form any more")
		}
		// Another text is not what the prediction was about.
		own, _ := v.submit(t, 1, "mine too")
		b.grader.verdicts <- verdictOf(verdict.Passed)
		b.graded(t, v, own)
		htmlcheck.Page(t, v.get(t, own, 200).body, htmlcheck.NotIn(".practised strong"))
	})

	t.Run("MissedBecomesACard", func(t *testing.T) {
		t.Parallel()
		b, clock := setupPractice(t)
		v := b.visitor(t)
		path := v.predict(t, "passed", failed("duplicate"))
		clock.Add(1000 * 60) // the verdict has the queue's clock, which goes on
		htmlcheck.Page(t, v.get(t, path, 200).body,
			htmlcheck.In(".practised strong", htmlcheck.Contains("It came out otherwise")),
			htmlcheck.In(".practised p + p", htmlcheck.Contains("5 cards about this wait in your review.")))
		seen := false
		for range 6 { // five pitfalls, then the prediction
			page := v.get(t, "/en/review", 200).body
			seen = seen || strings.Contains(page, "What came out, and why?") && strings.Contains(page, "It came out: Done twice.")
			v.rate(t, page, "good")
		}
		if !seen {
			t.Error("the prediction was not asked about")
		}
	})

	t.Run("NothingIsRunWithoutAChoiceOrTooLate", func(t *testing.T) {
		t.Parallel()
		b, _ := setupPractice(t)
		v := b.visitor(t)
		none := v.post(t, exercisePage+"/predictions", url.Values{})
		if none.status != http.StatusUnprocessableEntity {
			t.Errorf("status %d", none.status)
		}
		htmlcheck.Page(t, none.body, htmlcheck.In("[role=alert]", htmlcheck.Contains("Choose first")), htmlcheck.Count(".predict input[type=radio]", 6))
		if a := v.post(t, exercisePage+"/predictions", url.Values{"guess": {"rain"}}); a.status != http.StatusBadRequest {
			t.Errorf("unknown guess: status %d", a.status)
		}
		if a := v.post(t, "/en/exercises/core/nothing/predictions", url.Values{"guess": {"lost"}}); a.status != http.StatusNotFound {
			t.Errorf("unknown exercise: status %d", a.status)
		}
		v.submit(t, 0, "something")
		late := v.post(t, exercisePage+"/predictions", url.Values{"guess": {"lost"}})
		htmlcheck.Page(t, late.body, htmlcheck.In("[role=alert]", htmlcheck.Contains("would come too late")), htmlcheck.NotIn(".predict"))
		b.grader.verdicts <- failed("lost")
		if to := v.get(t, exercisePage+"/predictions", http.StatusSeeOther).header.Get("Location"); to != exercisePage {
			t.Errorf("leads to %s", to)
		}
	})
}

// field reads a hidden field of the form that rates a card.
func field(page, name string) string {
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	if found == nil {
		return ""
	}
	return found[1]
}

func ratingOf(page, rating string) url.Values {
	return url.Values{"card": {field(page, "card")}, "reps": {field(page, "reps")}, "more": {field(page, "more")}, "back": {field(page, "back")}, "rating": {rating}}
}

// rate presses a button below the card of a page and returns where that leads.
func (v *visitor) rate(t *testing.T, page, rating string) string {
	t.Helper()
	a := v.post(t, "/en/review", ratingOf(page, rating))
	if a.status != http.StatusSeeOther {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	return a.header.Get("Location")
}

func TestReview(t *testing.T) {
	t.Parallel()

	t.Run("CardByCardUntilNothingIsLeft", func(t *testing.T) {
		t.Parallel()
		b, clock := setupPractice(t)
		v := b.visitor(t)
		first := v.get(t, "/en/review", 200)
		if len(first.header.Values("Set-Cookie")) != 1 { // the language
			t.Errorf("looking sets cookies: %v", first.header.Values("Set-Cookie"))
		}
		htmlcheck.Page(t, first.body,
			htmlcheck.In("main > p", htmlcheck.Contains("Answer for yourself")),
			htmlcheck.In(".card .badge", htmlcheck.Text("Question")),
			htmlcheck.In("#prompt", htmlcheck.Contains("How do you process Kafka messages idempotently?")),
			htmlcheck.In("details.answer:not([open]) form.rating"),
			htmlcheck.Count(".rating button", 4),
			htmlcheck.In(".rating button[value=again] span", htmlcheck.Text("in 1 day")))
		for n := range review.NewPerDay {
			page := v.get(t, "/en/review", 200).body
			if n == 1 {
				htmlcheck.Page(t, page, htmlcheck.In(".card .badge", htmlcheck.Text("Wrong claim")), htmlcheck.In(".links a[rel=nofollow]"))
			}
			to := v.rate(t, page, "again")
			tomorrow := time.UnixMilli(clock.Load()).UTC().AddDate(0, 0, 1).Format("2006-01-02")
			htmlcheck.Page(t, v.get(t, to, 200).body, htmlcheck.In(".notice", htmlcheck.Text("The card before comes again on "+tomorrow+".")))
		}
		done := v.get(t, "/en/review", 200).body
		htmlcheck.Page(t, done, htmlcheck.NotIn(".card"), htmlcheck.NotIn(".rating"),
			htmlcheck.In("main > p", htmlcheck.Contains("That is all for today. The next card comes on")),
			htmlcheck.In("main form button", htmlcheck.Text("Take five of them now")),
			htmlcheck.In("main li a", htmlcheck.Text("Exercises")))
		more := v.get(t, "/en/review?more=5", 200).body
		htmlcheck.Page(t, more, htmlcheck.In("main > p.muted", htmlcheck.Text("5 cards are left for today.")))
		if to := v.rate(t, more, "easy"); !strings.Contains(to, "more=4") {
			t.Errorf("leads to %s", to)
		}
		clock.Add((24 * time.Hour).Milliseconds())
		htmlcheck.Page(t, v.get(t, "/en/review", 200).body,
			htmlcheck.In(".card .muted", htmlcheck.Contains("Its day has come.")),
			htmlcheck.In("main > p.muted", htmlcheck.Text("20 cards are left for today.")))
	})

	t.Run("SecondClickCountsNothing", func(t *testing.T) {
		t.Parallel()
		b, _ := setupPractice(t)
		v := b.visitor(t)
		page := v.get(t, "/en/review", 200).body
		v.rate(t, page, "easy")
		if to := v.rate(t, page, "again"); to != "/en/review?notice=stale" {
			t.Errorf("leads to %s", to)
		}
		p, err := b.st.Practice(t.Context(), v.browser(t))
		if err != nil || len(p.Cards) != 1 || p.Cards[0].Reps != 1 {
			t.Errorf("%+v, err %v", p.Cards, err)
		}
	})

	t.Run("WhatNoPageSendsIsRefused", func(t *testing.T) {
		t.Parallel()
		b, _ := setupPractice(t)
		v := b.visitor(t)
		page := v.get(t, "/en/review", 200).body
		for name, change := range map[string][2]string{
			"Rating": {"rating", "perfect"}, "Card": {"card", "question/mine"}, "Reps": {"reps", "-1"}, "NoReps": {"reps", ""},
			"UnpredictedCard": {"card", "prediction/core/charge-once"}, "LongCard": {"card", strings.Repeat("x", 10_000)},
		} {
			values := ratingOf(page, "good")
			values.Set(change[0], change[1])
			if a := v.post(t, "/en/review", values); a.status != http.StatusBadRequest {
				t.Errorf("%s: status %d", name, a.status)
			}
		}
		for _, more := range []string{"-1", "x", "1000000000000000000000"} {
			v.get(t, "/en/review?more="+more, 200)
		}
		if p, err := b.st.Practice(t.Context(), v.browser(t)); err != nil || len(p.Cards) != 0 {
			t.Errorf("%+v, err %v", p.Cards, err)
		}
	})

	t.Run("RatingsAreCounted", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{RatingsPerMinute: 2}, testCatalog())
		v := b.visitor(t)
		for _, want := range []int{303, 303, 429} {
			page := v.get(t, "/en/review", 200).body
			if a := v.post(t, "/en/review", ratingOf(page, "good")); a.status != want {
				t.Errorf("status %d, want %d", a.status, want)
			}
		}
	})

	t.Run("AFailureBringsItsCardsForward", func(t *testing.T) {
		t.Parallel()
		b, clock := setupPractice(t)
		v := b.visitor(t)
		path, _ := v.submit(t, 0, "wrong")
		b.grader.verdicts <- failed("stuck")
		b.graded(t, v, path)
		clock.Add(1000 * 60)
		page := v.get(t, "/en/review", 200).body
		if field(page, "card") != "pitfall/process-idempotently/report-the-copy" || !strings.Contains(page, "Brought forward: a submission of yours for") {
			t.Fatalf("the first card is %s", field(page, "card"))
		}
		v.rate(t, page, "good") // due in days, but for another failure
		clock.Add(1000 * 60)
		if next := field(v.get(t, "/en/review", 200).body, "card"); next == field(page, "card") {
			t.Errorf("%s comes again at once", next)
		}
	})

	t.Run("AQuestionCanBeRatedOnItsPage", func(t *testing.T) {
		t.Parallel()
		b, _ := setupPractice(t)
		v := b.visitor(t)
		const question = "/en/questions/acks-all"
		page := v.get(t, question, 200).body
		if to := v.rate(t, page, "hard"); to != question+"#rated" {
			t.Errorf("leads to %s", to)
		}
		htmlcheck.Page(t, v.get(t, question, 200).body, htmlcheck.In("#rated", htmlcheck.Contains("It comes again on")), htmlcheck.NotIn(".rating"))
		htmlcheck.Page(t, v.get(t, "/en/questions", 200).body, htmlcheck.Count(".cards .badge", 1))
		htmlcheck.Page(t, v.get(t, "/en/", 200).body, htmlcheck.In(".practised-line", htmlcheck.Text("0 of 17 exercises passed.")))
	})
}

// browser is who a visitor is to the store.
func (v *visitor) browser(t *testing.T) store.Browser {
	t.Helper()
	address, err := url.Parse(v.b.ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.client.Jar.Cookies(address) {
		if c.Name == "redeliver" {
			return store.BrowserOf(c.Value)
		}
	}
	return ""
}

// upload sends a file as a browser does.
func (v *visitor) upload(t *testing.T, name string, text []byte) answer {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile(name, "progress.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return v.do(t, "POST", "/en/progress/import", &body, http.Header{"Content-Type": {w.FormDataContentType()}})
}

func TestProgress(t *testing.T) {
	t.Parallel()

	t.Run("SaysWhatWasPractised", func(t *testing.T) {
		t.Parallel()
		b, _ := setupPractice(t)
		v := b.visitor(t)
		htmlcheck.Page(t, v.get(t, "/en/progress", 200).body, htmlcheck.In("main > p + p", htmlcheck.Contains("Nothing yet.")), htmlcheck.NotIn(".facts"))
		v.predict(t, "duplicate", failed("duplicate"))
		v.rate(t, v.get(t, "/en/questions/acks-all", 200).body, "good")
		path, _ := v.submit(t, 0, "right")
		b.grader.verdicts <- verdictOf(verdict.Passed)
		b.graded(t, v, path)
		htmlcheck.Page(t, v.get(t, "/en/progress", 200).body,
			htmlcheck.In(".facts div:nth-child(1) dd", htmlcheck.Text("1 of 17")),
			htmlcheck.In(".facts div:nth-child(3) dd", htmlcheck.Text("1 of 33")),
			htmlcheck.In(".facts div:nth-child(4) dd", htmlcheck.Text("1 of 1")),
			htmlcheck.In("#exercises + .cards li", htmlcheck.Contains("Something is done twice: right")),
			htmlcheck.In("#mistakes + .cards li", htmlcheck.Contains("Done twice")), htmlcheck.In("#mistakes + .cards .muted", htmlcheck.Text("1 submission")))
		htmlcheck.Page(t, v.get(t, "/en/exercises", 200).body, htmlcheck.Count(".cards .badge", 1), htmlcheck.In(".cards .badge.is-passed"))
		htmlcheck.Page(t, v.get(t, "/en/", 200).body, htmlcheck.In(".practised-line", htmlcheck.Contains("1 of 17 exercises passed. 5 cards wait in your review.")))
	})

	t.Run("GoesToAnotherBrowserAsAFile", func(t *testing.T) {
		t.Parallel()
		b, _ := setupPractice(t)
		ada, bob := b.visitor(t), b.visitor(t)
		ada.predict(t, "passed", failed("duplicate"))
		ada.rate(t, ada.get(t, "/en/review", 200).body, "easy")
		file := ada.get(t, "/en/progress/redeliver-progress.json", 200)
		if got := file.header.Get("Content-Disposition"); got != `attachment; filename="redeliver-progress.json"` {
			t.Errorf("disposition %q", got)
		}
		for range 2 {
			a := bob.upload(t, "file", []byte(strings.Replace(file.body, "question/", "question/no-", 1)))
			if a.status != http.StatusSeeOther {
				t.Fatalf("status %d: %s", a.status, a.body)
			}
			htmlcheck.Page(t, bob.get(t, a.header.Get("Location"), 200).body, htmlcheck.In(".notice", htmlcheck.Contains("The file was added.")))
		}
		again := bob.get(t, "/en/progress/redeliver-progress.json", 200).body
		if stamp := regexp.MustCompile(`"exported_at": "[^"]*"`); stamp.ReplaceAllString(again, "") != stamp.ReplaceAllString(file.body, "") {
			t.Errorf("what bob has is not what ada had:\n%s\n%s", again, file.body)
		}
		htmlcheck.Page(t, bob.get(t, exercisePage, 200).body, htmlcheck.NotIn(".predict input")) // seen elsewhere
	})

	t.Run("AFileThatCannotBeUsedChangesNothing", func(t *testing.T) {
		t.Parallel()
		b, _ := setupPractice(t)
		v := b.visitor(t)
		v.rate(t, v.get(t, "/en/review", 200).body, "good")
		sound := v.get(t, "/en/progress/redeliver-progress.json", 200).body
		for name, tc := range map[string]struct{ field, text, want string }{
			"NoFile":    {"other", sound, "Choose a file first."},
			"Empty":     {"file", "", "Choose a file first."},
			"NoJSON":    {"file", "<html>", "The file is not JSON"},
			"Version":   {"file", strings.Replace(sound, `"version": 1`, `"version": 7`, 1), "has version 7 of the format; this site reads version 1"},
			"Hostile":   {"file", strings.Replace(sound, `"card"`, `"<script>alert(1)</script>"`, 1), "of another type: <script>alert(1)</script>."},
			"Changed":   {"file", strings.Replace(sound, `"reps": 1`, `"reps": 0`, 1), "cannot be: cards 1, reps."},
			"Large":     {"file", strings.Repeat(" ", review.MaxFile+1), "has more than 262144 bytes"},
			"VeryLarge": {"file", strings.Repeat(" ", 3<<20), "has more than 262144 bytes"},
		} {
			a := v.upload(t, tc.field, []byte(tc.text))
			if a.status != http.StatusUnprocessableEntity {
				t.Errorf("%s: status %d", name, a.status)
			}
			htmlcheck.Page(t, a.body, htmlcheck.In("[role=alert] p + p", htmlcheck.Contains(tc.want)), htmlcheck.NothingInline)
		}
		if a := v.post(t, "/en/progress/import", url.Values{"file": {"x"}}); a.status != http.StatusBadRequest {
			t.Errorf("a form of another kind: status %d", a.status)
		}
		if after := v.get(t, "/en/progress/redeliver-progress.json", 200).body; !strings.Contains(after, `"reps": 1`) || strings.Count(after, `"card"`) != 1 {
			t.Errorf("after all that: %s", after)
		}
		if to := v.get(t, "/en/progress/import", http.StatusSeeOther).header.Get("Location"); to != "/en/progress" {
			t.Errorf("leads to %s", to)
		}
	})
}

func TestForgetMe(t *testing.T) {
	t.Parallel()
	b, _ := setupPractice(t)
	v := b.visitor(t)
	path := v.predict(t, "passed", failed("duplicate"))
	v.rate(t, v.get(t, "/en/review", 200).body, "easy")
	if a := v.post(t, "/en/labs/lost-ack", url.Values{"action": {"start"}}); a.status != http.StatusSeeOther {
		t.Fatalf("status %d", a.status)
	}
	waiting, _ := v.submit(t, 0, "waits for its verdict")
	who := v.browser(t)

	unsure := v.post(t, "/en/progress/forget", url.Values{})
	if unsure.status != http.StatusUnprocessableEntity {
		t.Errorf("status %d", unsure.status)
	}
	htmlcheck.Page(t, unsure.body, htmlcheck.In("[role=alert]", htmlcheck.Contains("Nothing was deleted.")))
	v.get(t, path, 200)

	sure := v.post(t, "/en/progress/forget", url.Values{"sure": {"yes"}})
	if sure.status != http.StatusSeeOther || sure.header.Get("Clear-Site-Data") != `"storage"` || v.browser(t) != "" {
		t.Errorf("status %d, header %v, the visitor is still %q", sure.status, sure.header, v.browser(t))
	}
	htmlcheck.Page(t, v.get(t, sure.header.Get("Location"), 200).body,
		htmlcheck.In(".notice", htmlcheck.Contains("is deleted.")), htmlcheck.In("main > .lead + p", htmlcheck.Contains("Nothing yet.")))
	v.get(t, path, 404)
	v.get(t, waiting, 404)
	for _, table := range []string{"browsers", "drafts", "submissions", "submission_steps", "practised", "predictions", "mistakes", "cards"} {
		var n int
		if err := b.st.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows in %s, err %v", n, table, err)
		}
	}
	for _, slug := range labs.Slugs() {
		if state, _ := b.srv.rooms.Look(string(who), slug); state != nil {
			t.Errorf("the lab %s still stands", slug)
		}
	}
	// Who was never here can be forgotten too.
	if a := b.visitor(t).post(t, "/en/progress/forget", url.Values{"sure": {"yes"}}); a.status != http.StatusSeeOther {
		t.Errorf("status %d", a.status)
	}
}

// A stranger's cookie is nobody's.
func TestPracticeIsOnesOwn(t *testing.T) {
	t.Parallel()
	b, _ := setupPractice(t)
	ada, bob := b.visitor(t), b.visitor(t)
	ada.rate(t, ada.get(t, "/en/review", 200).body, "easy")
	if file := bob.get(t, "/en/progress/redeliver-progress.json", 200).body; strings.Contains(file, `"card":`) {
		t.Errorf("bob has a card of ada's: %s", file)
	}
}

// Every page about practice is there in every language, and says its words there.
func TestPracticeInEveryLanguage(t *testing.T) {
	t.Parallel()
	b, _ := setupPractice(t)
	v := b.visitor(t)
	path := v.predict(t, "passed", failed("duplicate"))
	for _, lang := range content.Languages() {
		for _, page := range []string{
			"/review", "/review?more=5", "/progress", "/progress?notice=imported&left-out=2", "/progress?notice=forgotten",
			"/questions/acks-all", "/exercises", "/exercises/core/outbox", "/", strings.TrimPrefix(path, "/en"),
		} {
			a := v.get(t, "/"+lang+page, 200)
			htmlcheck.Page(t, a.body, htmlcheck.NothingInline, htmlcheck.LinksWithin, htmlcheck.In("html", htmlcheck.Attr("lang", lang)),
				htmlcheck.In("meta[name=description]:not([content=''])"), htmlcheck.Count("h1", 1), htmlcheck.Count("link[rel=alternate]", 3))
		}
	}
	for _, page := range []string{"/review", "/progress"} {
		a := v.do(t, "GET", page, nil, http.Header{"Accept-Language": {"de"}})
		if to := a.header.Get("Location"); a.status != http.StatusFound || !strings.HasSuffix(to, page) {
			t.Errorf("%s: status %d, leads to %q", page, a.status, to)
		}
	}
}

// What a reader answers to a question is kept for its browser alone.
func TestOwnAnswer(t *testing.T) {
	t.Parallel()
	b, _ := setupPractice(t)
	v, other := b.visitor(t), b.visitor(t)
	const page = "/en/questions/process-idempotently"
	shows := func(v *visitor, text string) {
		t.Helper()
		htmlcheck.Page(t, v.get(t, page, http.StatusOK).body, htmlcheck.NothingInline, htmlcheck.In("#own-answer", htmlcheck.Text(text)))
	}
	save := func(text string, status int) answer {
		t.Helper()
		a := v.post(t, page+"/own-answer", url.Values{views.AnswerField: {text}})
		if a.status != status {
			t.Fatalf("status %d, want %d", a.status, status)
		}
		return a
	}
	v.get(t, page, http.StatusOK)
	shows(v, "")
	if to := save("With a key.\r\nAnd <b>one</b> \x00\xff transaction.", http.StatusSeeOther).header.Get("Location"); to != page+"#answer" {
		t.Errorf("leads to %s", to)
	}
	shows(v, "With a key. And <b>one</b> \uFFFD\uFFFD transaction.")
	shows(other, "")
	long := strings.Repeat("ё", views.MaxAnswer)
	htmlcheck.Page(t, save(long+"ё", http.StatusRequestEntityTooLarge).body, htmlcheck.In("#own-answer[aria-invalid]", htmlcheck.Text(long+"ё")),
		htmlcheck.In("[role=alert]", htmlcheck.Contains("at most 4000 characters")))
	shows(v, "With a key. And <b>one</b> \uFFFD\uFFFD transaction.")
	save(long, http.StatusSeeOther)
	shows(v, long)
	save(" \n", http.StatusSeeOther)
	shows(v, "")
	// It goes with the browser.
	save("Again.", http.StatusSeeOther)
	v.post(t, "/en/progress/forget", url.Values{"sure": {"yes"}})
	if left, err := b.st.Read.Query("SELECT question FROM own_answers"); err != nil || left.Next() {
		t.Error("the answer was not forgotten", err)
	} else if err := left.Close(); err != nil {
		t.Error(err)
	}
	if a := v.post(t, "/en/questions/nothing/own-answer", url.Values{views.AnswerField: {"x"}}); a.status != http.StatusNotFound {
		t.Errorf("no such question: status %d", a.status)
	}
}
