package web

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/store"
)

// apiCandidates lists the candidates of an assignment, in the order of their links.
func (s *Server) apiCandidates(c echo.Context) error {
	id, err := numberOf(c, "aid")
	if err != nil {
		return err
	}
	after, limit, err := askedPage(c, "after")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	a, err := s.store.Assignment(ctx, s.actor(c), id)
	if err != nil {
		return err
	}
	all, err := s.store.Candidates(ctx, a)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(one store.Candidate) bool { return one.ID <= after })
	list := cut(c, "after", all, limit, func(one store.Candidate) int64 { return one.ID })
	out := apiList[exportedCandidate]{Items: []exportedCandidate{}, Next: list.Next}
	for _, candidate := range list.Items {
		sit, err := s.read(ctx, candidate, a)
		if err != nil {
			return err
		}
		one, err := s.exported(c, sit)
		if err != nil {
			return err
		}
		out.Items = append(out.Items, one)
	}
	return c.JSON(http.StatusOK, out)
}

// apiInvited is a link for a candidate. It is shown in this answer alone.
type apiInvited struct {
	Candidate int64  `json:"candidate"`
	Name      string `json:"name"`
	Link      string `json:"link"`
}

// apiCandidateInvite makes a link for a candidate.
func (s *Server) apiCandidateInvite(c echo.Context) error {
	id, err := numberOf(c, "aid")
	if err != nil {
		return err
	}
	a, err := s.store.Assignment(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	var sent struct {
		Name         string `json:"name"`
		ExtraMinutes int    `json:"extra_minutes"`
	}
	if err := readBody(c, &sent); err != nil {
		return err
	}
	extra, err := extraMinutes(sent.ExtraMinutes)
	if err != nil {
		return err
	}
	made, err := s.invite(c, a, sent.Name, extra)
	var field *auth.FieldError
	if errors.As(err, &field) && statusOfField(field) == http.StatusConflict {
		return &apiError{http.StatusConflict, "", "This assignment has as many candidates as it can have."}
	}
	if err != nil {
		return s.inWords(err)
	}
	return c.JSON(http.StatusCreated, apiInvited{made.id, made.name, s.candidateLink(c, a, made.token)})
}

func extraMinutes(n int) (time.Duration, error) {
	if n < 0 || n > maxExtraMinutes {
		return 0, unprocessable("extra_minutes", "This is a number from 0 to %d.", maxExtraMinutes)
	}
	return time.Duration(n) * time.Minute, nil
}

// apiCandidateShow is the report about a candidate, without the texts.
func (s *Server) apiCandidateShow(c echo.Context) error {
	sit, _ := sittingOf(c)
	return s.answerCandidate(c, sit)
}

func (s *Server) answerCandidate(c echo.Context, sit sitting) error {
	one, err := s.exported(c, sit)
	if err != nil {
		return err
	}
	for i := range one.Exercises {
		e := &one.Exercises[i]
		events, _, err := s.eventsOf(c.Request().Context(), sit, e.Exercise)
		if err != nil {
			return err
		}
		for _, event := range events {
			e.Events = append(e.Events, exportedEvent{
				At: event.At.UTC(), Draft: event.Version, Auto: event.Auto, Size: event.Size,
				Submission: event.ID, Outcome: event.Outcome, WaitedMs: event.Waited.Milliseconds(),
			})
		}
		if err := s.addPastes(c.Request().Context(), sit.candidate.Browser, e); err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, one)
}

// answerAfter shows a candidate as it is after a change. ErrNotFound says that the
// sitting has ended: there was nothing to change any more.
func (s *Server) answerAfter(c echo.Context, change error) error {
	if errors.Is(change, store.ErrNotFound) {
		return &apiError{http.StatusConflict, "", "The sitting has ended or the link is cancelled, so nothing was changed."}
	}
	if change != nil {
		return change
	}
	sit, _ := sittingOf(c)
	ctx := c.Request().Context()
	candidate, err := s.store.Candidate(ctx, s.actor(c), sit.assignment.ID, sit.candidate.ID)
	if err != nil {
		return err
	}
	if sit, err = s.read(ctx, candidate, sit.assignment); err != nil {
		return err
	}
	return s.answerCandidate(c, sit)
}

// apiCandidateCancel ends the link, and the sitting if there is one.
func (s *Server) apiCandidateCancel(c echo.Context) error { return s.answerAfter(c, s.cancel(c)) }

// apiCandidateExtra sets the extra time, also while the candidate sits.
func (s *Server) apiCandidateExtra(c echo.Context) error {
	var sent struct {
		ExtraMinutes int `json:"extra_minutes"`
	}
	if err := readBody(c, &sent); err != nil {
		return err
	}
	extra, err := extraMinutes(sent.ExtraMinutes)
	if err != nil {
		return err
	}
	sit, _ := sittingOf(c)
	return s.answerAfter(c, s.store.SetExtra(c.Request().Context(), s.actor(c), sit.candidate, extra, s.cfg.Now()))
}

// apiSubmission is what a candidate handed in, with its verdict.
func (s *Server) apiSubmission(c echo.Context) error {
	c.Set(submissionKey, c.Param("id"))
	sit, _ := sittingOf(c)
	sub, err := s.store.Submission(c.Request().Context(), sit.candidate.Browser, c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, exportedSubmissionOf(sub))
}

// apiDraft is one version of what a candidate wrote for an exercise.
func (s *Server) apiDraft(c echo.Context) error {
	version, err := numberOf(c, "version")
	if err != nil {
		return err
	}
	sit, _ := sittingOf(c)
	ctx, name := c.Request().Context(), nameOf(c)
	drafts, err := s.store.Drafts(ctx, sit.candidate.Browser, name, store.MaxSittingVersions)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(drafts, func(d store.DraftInfo) bool { return d.Version == version })
	if at < 0 {
		return store.ErrNotFound
	}
	d, err := s.store.Draft(ctx, sit.candidate.Browser, name, version)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, exportedDraft{version, d.SavedAt.UTC(), drafts[at].Auto, filesByName(d.Files), drafts[at].ByEditor})
}
