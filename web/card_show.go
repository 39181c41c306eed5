package web

import (
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	"redeliver/web/views"
)

// maxCards is how many cards are kept: those of every page in every language, of some
// 80 KB each, with room for those of runs.
const maxCards = 250

// cards keeps pictures that were drawn. One is drawn at a time, so that nobody can
// keep more than one processor busy with them. The zero value is ready.
type cards struct {
	drawing sync.Mutex

	mu    sync.Mutex
	kept  map[string][]byte
	order []string // of kept, the oldest first
}

func (k *cards) get(key string) ([]byte, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.kept[key]
	return b, ok
}

func (k *cards) put(key string, b []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.kept[key]; ok {
		return
	}
	if len(k.order) == maxCards {
		delete(k.kept, k.order[0])
		k.order = k.order[1:]
	}
	if k.kept == nil {
		k.kept = map[string][]byte{}
	}
	k.kept[key], k.order = b, append(k.order, key)
}

// draw returns the card of a key, drawn if need be. What is drawn counts against the
// address.
func (s *Server) draw(c echo.Context, key string, of func() (views.Card, error)) ([]byte, error) {
	if b, ok := s.cards.get(key); ok {
		return b, nil
	}
	if !s.drawings.allow(c.RealIP()) {
		return nil, later(c, 60, echo.NewHTTPError(http.StatusTooManyRequests))
	}
	s.cards.drawing.Lock()
	defer s.cards.drawing.Unlock()
	if b, ok := s.cards.get(key); ok { // whoever drew before wanted the same
		return b, nil
	}
	card, err := of()
	if err != nil {
		return nil, err
	}
	b, err := card.PNG()
	if err != nil {
		return nil, err
	}
	s.cards.put(key, b)
	return b, nil
}

// sendCard answers with the card of a key. Caches may keep it, so it carries no
// cookie.
func (s *Server) sendCard(c echo.Context, key string, of func() (views.Card, error)) error {
	b, err := s.draw(c, s.langOf(c)+" "+key, of)
	if err != nil {
		return err
	}
	c.Response().Header().Del(echo.HeaderSetCookie)
	c.Response().Header().Set(echo.HeaderCacheControl, "public, max-age=86400")
	return c.Blob(http.StatusOK, "image/png", b)
}

func (s *Server) homeCard(c echo.Context) error {
	return s.sendCard(c, "home", func() (views.Card, error) {
		m, err := views.NewHome(s.page(c), nil, nil)
		if err != nil {
			return views.Card{}, err
		}
		return views.NewCard(m.Page)
	})
}

func (s *Server) questionCard(c echo.Context) error {
	q, err := s.question(c)
	if err != nil {
		return err
	}
	return s.sendCard(c, "question "+q.Slug, func() (views.Card, error) {
		m, err := s.questionModel(c, q)
		if err != nil {
			return views.Card{}, err
		}
		return views.NewCard(m.Page)
	})
}

func (s *Server) exerciseCard(c echo.Context) error {
	e, err := s.exercise(nameOf(c))
	if err != nil {
		return err
	}
	return s.sendCard(c, "exercise "+e.Hash(), func() (views.Card, error) {
		m, err := views.NewExercise(s.page(c), e, "", nil, views.FormModel{})
		if err != nil {
			return views.Card{}, err
		}
		return views.NewCard(m.Page)
	})
}

func (s *Server) labCard(c echo.Context) error {
	slug, err := s.labSlug(c)
	if err != nil {
		return err
	}
	return s.sendCard(c, "lab "+slug, func() (views.Card, error) {
		m, err := views.NewLab(s.page(c), s.bank.Labs(), views.LabState{Slug: slug})
		if err != nil {
			return views.Card{}, err
		}
		return views.NewCard(m.Page)
	})
}
