package web

import (
	"fmt"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"redeliver/content"
	"redeliver/exercises"
	"redeliver/web/review"
	"redeliver/web/store"
	"redeliver/web/views"
)

func (s *Server) questionsShow(c echo.Context) error {
	m, err := views.NewQuestions(s.page(c), s.bank, views.QuestionFilter{Topic: c.QueryParam("topic"), Level: c.QueryParam("level")})
	if err != nil {
		return err
	}
	practised, err := s.practice(c)
	if err != nil {
		return err
	}
	for i := range m.Lines {
		m.Lines[i].Rated = seenCard(practised, review.QuestionCard(m.Lines[i].Slug)).Reps > 0
	}
	return render(c, http.StatusOK, views.Questions(m))
}

func (s *Server) questionShow(c echo.Context) error {
	q, err := s.question(c)
	if err != nil {
		return err
	}
	own, err := s.store.OwnAnswer(c.Request().Context(), s.browser(c), q.Slug)
	if err != nil {
		return err
	}
	return s.showQuestion(c, http.StatusOK, q, views.OwnAnswer{Text: own.Text, SavedAt: own.SavedAt})
}

// showQuestion draws the page of a question around the reader's own answer.
func (s *Server) showQuestion(c echo.Context, status int, q *content.Question, own views.OwnAnswer) error {
	m, err := s.questionModel(c, q)
	if err != nil {
		return err
	}
	practised, err := s.practice(c)
	if err != nil {
		return err
	}
	card := seenCard(practised, review.QuestionCard(q.Slug))
	if err := m.AddRating(card.Name, card.Reps, card.DueAt, card.DueAt.After(s.cfg.Now()), s.daysOf(card)); err != nil {
		return err
	}
	m.Own = own
	return render(c, status, views.Question(m))
}

// question finds the question in the address.
func (s *Server) question(c echo.Context) (*content.Question, error) {
	q, ok := s.bank.Question(c.Param("slug"))
	if !ok {
		return nil, fmt.Errorf("question %q: %w", c.Param("slug"), store.ErrNotFound)
	}
	return q, nil
}

func (s *Server) questionModel(c echo.Context, q *content.Question) (views.QuestionModel, error) {
	p := s.page(c)
	var linked []*exercises.Head
	for _, name := range q.Exercises {
		if e, err := s.exercise(name); err == nil {
			linked = append(linked, &e.Head)
		}
	}
	return views.NewQuestion(p, s.bank, q, views.ExerciseCards(linked, p.Lang()), func(r content.Run) templ.SafeURL {
		return s.watchURL(p.Home(), r)
	})
}

// watchURL is where a claim can be seen to fail, or "" when its exercise is not
// installed here.
func (s *Server) watchURL(root views.Root, r content.Run) templ.SafeURL {
	e, err := s.exercise(r.Exercise)
	if err != nil {
		return ""
	}
	if _, ok := e.Failing(r.Wrong); !ok {
		return ""
	}
	return views.WatchURL(root, r.Exercise, r.Wrong)
}

func (s *Server) glossaryShow(c echo.Context) error {
	m, err := views.NewGlossary(s.page(c), s.bank)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Glossary(m))
}
