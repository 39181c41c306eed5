package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"redeliver/content"
	"redeliver/web/search"
	"redeliver/web/views"
)

// maxHits bounds what a page lists, maxQuery what is looked for.
const maxHits, maxQuery = 30, 100

// searchShow looks for words in the texts of the page's language.
func (s *Server) searchShow(c echo.Context) error {
	c.Response().Header().Set("X-Robots-Tag", "noindex")
	p := s.page(c)
	query := []rune(c.QueryParam("q"))
	asked := strings.ToValidUTF8(string(query[:min(len(query), maxQuery)]), "")
	index, err := s.found()
	if err != nil {
		return err
	}
	found, err := index.Find(c.Request().Context(), p.Lang(), asked, maxHits)
	if err != nil {
		return err
	}
	hits := make([]views.HitModel, 0, len(found))
	for _, h := range found {
		hit := views.HitModel{Kind: string(h.Kind), URL: hitURL(p.Home(), h), Title: h.Title}
		for _, part := range h.Parts {
			hit.Parts = append(hit.Parts, views.HitPart(part))
		}
		hits = append(hits, hit)
	}
	m, err := views.NewSearch(p, asked, hits)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Search(m))
}

func hitURL(root views.Root, h search.Hit) templ.SafeURL {
	switch h.Kind {
	case search.Question:
		return views.QuestionURL(root, h.Name)
	case search.Lab:
		return views.LabURL(root, h.Name)
	default:
		return views.ExerciseURL(root, h.Name)
	}
}

// index collects what can be found, once for a process and not for a request: an
// exercise without a text in a language is found by the words of the text that its
// page shows.
func index(catalog Catalog, bank *content.Bank, languages []string) (*search.Index, error) {
	var docs []search.Doc
	for _, lang := range languages {
		for _, q := range bank.All() {
			said := q.Text[lang]
			body := []string{said.Short.Markdown, said.Tests.Markdown, said.Depth.Markdown}
			for _, f := range said.Pitfalls {
				body = append(body, f.Claim.Markdown, f.Why.Markdown)
			}
			docs = append(docs, search.Doc{Lang: lang, Kind: search.Question, Name: q.Slug, Title: said.Question, Body: strings.Join(body, "\n")})
		}
		for _, head := range catalog.Public() {
			e, ok := catalog.Exercise(head.Name())
			if !ok {
				continue // its pack was found to be broken just now
			}
			spoken := e.Language(lang)
			docs = append(docs, search.Doc{Lang: lang, Kind: search.Exercise, Name: e.Name(), Title: e.Title[spoken], Body: e.Statement[spoken]})
		}
		for _, l := range bank.Labs() {
			said := l.Text[lang]
			docs = append(docs, search.Doc{
				Lang: lang, Kind: search.Lab, Name: l.Slug, Title: said.Title,
				Body: said.Lead.Markdown + "\n" + said.Try.Markdown + "\n" + said.Shows.Markdown,
			})
		}
	}
	return search.New(context.Background(), docs)
}
