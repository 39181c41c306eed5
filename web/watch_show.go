package web

import (
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	"redeliver/exercises"
	"redeliver/web/jobs"
	"redeliver/web/store"
	"redeliver/web/views"
)

// watchShow leads to a run in which a handler fails that is wrong on purpose, or
// the starter when no handler is named. The first who asks waits for the grader
// to find that run; a process remembers its address.
func (s *Server) watchShow(c echo.Context) error {
	e, err := s.exercise(nameOf(c))
	if err != nil {
		return err
	}
	files, ok := e.Failing(c.Param("wrong"))
	if !ok {
		return fmt.Errorf("wrong handler %q of %s: %w", c.Param("wrong"), e.Name(), store.ErrNotFound)
	}
	token, ok := s.watched.get(e, c.Param("wrong"))
	if !ok {
		if !s.runs.allow(c.RealIP()) {
			return later(c, 60, &problem{status: http.StatusTooManyRequests, message: "run.too-many"})
		}
		f, err := s.queue.FirstFinding(c.Request().Context(), jobs.Request{Exercise: e.Name(), Files: files, Seed: watchSeed})
		if errors.Is(err, jobs.ErrNothingFound) {
			return &problem{status: http.StatusNotFound, message: "run.rejected", cause: err}
		}
		if err != nil {
			return replayProblem(c, err)
		}
		token = f.Schedule
		s.watched.put(e, c.Param("wrong"), token)
	}
	return c.Redirect(http.StatusSeeOther, string(views.RunURL(s.home(c), token)))
}

// watchSeed draws the records of every run that is watched.
const watchSeed = 1

// watched holds the token of the run for each handler. It does not grow beyond
// the handlers of the installed packs.
type watched struct {
	mu     sync.Mutex
	tokens map[string]string
}

func watchKey(e *exercises.Exercise, wrong string) string { return e.Hash() + "\n" + wrong }

func (w *watched) get(e *exercises.Exercise, wrong string) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	token, ok := w.tokens[watchKey(e, wrong)]
	return token, ok
}

func (w *watched) put(e *exercises.Exercise, wrong, token string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tokens == nil {
		w.tokens = map[string]string{}
	}
	w.tokens[watchKey(e, wrong)] = token
}
