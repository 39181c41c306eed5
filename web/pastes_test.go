package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/views/htmlcheck"
)

// pasted is a mark as the editor sends it, of the second and third line of handler.go.
func pasted(id int, change ...any) map[string]any {
	mark := map[string]any{"id": fmt.Sprintf("%016x", id), "file": "handler.go", "from": 2, "to": 3, "lines": 2, "size": 210, "ago": 2000, "moved": false}
	for i := 0; i < len(change); i += 2 {
		mark[change[i].(string)] = change[i+1]
	}
	return mark
}

// pasteBundle is a sitting that has begun, and its report.
type pasteBundle struct {
	*assignBundle
	link, exercise, report string
	v                      *visitor
}

func setupPaste(t *testing.T) *pasteBundle {
	t.Helper()
	b := &pasteBundle{assignBundle: setupAssign(t)}
	path := b.made(t)
	b.link = b.invite(t, path, map[string][]string{views.NameField: {"Grace"}})
	b.exercise, b.report = b.link+"/exercises/core/charge-once", path+"/candidates/1"
	b.v = b.visitor(t)
	b.v.post(t, b.link+"/start", nil)
	b.clock.advance(time.Minute)
	return b
}

// save saves as the editor does.
func (b *pasteBundle) save(t *testing.T, path string, base int, text string, marks any) answer {
	t.Helper()
	values := form(base, text)
	field, err := json.Marshal(marks)
	if err != nil {
		t.Fatal(err)
	}
	values.Set(views.PastesField, string(field))
	values.Set("auto", "1")
	return b.v.post(t, path+"/drafts", values)
}

func (b *pasteBundle) exported(t *testing.T) exportedExercise {
	t.Helper()
	var all exportedAssignment
	if err := json.Unmarshal([]byte(b.owner.get(t, b.report+"/candidate.json", 200).body), &all); err != nil {
		t.Fatal(err)
	}
	return all.Candidates[0].Exercises[0]
}

func TestPastes(t *testing.T) {
	t.Parallel()

	t.Run("InTheReport", func(t *testing.T) {
		t.Parallel()
		b := setupPaste(t)
		if a := b.save(t, b.exercise, 0, "one\ntwo\nthree\n", []any{pasted(1), pasted(2, "from", 1, "to", 1, "moved", true, "ago", 1_000_000)}); a.status != http.StatusSeeOther {
			t.Fatalf("status %d: %s", a.status, a.body)
		}
		// An answer was lost, and the same marks come again with a later text.
		b.clock.advance(10 * time.Second)
		if a := b.save(t, b.exercise, 1, "zero\none\ntwo\nthree\n", []any{pasted(1, "from", 3, "to", 4)}); a.status != http.StatusSeeOther {
			t.Fatalf("status %d: %s", a.status, a.body)
		}
		b.v.post(t, b.exercise+"/drafts", form(2, "without a script\n"))

		body := b.owner.get(t, b.report, 200).body
		checked(t, body,
			htmlcheck.In(".axis-paste:not(.is-moved)", htmlcheck.Attr("points", "816.0,1 828.0,1 822.0,11")),
			htmlcheck.In(".pastes li:nth-child(2)", htmlcheck.Contains("0:58 handler.go, lines 2–3: pasted (lines: 2, characters: 210)")),
			htmlcheck.In(".pastes li:first-child", htmlcheck.Contains("0:00 handler.go, lines 1–1: moved within the exercise")), // not before the start
			htmlcheck.In(".exercise-report", htmlcheck.Contains("1 version was saved without the editor")))
		if !strings.Contains(body, "It is no reproach and changes no verdict.") {
			t.Error("the report does not say what a mark is")
		}
		if strings.Contains(body, "ones are not kept") {
			t.Error("two marks are all that are kept")
		}
		playback := b.report + "/exercises/core/charge-once"
		first := b.owner.get(t, playback+"?version=1", 200).body
		checked(t, first, htmlcheck.In("#f0-L2.pasted", htmlcheck.Contains("two")), htmlcheck.In("#f0-L3.pasted", htmlcheck.Contains("three")),
			htmlcheck.In(".pastes li", htmlcheck.Contains("lines 1–1")))
		if body := b.owner.get(t, playback+"?version=2", 200).body; strings.Contains(body, "pasted") || strings.Contains(body, "without the editor") {
			t.Error("the mark is also in the version after it")
		}
		checked(t, b.owner.get(t, playback+"?version=3", 200).body, htmlcheck.In("main", htmlcheck.Contains("saved without the editor")))

		e := b.exported(t)
		if len(e.Pastes) != 2 || e.Pastes[1].FromLine != 2 || e.Pastes[1].Version != 1 || e.Pastes[1].Size != 210 || !e.Pastes[0].Moved {
			t.Errorf("exported %+v", e.Pastes)
		}
		if e.Drafts[0].PastesNoted || !e.Drafts[1].PastesNoted {
			t.Errorf("exported %+v", e.Drafts)
		}
	})

	t.Run("WithASubmission", func(t *testing.T) {
		t.Parallel()
		b := setupPaste(t)
		values := form(0, "one\ntwo\nthree\n")
		values.Set(views.PastesField, `[{"id":"00000000000000aa","file":"handler.go","from":1,"to":3,"lines":3,"size":13,"ago":0,"moved":false}]`)
		if a := b.v.post(t, b.exercise+"/submissions", values); a.status != http.StatusSeeOther {
			t.Fatalf("status %d", a.status)
		}
		if e := b.exported(t); len(e.Pastes) != 1 || !e.Drafts[0].PastesNoted {
			t.Errorf("exported %+v", e)
		}
	})

	t.Run("CandidatesAreTold", func(t *testing.T) {
		t.Parallel()
		b := setupAssign(t)
		link := b.invite(t, b.made(t), map[string][]string{views.NameField: {"Grace"}})
		for lang, want := range map[string]string{"en": "When you paste text", "ru": "Если вы вставляете", "de": "Wenn Sie Text in den Editor einfügen"} {
			checked(t, b.visitor(t).get(t, strings.Replace(link, "/en/", "/"+lang+"/", 1), 200).body,
				htmlcheck.In(`section[aria-labelledby="rules"]`, htmlcheck.Contains(want)))
		}
	})

	// Who practises is not watched, whatever its form says.
	t.Run("OnlyInASitting", func(t *testing.T) {
		t.Parallel()
		b := setupPaste(t)
		if a := b.save(t, exercisePage, 0, "one\ntwo\nthree\n", []any{pasted(1)}); a.status != http.StatusSeeOther {
			t.Fatalf("status %d", a.status)
		}
		var n int
		if err := b.st.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM pastes").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d marks, err %v", n, err)
		}
		if body := b.v.get(t, exercisePage, 200).body; strings.Contains(body, "data-pastes") {
			t.Error("the editor notes pastes of who practises")
		}
		if body := b.v.get(t, b.exercise, 200).body; !strings.Contains(body, "data-pastes") {
			t.Error("the editor notes no pastes in a sitting")
		}
	})

	t.Run("Hostile", func(t *testing.T) {
		t.Parallel()
		b := setupPaste(t)
		many := make([]any, maxPastesSent+1)
		for i := range many {
			many[i] = pasted(i)
		}
		for name, marks := range map[string]any{
			"NoList": "x", "Numbers": []any{1}, "Many": many,
			"NoName": []any{pasted(1, "id", "")}, "LongName": []any{pasted(1, "id", strings.Repeat("a", 17))}, "NameWithMarkup": []any{pasted(1, "id", "<script>alert(1)")},
			"OtherFile": []any{pasted(1, "file", "/etc/passwd")}, "LineZero": []any{pasted(1, "from", 0)}, "Reversed": []any{pasted(1, "from", 3, "to", 2)},
			"BelowTheText": []any{pasted(1, "to", 5)}, "Endless": []any{pasted(1, "to", 1<<40)}, "NoSize": []any{pasted(1, "size", 0)},
			"HugeSize": []any{pasted(1, "size", 1<<31)}, "MoreLinesThanCharacters": []any{pasted(1, "lines", 211)}, "Fraction": []any{pasted(1, "from", 1.5)},
		} {
			if a := b.save(t, b.exercise, 0, "one\ntwo\nthree\n", marks); a.status != http.StatusBadRequest {
				t.Errorf("%s: status %d", name, a.status)
			}
		}
		if a := b.save(t, b.exercise, 0, "one\ntwo\nthree\n", []any{pasted(1, "ago", -1<<62), pasted(2, "ago", 1<<62)}); a.status != http.StatusSeeOther {
			t.Errorf("times: status %d", a.status)
		}
		for i := 1; i < 10; i++ {
			marks := make([]any, maxPastesSent)
			for k := range marks {
				marks[k] = pasted(i*1000 + k)
			}
			b.save(t, b.exercise, i, fmt.Sprintf("one\ntwo\n%d\n", i), marks)
		}
		e := b.exported(t)
		if len(e.Pastes) != store.MaxPastes || !e.PastesFull || len(e.Drafts) != 10 {
			t.Errorf("%d marks, full: %t, %d drafts", len(e.Pastes), e.PastesFull, len(e.Drafts))
		}
		checked(t, b.owner.get(t, b.report, 200).body, htmlcheck.In(".exercise-report", htmlcheck.Contains("At most 200 marks are kept for an exercise; further ones are not kept.")))
		sat := b.clock.now()
		for _, p := range e.Pastes {
			if p.At.After(sat) || p.At.Before(sat.Add(-time.Minute)) {
				t.Errorf("pasted at %v", p.At)
			}
		}
	})
}
