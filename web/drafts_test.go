package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"redeliver/web/views/htmlcheck"
)

// holds wants the form to be based on a version and to hold a text.
func holds(t *testing.T, a answer, base, text string) {
	t.Helper()
	htmlcheck.Page(t, a.body, htmlcheck.In("input[name=base]", htmlcheck.Attr("value", base)))
	if !strings.Contains(a.body, ">\n"+text+"</textarea>") {
		t.Errorf("the form does not hold %q", text)
	}
}

func TestDrafts(t *testing.T) {
	t.Parallel()

	saved := func(t *testing.T, a answer, notice string) {
		t.Helper()
		if want := exercisePage + "?notice=" + notice; a.status != http.StatusSeeOther || a.header.Get("Location") != want {
			t.Fatalf("status %d, leads to %q, want %q", a.status, a.header.Get("Location"), want)
		}
	}

	t.Run("SavedAndShownAgain", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		v.get(t, exercisePage, http.StatusOK)
		saved(t, v.post(t, exercisePage+"/drafts", form(0, "one\n\tтекст\n")), "saved")
		holds(t, v.get(t, exercisePage, http.StatusOK), "1", "one\n\tтекст\n")
		saved(t, v.post(t, exercisePage+"/drafts", form(1, "one\n\tтекст\n")), "unchanged")
		saved(t, v.post(t, exercisePage+"/drafts", form(1, "two\n")), "saved")
		holds(t, v.get(t, exercisePage, http.StatusOK), "2", "two\n")
		// Earlier versions stay, and saving one makes it the newest.
		old := v.get(t, exercisePage+"?version=1", http.StatusOK)
		holds(t, old, "2", "one\n\tтекст\n")
		htmlcheck.Page(t, old.body, htmlcheck.In("#draft-state", htmlcheck.Contains("This is version 1 of your draft; the newest is 2.")))
		holds(t, v.get(t, exercisePage+"?version=0", http.StatusOK), "2", "\npackage handler // starter\n")
		// Another browser starts from the starter.
		holds(t, b.visitor(t).get(t, exercisePage, http.StatusOK), "0", "\npackage handler // starter\n")
	})

	t.Run("SubmittingSavesToo", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		v.submit(t, 0, "handed in\n")
		holds(t, v.get(t, exercisePage, http.StatusOK), "1", "handed in\n")
	})

	for _, action := range []string{"drafts", "submissions"} {
		t.Run("OtherTabIsTold/"+action, func(t *testing.T) {
			t.Parallel()
			b := setup(t, Config{}, testCatalog())
			v := b.visitor(t)
			v.get(t, exercisePage, http.StatusOK)
			saved(t, v.post(t, exercisePage+"/drafts", form(0, "from one tab\n")), "saved")
			a := v.post(t, exercisePage+"/"+action, form(0, "from the other tab\n"))
			if a.status != http.StatusConflict {
				t.Fatalf("status %d", a.status)
			}
			holds(t, a, "1", "from the other tab\n")
			htmlcheck.Page(t, a.body, htmlcheck.NothingInline, htmlcheck.LinksWithin,
				htmlcheck.In("[role=alert]", htmlcheck.Contains("This draft was changed in another tab: version 1 was saved")),
				htmlcheck.In("textarea.other[readonly]", htmlcheck.Text("from one tab")))
			holds(t, v.get(t, exercisePage, http.StatusOK), "1", "from one tab\n") // nothing was overwritten
			// Sending the shown form again is a decision.
			if again := v.post(t, exercisePage+"/"+action, form(1, "from the other tab\n")); again.status != http.StatusSeeOther {
				t.Errorf("again: status %d", again.status)
			}
			holds(t, v.get(t, exercisePage, http.StatusOK), "2", "from the other tab\n")
		})
	}

	t.Run("EditorSavesByItself", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		auto := func(base int, text string, want int) draftAnswer {
			t.Helper()
			values := form(base, text)
			values.Set("auto", "1")
			a := v.do(t, "POST", exercisePage+"/drafts", strings.NewReader(values.Encode()),
				http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"application/json"}})
			var said draftAnswer
			if err := json.Unmarshal([]byte(a.body), &said); err != nil || a.status != want {
				t.Fatalf("status %d, %q, err %v", a.status, a.body, err)
			}
			return said
		}
		if said := auto(0, "one\n", 200); said.Version != 1 || !strings.HasPrefix(said.State, "Draft version 1, saved ") || said.Problem != "" {
			t.Errorf("said %+v", said)
		}
		auto(1, "two\n", 200)
		if said := auto(1, "from another tab\n", 409); said.Version != 0 || !strings.HasPrefix(said.Problem, "Another tab has saved version 2 (") {
			t.Errorf("said %+v", said)
		}
		if said := auto(2, strings.Repeat("x", maxSource), 413); !strings.Contains(said.Problem, "at most") {
			t.Errorf("said %+v", said)
		}
		holds(t, v.get(t, exercisePage, http.StatusOK), "2", "two\n")
		saved(t, v.post(t, exercisePage+"/drafts", form(2, "two\n")), "unchanged") // but wanted now
		history := v.get(t, exercisePage+"/history", http.StatusOK).body
		htmlcheck.Page(t, history, htmlcheck.In("section[aria-labelledby=drafts] li:nth-child(2)", htmlcheck.Contains("(saved by itself)")))
		if n := strings.Count(history, "(saved by itself)"); n != 1 {
			t.Errorf("%d versions are said to be saved by themselves", n)
		}
	})

	t.Run("ResetKeepsWhatWasWritten", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		saved(t, v.post(t, exercisePage+"/drafts", form(0, "one\n")), "saved")
		saved(t, v.post(t, exercisePage+"/reset", form(1, "never saved\n")), "reset")
		holds(t, v.get(t, exercisePage, http.StatusOK), "3", "\npackage handler // starter\n")
		holds(t, v.get(t, exercisePage+"?version=2", http.StatusOK), "3", "never saved\n")
		holds(t, v.get(t, exercisePage+"?version=1", http.StatusOK), "3", "one\n")
		// A page that has not seen the newest version resets nothing.
		if a := v.post(t, exercisePage+"/reset", form(1, "old page\n")); a.status != http.StatusConflict || !strings.Contains(a.body, "old page") {
			t.Errorf("status %d", a.status)
		}
		if a := v.post(t, exercisePage+"/reset", form(3, strings.Repeat("x", maxSource))); a.status != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d", a.status)
		}
	})

	t.Run("SecondSubmissionWhileOneWaits", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		first, _ := v.submit(t, 0, "one\n")
		second, query := v.submit(t, 1, "one\n")
		if second != first || query != "notice=running" {
			t.Errorf("leads to %s?%s, want %s", second, query, first)
		}
		htmlcheck.Page(t, v.get(t, second+"?"+query, http.StatusOK).body,
			htmlcheck.In(".notice", htmlcheck.Contains("The same source is being graded already; this is it.")))
		third, query := v.submit(t, 1, "two\n")
		if third == first || query != "" {
			t.Errorf("leads to %s?%s", third, query)
		}
		old := v.get(t, first, http.StatusOK).body
		checked(t, old, htmlcheck.In("#result", htmlcheck.Contains("A newer submission took the place of this one")), htmlcheck.In("#result a", htmlcheck.Attr("href", third)))
		if strings.Contains(old, "sse-connect") || strings.Contains(old, "http-equiv") {
			t.Error("the page of what is not graded waits for something")
		}
		until(t, v.stream(t, first+"/events", ""), "event: done") // a page that was open is told
		checked(t, v.get(t, exercisePage+"/history", http.StatusOK).body, htmlcheck.In("main", htmlcheck.Contains("Replaced")))
		holds(t, v.get(t, exercisePage, http.StatusOK), "2", "two\n")
	})

	t.Run("UnusableForms", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Config{}, testCatalog())
		v := b.visitor(t)
		withoutFile, twoOfOne, badBase, negative := form(0, "x"), form(0, "x"), form(0, "x"), form(-1, "x")
		withoutFile.Del("file.schema.sql")
		twoOfOne.Add("file.handler.go", "y")
		badBase.Set("base", "one")
		for name, values := range map[string]map[string][]string{
			"WithoutFile": withoutFile, "TwoOfOneFile": twoOfOne, "BadBase": badBase, "NegativeBase": negative, "Empty": {},
		} {
			for _, action := range []string{"drafts", "submissions"} {
				if a := v.post(t, exercisePage+"/"+action, values); a.status != http.StatusBadRequest {
					t.Errorf("%s to %s: status %d", name, action, a.status)
				}
			}
		}
		if a := v.post(t, "/en/exercises/core/secret/drafts", form(0, "x")); a.status != http.StatusNotFound {
			t.Errorf("an assigned exercise: status %d", a.status)
		}
		a := v.do(t, "POST", exercisePage+"/drafts", strings.NewReader("base=0&file.handler.go=%zz"),
			http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
		if a.status != http.StatusBadRequest {
			t.Errorf("broken encoding: status %d", a.status)
		}
	})
}
