package web

import (
	"fmt"

	"redeliver/content"
	"redeliver/exercises"
	"redeliver/web/store"
	"redeliver/web/views"
)

// exerciseText is what an exercise says in one language, as HTML.
type exerciseText struct {
	statement string
	hints     []views.HintModel
	approach  string
}

// texts are the rendered texts by the name of the exercise and the language of
// the page, which is not always that of the text.
type texts map[[2]string]exerciseText

func renderTexts(list []*exercises.Exercise, languages []string) (texts, error) {
	out := texts{}
	for _, e := range list {
		for _, lang := range languages {
			text, err := renderText(e, e.Language(lang))
			if err != nil {
				return nil, fmt.Errorf("exercise %s in %s: %w", e.Name(), lang, err)
			}
			out[[2]string{e.Name(), lang}] = text
		}
	}
	return out, nil
}

func renderText(e *exercises.Exercise, lang string) (text exerciseText, err error) {
	if text.statement, err = content.HTML(e.Statement[lang]); err != nil {
		return exerciseText{}, err
	}
	if text.approach, err = content.HTML(e.Approach[lang]); err != nil {
		return exerciseText{}, err
	}
	for _, h := range e.Hints[lang] {
		html, err := content.HTML(h.Text)
		if err != nil {
			return exerciseText{}, err
		}
		text.hints = append(text.hints, views.HintModel{Title: h.Title, HTML: html})
	}
	return text, nil
}

// exercise finds an exercise that everybody may see.
func (s *Server) exercise(name string) (*exercises.Exercise, error) {
	e, ok := s.catalog.Exercise(name)
	if !ok || e.Visibility != "public" {
		return nil, fmt.Errorf("exercise %q: %w", name, store.ErrNotFound)
	}
	return e, nil
}

// titleOf names an exercise, also one whose pack is no longer installed.
func (s *Server) titleOf(name, lang string) string {
	if e, ok := s.catalog.Exercise(name); ok {
		return e.Title[e.Language(lang)]
	}
	return name
}

// lines turns what the store lists into what the pages list.
func (s *Server) lines(list []store.SubmissionInfo, lang string) []views.SubmissionLine {
	out := make([]views.SubmissionLine, 0, len(list))
	for _, sub := range list {
		out = append(out, views.SubmissionLine{
			PublicID: sub.PublicID, Title: s.titleOf(sub.Exercise, lang), Outcome: sub.Outcome, At: sub.CreatedAt,
		})
	}
	return out
}
