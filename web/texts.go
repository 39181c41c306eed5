package web

import (
	"fmt"
	"sync"

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

// maxTexts is how many rendered texts are kept: some 10 MB at most.
const maxTexts = 512

// texts renders what exercises say when it is first asked for, and keeps it. With
// many packs most texts are never read, and rendering all of them would be most
// of a server's start. The zero value is ready.
type texts struct {
	mu    sync.Mutex
	kept  map[[2]string]exerciseText // by the exercise's name and the text's language
	order [][2]string                // of kept, the oldest first
}

// of is what an exercise says on a page in a language.
func (t *texts) of(e *exercises.Exercise, page string) (exerciseText, error) {
	lang := e.Language(page)
	key := [2]string{e.Name(), lang}
	t.mu.Lock()
	defer t.mu.Unlock()
	if text, ok := t.kept[key]; ok {
		return text, nil
	}
	text, err := renderText(e, lang)
	if err != nil {
		return exerciseText{}, fmt.Errorf("exercise %s in %s: %w", e.Name(), lang, err)
	}
	if len(t.order) == maxTexts {
		delete(t.kept, t.order[0])
		t.order = t.order[1:]
	}
	if t.kept == nil {
		t.kept = map[[2]string]exerciseText{}
	}
	t.kept[key], t.order = text, append(t.order, key)
	return text, nil
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
