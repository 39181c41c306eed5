package web

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// maxPastesSent is how many marks one form may bring; the editor keeps no more of them
// back when it cannot save.
const maxPastesSent = 50

// sentPaste is a mark as static/src/paste.js sends it.
type sentPaste struct {
	ID    string `json:"id"`
	File  string `json:"file"`
	From  int    `json:"from"` // lines of the text in the form, from 1
	To    int    `json:"to"`
	Lines int    `json:"lines"`
	Size  int    `json:"size"`
	Ago   int64  `json:"ago"` // milliseconds: the clock of a browser may be wrong, its pace is not
	Moved bool   `json:"moved"`
}

var pasteID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// maxPasted is what a mark may say of the size of a paste, which may be larger than
// the text of which it became a part.
const maxPasted = 1 << 30

// noted is what the editor tells of the text in a form. Outside of a sitting that runs
// nothing is noted.
func (s *Server) noted(c echo.Context, form exerciseForm, field []string) (store.Noted, error) {
	sit, ok := sittingOf(c)
	if !ok || !sit.candidate.Sits() || len(field) == 0 {
		return store.Noted{}, nil
	}
	var sent []sentPaste
	if err := json.Unmarshal([]byte(field[0]), &sent); err != nil {
		return store.Noted{}, badRequest("read marks of pastes: %w", err)
	}
	if len(sent) > maxPastesSent {
		return store.Noted{}, badRequest("%d marks of pastes", len(sent))
	}
	now := s.cfg.Now()
	noted := store.Noted{ByEditor: true}
	for _, p := range sent {
		content, ok := contentOf(form.files, p.File)
		if !ok || !p.fits(content) {
			return store.Noted{}, badRequest("mark of a paste %+v", p)
		}
		at := now.Add(-time.Duration(max(p.Ago, 0)) * time.Millisecond)
		if p.Ago > now.Sub(sit.candidate.StartedAt).Milliseconds() {
			at = sit.candidate.StartedAt
		}
		noted.Pastes = append(noted.Pastes, store.Paste{
			Mark: p.ID, File: p.File, From: p.From, To: p.To, Lines: p.Lines, Size: p.Size, Moved: p.Moved, At: at,
		})
	}
	return noted, nil
}

// fits reports whether the editor can have made the mark of this text.
func (p sentPaste) fits(content string) bool {
	return pasteID.MatchString(p.ID) && p.From >= 1 && p.From <= p.To && p.To <= strings.Count(content, "\n")+1 &&
		p.Size >= 1 && p.Size <= maxPasted && p.Lines >= 1 && p.Lines <= p.Size
}

// marksIn lists the marks with the steps of their drafts, and puts them beside those.
func marksIn(events views.EventsOf, kept []store.KeptPaste) []views.Paste {
	marks := make([]views.Paste, 0, len(kept))
	for _, p := range kept {
		m := views.Paste{File: p.File, From: p.From, To: p.To, Lines: p.Lines, Size: p.Size, Moved: p.Moved, At: p.At}
		i := slices.IndexFunc(events, func(e views.ReportEvent) bool { return e.Version == p.Version })
		if m.Step = i + 1; i >= 0 {
			events[i].Pastes = append(events[i].Pastes, m)
		}
		marks = append(marks, m)
	}
	return marks
}
