package views

import (
	"strings"

	"github.com/a-h/templ"
)

// SearchModel is the model of Search.
type SearchModel struct {
	Page
	Hits []HitModel
}

// HitModel is one page that was found.
type HitModel struct {
	Kind  string // "question", "exercise", "lab"
	URL   templ.SafeURL
	Title string
	Parts []HitPart
}

// HitPart is a piece of the text around the words; Found marks the words.
type HitPart struct {
	Text  string
	Found bool
}

// NewSearch builds the model of Search. An empty query shows how to search.
func NewSearch(p Page, query string, hits []HitModel) (SearchModel, error) {
	t := text{words: p.Words}
	p.Query = strings.TrimSpace(query)
	p.Title, p.Description = t.say("search.title"), t.say("search.description")
	if p.Query != "" {
		p.Title = t.say("search.title-for", "Query", p.Query)
	}
	return SearchModel{Page: p, Hits: hits}, t.err
}

// SearchURL is the page with what was found.
func SearchURL(root Root) templ.SafeURL { return HomeURL(root) + "search" }
