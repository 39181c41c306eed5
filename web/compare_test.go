package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"redeliver/exercises"
	"redeliver/grader/verdict"
	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/views/htmlcheck"
)

// solutionOf is a handler of the core pack.
func solutionOf(t testing.TB, name string) string {
	t.Helper()
	e, ok := exercises.Open(exercises.Builtin(), nil).Exercise("core/charge-once")
	if !ok {
		t.Fatal("core/charge-once is not there")
	}
	for _, s := range e.Solutions {
		if s.Name == name {
			for _, f := range s.Files {
				if f.Name == "handler.go" {
					return string(f.Content)
				}
			}
		}
	}
	t.Fatalf("no handler %s", name)
	return ""
}

// copied is a text that was made one's own: with other names, layout and comments.
func copied(text string) string {
	head, body, _ := strings.Cut(text, "// ledger is")
	body = "// ledger is" + body
	for _, pair := range [][2]string{
		{"ledger", "book"},
		{"l.exec(", "b.run("},
		{") exec(", ") run("},
		{"(l *", "(b *"},
		{"l.", "b."},
		{"l :=", "b :="},
		{"affected", "n"},
		{"eventID", "key"},
		{"stmt", "s"},
		{"// The first", "// What went wrong first"},
		{"\n\tif ", "\n\n\tif "},
	} {
		body = strings.ReplaceAll(body, pair[0], pair[1])
	}
	body = strings.NewReplacer("sqb.", "sql.").Replace(body)
	return head + body
}

// compareBundle is an assignment with candidates who have handed in.
type compareBundle struct {
	*assignBundle
	path string
	n    int
}

func setupCompare(t *testing.T) *compareBundle {
	t.Helper()
	b := &compareBundle{assignBundle: setupAssign(t)}
	b.start(t)
	b.path = b.made(t)
	return b
}

// candidate sits and hands in a text, if there is one.
func (b *compareBundle) candidate(t *testing.T, name, text string) (id int) {
	t.Helper()
	b.n++
	link := b.invite(t, b.path, url.Values{views.NameField: {name}})
	if text == "" {
		return b.n
	}
	v := b.visitor(t)
	v.post(t, link+"/start", nil)
	b.clock.advance(3 * time.Minute)
	a := v.post(t, link+"/exercises/core/charge-once/submissions", form(0, text))
	if a.status != http.StatusSeeOther {
		t.Fatalf("status %d", a.status)
	}
	b.grader.verdicts <- verdictOf(verdict.Passed)
	b.graded(t, v, a.header.Get("Location"))
	v.post(t, link+"/end", nil)
	return b.n
}

func (b *compareBundle) url(one, other int) string {
	return fmt.Sprintf("%s/compare?a=%d&b=%d", b.path, one, other)
}

func TestCompare(t *testing.T) {
	t.Parallel()

	t.Run("Story", func(t *testing.T) {
		t.Parallel()
		b := setupCompare(t)
		original := solutionOf(t, "prepared-statements")
		grace := b.candidate(t, "Grace <G>", original)
		checked(t, b.owner.get(t, b.path, 200).body, htmlcheck.NotIn("form.compare"))
		checked(t, b.owner.get(t, b.path+"/compare", 200).body, htmlcheck.NotIn("form.compare"), htmlcheck.In("main", htmlcheck.Contains("needs two candidates")))
		eve := b.candidate(t, "Eve", copied(original))
		linus := b.candidate(t, "Linus", solutionOf(t, "on-conflict-do-nothing"))
		checked(t, b.owner.get(t, b.path, 200).body,
			htmlcheck.In("form.compare", htmlcheck.Attr("action", b.path+"/compare")), htmlcheck.Count("#compare-a option", 4), htmlcheck.Count("#compare-b option", 4))

		body := b.owner.get(t, b.url(grace, eve), 200).body
		checked(t, body,
			htmlcheck.In("#compare-a option[selected]", htmlcheck.Text("Grace <G>")), htmlcheck.In("#compare-b option[selected]", htmlcheck.Text("Eve")),
			htmlcheck.In(".pair > div:nth-child(2) h2 a", htmlcheck.Attr("href", b.path+"/candidates/2")),
			htmlcheck.In(".pair > div:nth-child(2) .facts", htmlcheck.Contains("3:00")),
			htmlcheck.In(".exercise-report .pair > div", htmlcheck.Contains("1 submission")),
			htmlcheck.In(".exercise-report .pair > div:nth-child(2) a", htmlcheck.Contains("3:00 after the start")),
			htmlcheck.In("#e0-0-f0-L15.alike"), htmlcheck.In(".exercise-report li a", htmlcheck.Contains("Grace <G>: handler.go, lines")),
			htmlcheck.In("table.diff tr.added", htmlcheck.Contains("book")),
			htmlcheck.In(".exercise-report:nth-of-type(2)", htmlcheck.Contains("nothing handed in")),
		)
		for _, want := range []string{"The text of Grace &lt;G&gt; shares 100 % of its fingerprints", "The text of Eve shares 100 %", "is a hint, not proof", "No verdict depends on it."} {
			if !strings.Contains(body, want) {
				t.Errorf("the page lacks %q", want)
			}
		}
		// The links lead where they say.
		_, link, _ := strings.Cut(body, `href="`+b.path+"/candidates/2/submissions/")
		link, _, _ = strings.Cut(link, `"`)
		b.owner.get(t, b.path+"/candidates/2/submissions/"+link, 200)

		body = b.owner.get(t, b.url(grace, linus), 200).body
		checked(t, body, htmlcheck.NotIn(".alike"), htmlcheck.In(".exercise-report", htmlcheck.Contains("Neither text shares 75 % or more")))
		for lang, want := range map[string]string{"ru": "Сходство двух текстов — подсказка", "de": "ist ein Hinweis und kein Beweis"} {
			checked(t, b.owner.get(t, strings.Replace(b.url(grace, eve), "/en/", "/"+lang+"/", 1), 200).body, htmlcheck.In("main", htmlcheck.Contains(want)), htmlcheck.In(".alike"))
		}
	})

	t.Run("InTheReport", func(t *testing.T) {
		t.Parallel()
		b := setupCompare(t)
		original := solutionOf(t, "prepared-statements")
		grace := b.candidate(t, "Grace", original)
		linus := b.candidate(t, "Linus", solutionOf(t, "on-conflict-do-nothing"))
		report := func(id int) string { return b.owner.get(t, fmt.Sprintf("%s/candidates/%d", b.path, id), 200).body }
		checked(t, report(grace), htmlcheck.NotIn(`.exercise-report a[href*="/compare?"]`))
		eve := b.candidate(t, "Eve", copied(original))
		checked(t, report(grace), htmlcheck.In(".exercise-report", htmlcheck.Contains("100 % of the fingerprints beyond the starter are also in the text of Eve")),
			htmlcheck.In(`.exercise-report a[href*="/compare?"]`, htmlcheck.Attr("href", b.url(grace, eve))), htmlcheck.Count(`a[href*="/compare?"]`, 1))
		checked(t, report(eve), htmlcheck.In(`.exercise-report a[href*="/compare?"]`, htmlcheck.Attr("href", b.url(eve, grace))))
		checked(t, report(linus), htmlcheck.NotIn(`a[href*="/compare?"]`))

		// What was copied elsewhere is none of this assignment's business.
		other := setupCompare(t)
		checked(t, other.owner.get(t, fmt.Sprintf("%s/candidates/%d", other.path, other.candidate(t, "Eve", copied(original))), 200).body, htmlcheck.NotIn(`a[href*="/compare?"]`))
	})

	t.Run("WithoutAFigure", func(t *testing.T) {
		t.Parallel()
		b := setupCompare(t)
		short := b.candidate(t, "Anna", "package handler\n\nfunc f() {}\n")
		again := b.candidate(t, "Anna", "package handler\n\nfunc g() {}\n") // the same text would not be graded again
		broken := b.candidate(t, "Bob", "package handler\n\nfunc {")
		long := b.candidate(t, "Carl", "package handler\n\nvar x = "+strings.Repeat("1+", 20_000)+"1\n")
		nothing := b.candidate(t, "Dora", "")
		for _, tc := range []struct {
			one, other int
			want       string
		}{
			{short, again, "both texts are too short"}, {short, broken, "the text of Bob does not parse"}, {long, short, "the text of Carl is too long"},
		} {
			checked(t, b.owner.get(t, b.url(tc.one, tc.other), 200).body, htmlcheck.NotIn(".alike"), htmlcheck.In(".exercise-report", htmlcheck.Contains(tc.want)))
		}
		checked(t, b.owner.get(t, b.url(short, again), 200).body,
			htmlcheck.In(".pair h2", htmlcheck.Contains("Anna (1)")), htmlcheck.In("#compare-b option[selected]", htmlcheck.Text("Anna (2)")))
		body := b.owner.get(t, b.url(short, nothing), 200).body
		checked(t, body, htmlcheck.In(".source"), htmlcheck.NotIn("table.diff"))
		if strings.Contains(body, "no figure") {
			t.Error("nothing was compared, and the page speaks of a figure")
		}
	})

	t.Run("Chosen", func(t *testing.T) {
		t.Parallel()
		b := setupCompare(t)
		b.candidate(t, "Grace", "")
		b.candidate(t, "Eve", "")
		theirs := newAssignment(t, b.testBundle, b.by, store.Assignment{})
		_, foreign := newCandidate(t, b.testBundle, b.by, theirs)
		for _, query := range []string{"", "?a=1", "?b=2", "?a=&b="} {
			checked(t, b.owner.get(t, b.path+"/compare"+query, 200).body, htmlcheck.In("form.compare"), htmlcheck.NotIn(".pair"), htmlcheck.NotIn("[role=alert]"))
		}
		checked(t, b.owner.get(t, b.path+"/compare?a=1", 200).body, htmlcheck.In("#compare-a option[selected]", htmlcheck.Text("Grace")))
		checked(t, b.owner.get(t, b.url(1, 1), http.StatusUnprocessableEntity).body,
			htmlcheck.In("[role=alert]", htmlcheck.Contains("two different candidates")), htmlcheck.NotIn(".pair"))
		for _, query := range []string{"?a=x&b=2", "?a=1&b=99", "?a=-1&b=2", fmt.Sprintf("?a=1&b=%d", foreign.ID), "?a=1&b=99999999999999999999"} {
			b.owner.get(t, b.path+"/compare"+query, 404)
		}
	})
}
