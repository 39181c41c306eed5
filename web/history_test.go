package web

import (
	"net/http"
	"strings"
	"testing"

	"redeliver/grader/verdict"
	"redeliver/web/views/htmlcheck"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	b.start(t)
	v := b.visitor(t)
	htmlcheck.Page(t, v.get(t, exercisePage+"/history", http.StatusOK).body, htmlcheck.NothingInline, htmlcheck.LinksWithin,
		htmlcheck.NotIn("form.compare"), htmlcheck.In("main p", htmlcheck.Contains("Charge once")))

	first, _ := v.submit(t, 0, "package handler\n\nfunc one() {}\n")
	b.grader.verdicts <- verdictOf(verdict.Failed)
	b.graded(t, v, first)
	v.post(t, exercisePage+"/drafts", form(1, "package handler\n\nfunc draft() {}\n"))
	second, _ := v.submit(t, 2, "package handler\n\nfunc two() {}\n<b>\n")

	// Without a choice: the newest submission with the one before.
	page := v.get(t, exercisePage+"/history", http.StatusOK).body
	htmlcheck.Page(t, page, htmlcheck.NothingInline, htmlcheck.LinksWithin,
		htmlcheck.Count(".diff", 1), htmlcheck.In(".diff caption", htmlcheck.Text("handler.go: +2 −1 lines")),
		htmlcheck.In(".diff .removed code", htmlcheck.Text("func one() {}")),
		htmlcheck.In(".diff .added code", htmlcheck.Text("func two() {}")),
		htmlcheck.In(".diff .added ins", htmlcheck.Contains("added:")),
		htmlcheck.In("main p.muted + p, section p.muted", htmlcheck.Contains("schema.sql: no difference")),
		htmlcheck.Count(".submissions li", 2), htmlcheck.In("option[selected]"))
	if strings.Contains(page, "<b>") {
		t.Error("a text is in the page as HTML")
	}

	id := func(path string) string { return path[strings.LastIndex(path, "/")+1:] }
	shows := func(v *visitor, query, caption string) {
		t.Helper()
		htmlcheck.Page(t, v.get(t, exercisePage+"/history?"+query, http.StatusOK).body, htmlcheck.In(".diff caption", htmlcheck.Text(caption)))
	}
	shows(v, "to=v2", "handler.go: +1 −1 lines")                      // with version 1
	shows(v, "from=v1&to=starter", "handler.go: +1 −2 lines")         // any two, in any order
	shows(v, "to=s"+id(first), "handler.go: +2 −1 lines")             // the first one with the starter
	shows(v, "from=s"+id(second)+"&to=v1", "handler.go: +1 −2 lines") // a submission with a draft

	for _, query := range []string{"to=v99", "to=x", "to=v", "to=s", "from=vx", "to=sunknown", "from=v-1"} {
		v.get(t, exercisePage+"/history?"+query, http.StatusNotFound)
	}
	other := b.visitor(t)
	other.submit(t, 0, "package handler // theirs\n")
	for _, query := range []string{"to=s" + id(first), "to=v2", "from=s" + id(second)} {
		other.get(t, exercisePage+"/history?"+query, http.StatusNotFound)
	}
	v.get(t, "/en/exercises/core/secret/history", http.StatusNotFound)
	for _, lang := range []string{"ru", "de"} {
		htmlcheck.Page(t, v.get(t, "/"+lang+"/exercises/core/charge-once/history", http.StatusOK).body, htmlcheck.NothingInline, htmlcheck.Count(".diff", 1))
	}
}
