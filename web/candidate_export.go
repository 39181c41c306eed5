package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/jobs"
	"redeliver/web/store"
)

// candidateExport gives everything that is kept about one candidate. That is up to
// some 30 MB, so it is sent as it is read. What goes wrong on the way leaves a file
// that is no JSON.
func (s *Server) candidateExport(c echo.Context) error {
	sit, _ := sittingOf(c)
	ctx := c.Request().Context()
	one, err := s.exported(c, sit)
	if err != nil {
		return err
	}
	if name := sit.assignment.WarmUp; name != "" {
		subs, err := s.store.Submissions(ctx, sit.candidate.Browser, name, jobs.MaxPerSitting)
		if err != nil {
			return err
		}
		one.Exercises = append(one.Exercises, exportedExercise{Exercise: name, Runs: len(subs)})
	}
	for i := range one.Exercises {
		if err := s.addPastes(ctx, sit.candidate.Browser, &one.Exercises[i]); err != nil {
			return err
		}
	}
	if err := s.store.NoteCandidate(ctx, s.actor(c), sit.candidate, store.CandidateExported, s.cfg.Now()); err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentDisposition, `attachment; filename="candidate.json"`)
	h.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	c.Response().WriteHeader(http.StatusOK)
	w := &exportWriter{out: bufio.NewWriter(c.Response()), store: s.store, browser: sit.candidate.Browser}
	if err := w.write(ctx, exportedOf(sit.assignment), one); err != nil {
		return fmt.Errorf("export candidate: %w", err)
	}
	return w.out.Flush()
}

// exportWriter writes the JSON of an exportedAssignment with one candidate, whose
// drafts and submissions are read one by one.
type exportWriter struct {
	out     *bufio.Writer
	store   *store.Store
	browser store.Browser
}

func (w *exportWriter) write(ctx context.Context, head exportedAssignment, one exportedCandidate) error {
	list := one.Exercises
	one.Exercises = []exportedExercise{}
	head.Candidates = []exportedCandidate{one}
	const end = "]}]}" // of the exercises, the candidate, the candidates, the file
	if err := w.begin(head, end); err != nil {
		return err
	}
	for i, e := range list {
		if i > 0 {
			w.out.WriteByte(',') //nolint:errcheck // Flush returns the first error
		}
		if err := w.exercise(ctx, e); err != nil {
			return err
		}
	}
	_, err := w.out.WriteString(end)
	return err
}

// begin writes the JSON of v without its end, for more to follow.
func (w *exportWriter) begin(v any, end string) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	text, ok := bytes.CutSuffix(text, []byte(end))
	if !ok {
		return fmt.Errorf("%T does not end with %s", v, end)
	}
	_, err = w.out.Write(text)
	return err
}

func (w *exportWriter) exercise(ctx context.Context, e exportedExercise) error {
	if err := w.begin(e, "}"); err != nil {
		return err
	}
	drafts, err := w.store.Drafts(ctx, w.browser, e.Exercise, store.MaxSittingVersions)
	if err != nil {
		return err
	}
	err = w.array("drafts", len(drafts), func(i int) (any, error) {
		info := drafts[i]
		d, err := w.store.Draft(ctx, w.browser, e.Exercise, info.Version)
		return exportedDraft{info.Version, info.SavedAt.UTC(), info.Auto, filesByName(d.Files), info.ByEditor}, err
	})
	if err != nil {
		return err
	}
	subs, err := w.store.Submissions(ctx, w.browser, e.Exercise, jobs.MaxPerSitting)
	if err != nil {
		return err
	}
	err = w.array("submissions", len(subs), func(i int) (any, error) {
		sub, err := w.store.Submission(ctx, w.browser, subs[i].PublicID)
		return exportedSubmissionOf(sub), err
	})
	if err != nil {
		return err
	}
	return w.out.WriteByte('}')
}

// array writes one more field of an object that was begun; none without elements.
// What was thinned or deleted since the list was read is left out.
func (w *exportWriter) array(name string, n int, at func(i int) (any, error)) error {
	written := 0
	for i := range n {
		v, err := at(i)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		before := ","
		if written == 0 {
			before = `,"` + name + `":[`
		}
		if _, err := w.out.WriteString(before); err != nil {
			return err
		}
		if _, err := w.out.Write(text); err != nil {
			return err
		}
		written++
	}
	if written == 0 {
		return nil
	}
	return w.out.WriteByte(']')
}
