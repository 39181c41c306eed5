package store

import (
	"context"
	"fmt"
	"time"

	"redeliver/web/store/db"
)

// MaxPastes is how many marks of pastes are kept of a sitting and exercise; later ones
// are not.
const MaxPastes = 200

// Noted is what the editor of a sitting tells of a text beside the text.
type Noted struct {
	ByEditor bool // false: the form was sent without a script, and nothing was noted
	Pastes   []Paste
}

// Paste says that text was pasted: how much and when, not what or from where.
type Paste struct {
	Mark     string // drawn by the editor: the same paste has the same one
	File     string
	From, To int  // lines of the draft, from 1, in which the text lies
	Lines    int  // as it was pasted
	Size     int  // the same in characters
	Moved    bool // the text was in the editor or in the task before
	At       time.Time
}

// KeptPaste is a Paste with the version of the draft that its lines are of. That draft
// may have been thinned out.
type KeptPaste struct {
	Paste
	Version int64
}

// addPastes keeps the marks that came with a draft. One that is known stays as it is:
// the editor sends marks again until it hears that they are kept.
func addPastes(ctx context.Context, q *db.Queries, id int64, d NewDraft, version int64) error {
	for _, p := range d.Pastes {
		_, err := q.AddPaste(ctx, db.AddPasteParams{
			BrowserID: id, Exercise: d.Exercise, Mark: p.Mark, Version: version, File: p.File,
			FromLine: int64(p.From), ToLine: int64(p.To), Lines: int64(p.Lines), Size: int64(p.Size),
			Moved: p.Moved, PastedAt: p.At.UnixMilli(), MaxRows: MaxPastes,
		})
		if err != nil {
			return fmt.Errorf("keep mark of a paste: %w", err)
		}
	}
	return nil
}

// Pastes lists the marks of a sitting and exercise in the order of the pastes.
func (s *Store) Pastes(ctx context.Context, b Browser, exercise string) ([]KeptPaste, error) {
	rows, err := s.reading(ctx).ListPastes(ctx, db.ListPastesParams{TokenHash: string(b), Exercise: exercise, MaxRows: MaxPastes})
	if err != nil {
		return nil, fmt.Errorf("list pastes: %w", err)
	}
	list := make([]KeptPaste, 0, len(rows))
	for _, r := range rows {
		list = append(list, KeptPaste{Version: r.Version, Paste: Paste{
			Mark: r.Mark, File: r.File, From: int(r.FromLine), To: int(r.ToLine), Lines: int(r.Lines), Size: int(r.Size),
			Moved: r.Moved, At: time.UnixMilli(r.PastedAt),
		}})
	}
	return list, nil
}
