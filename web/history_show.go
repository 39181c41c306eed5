package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"redeliver/exercises"
	"redeliver/web/store"
	"redeliver/web/views"
)

// maxListed is how much of a history its page lists: every draft that is kept, and
// as many of the newest submissions.
func maxListed(b store.Browser) int {
	if b.IsSitting() {
		return store.MaxSittingVersions
	}
	return store.MaxDraftVersions
}

// historyShow lists what this browser wrote for an exercise, and shows what changed
// between two of the texts.
func (s *Server) historyShow(c echo.Context) error {
	e, err := s.exerciseIn(c, nameOf(c))
	if err != nil {
		return err
	}
	ctx, browser, p := c.Request().Context(), s.browser(c), s.page(c)
	drafts, err := s.store.Drafts(ctx, browser, e.Name(), maxListed(browser))
	if err != nil {
		return err
	}
	submissions, err := s.store.Submissions(ctx, browser, e.Name(), maxListed(browser))
	if err != nil {
		return err
	}
	for i := range submissions {
		submissions[i].Outcome = shownOutcome(c, submissions[i].Outcome)
	}
	h := views.History{Exercise: e.Name(), Title: e.Title[e.Language(p.Lang())], Submissions: s.lines(submissions, p.Lang())}
	for _, d := range drafts {
		h.Drafts = append(h.Drafts, views.DraftLine{Version: d.Version, At: d.SavedAt, Auto: d.Auto})
	}
	h.From, h.To = views.Compared(h, c.QueryParam("from"), c.QueryParam("to"))
	if h.Old, err = s.written(ctx, browser, e, h.From); err != nil {
		return err
	}
	if h.New, err = s.written(ctx, browser, e, h.To); err != nil {
		return err
	}
	m, err := views.NewHistory(p, h)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.HistoryPage(m))
}

// written finds the text that a reference names, if this browser wrote it for this
// exercise.
func (s *Server) written(ctx context.Context, b store.Browser, e *exercises.Exercise, ref views.HistoryRef) ([]views.FileModel, error) {
	unknown := fmt.Errorf("text %q of %s: %w", ref, e.Name(), store.ErrNotFound)
	if ref == views.StarterRef {
		return fileModels(e, nil), nil
	}
	if id, ok := strings.CutPrefix(string(ref), views.SubmissionPrefix); ok {
		sub, err := s.store.Submission(ctx, b, id)
		if err != nil {
			return nil, err
		}
		if sub.Exercise != e.Name() {
			return nil, unknown
		}
		return fileModels(e, sub.Files), nil
	}
	number, ok := strings.CutPrefix(string(ref), views.DraftPrefix)
	version, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil {
		return nil, unknown
	}
	d, err := s.store.Draft(ctx, b, e.Name(), version)
	if err != nil {
		return nil, err
	}
	return fileModels(e, d.Files), nil
}
