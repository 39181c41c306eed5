package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"redeliver/web/store/db"
)

// What is kept of the drafts of one browser and exercise; beyond it the oldest
// versions go, those that were saved by themselves first.
const (
	MaxDraftVersions = 200
	MaxDraftBytes    = 4 << 20
)

// The same for a sitting, of all its exercises together. An interviewer plays the
// versions back, so beyond it they are thinned: those of RecentDrafts stay, of older
// ones that were saved by themselves first the last of each minute. Three hours of
// typing are 2,160 versions.
const (
	MaxSittingVersions = 3_000
	MaxSittingBytes    = 8 << 20
	RecentDrafts       = 10 * time.Minute
)

// Draft is one version of what a browser wrote for an exercise.
type Draft struct {
	Version int64 // from 1
	Files   []File
	SavedAt time.Time
}

// DraftInfo is a Draft without its text.
type DraftInfo struct {
	Version int64
	Size    int64 // bytes
	SavedAt time.Time
	Auto    bool // it was saved by itself while somebody typed
	// ByEditor says that the editor of a sitting sent it, which notes pastes.
	ByEditor bool
}

// NewDraft is a text to be saved. Base is the version that its author started
// from, 0 for the starter.
type NewDraft struct {
	Exercise string
	Base     int64
	Files    []File
	Auto     bool // the editor saves by itself
	Noted
}

// ConflictError says that another tab saved a version that the author of the
// refused text has not seen. Nothing was stored.
type ConflictError struct{ Newest Draft }

// Error names the version that is in the way.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("draft was changed: version %d is newer", e.Newest.Version)
}

// SaveDraft appends a version and returns its number. A text equal to the
// newest version is not stored again. It returns a *ConflictError when there is
// a newer version than d.Base with another text.
func (s *Store) SaveDraft(ctx context.Context, b Browser, d NewDraft, now time.Time) (version int64, err error) {
	err = s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		id, err := TouchBrowser(ctx, q, b, now)
		if err != nil {
			return err
		}
		version, err = SaveDraftTx(ctx, q, b, id, d, now)
		return err
	})
	return version, err
}

// SaveDraftTx is SaveDraft inside a transaction that has touched the browser,
// whose key is id. ErrEnded: the browser is a sitting that is over.
func SaveDraftTx(ctx context.Context, q *db.Queries, b Browser, id int64, d NewDraft, now time.Time) (version int64, err error) {
	if err := openTx(ctx, q, b, id); err != nil {
		return 0, err
	}
	newest, err := newestDraft(ctx, q, b, d.Exercise)
	switch {
	case errors.Is(err, ErrNotFound): // the first one
	case err != nil:
		return 0, err
	case SourceHash(newest.Files) == SourceHash(d.Files):
		if err := addPastes(ctx, q, id, d, newest.Version); err != nil {
			return 0, err
		}
		return newest.Version, keep(ctx, q, id, d, newest.Version)
	case newest.Version > d.Base:
		return 0, &ConflictError{Newest: newest}
	}
	files, err := EncodeFiles(d.Files)
	if err != nil {
		return 0, fmt.Errorf("save draft: %w", err)
	}
	version = newest.Version + 1
	if err := q.AddDraft(ctx, db.AddDraftParams{
		BrowserID: id, Exercise: d.Exercise, Version: version,
		Files: files, Size: size(d.Files), CreatedAt: now.UnixMilli(), Auto: d.Auto, ByEditor: d.ByEditor,
	}); err != nil {
		return 0, fmt.Errorf("save draft: %w", err)
	}
	if err := addPastes(ctx, q, id, d, version); err != nil {
		return 0, err
	}
	if b.IsSitting() {
		err = thinSitting(ctx, q, id, now)
	} else {
		err = thinDrafts(ctx, q, id, d.Exercise, version)
	}
	if err != nil {
		return 0, err
	}
	return version, nil
}

// thinDrafts keeps what a browser has written for an exercise within its bounds.
func thinDrafts(ctx context.Context, q *db.Queries, id int64, exercise string, newest int64) error {
	thin := db.ThinDraftsParams{BrowserID: id, Exercise: exercise, Newest: newest, MaxVersions: MaxDraftVersions, MaxBytes: MaxDraftBytes}
	if _, err := q.ThinDrafts(ctx, thin); err != nil {
		return fmt.Errorf("thin drafts: %w", err)
	}
	return nil
}

// thinSitting keeps what a sitting has written within its bounds.
func thinSitting(ctx context.Context, q *db.Queries, id int64, now time.Time) error {
	has, err := q.SizeOfDrafts(ctx, id)
	if err != nil {
		return fmt.Errorf("measure drafts: %w", err)
	}
	if has.Versions <= MaxSittingVersions && has.Bytes <= MaxSittingBytes {
		return nil
	}
	_, err = q.ThinSitting(ctx, db.ThinSittingParams{
		BrowserID: id, Recent: now.Add(-RecentDrafts).UnixMilli(), MaxVersions: MaxSittingVersions, MaxBytes: MaxSittingBytes,
	})
	if err != nil {
		return fmt.Errorf("thin drafts of a sitting: %w", err)
	}
	return nil
}

// keep notes that a person has saved what the editor had saved before.
func keep(ctx context.Context, q *db.Queries, id int64, d NewDraft, version int64) error {
	if d.Auto {
		return nil
	}
	if err := q.KeepDraft(ctx, db.KeepDraftParams{BrowserID: id, Exercise: d.Exercise, Version: version}); err != nil {
		return fmt.Errorf("keep draft: %w", err)
	}
	return nil
}

// NewestDraft returns the newest version, or ErrNotFound.
func (s *Store) NewestDraft(ctx context.Context, b Browser, exercise string) (Draft, error) {
	return newestDraft(ctx, s.reading(ctx), b, exercise)
}

func newestDraft(ctx context.Context, q *db.Queries, b Browser, exercise string) (Draft, error) {
	row, err := q.NewestDraft(ctx, db.NewestDraftParams{TokenHash: string(b), Exercise: exercise})
	if err != nil {
		return Draft{}, orNotFound("find newest draft", err)
	}
	return draftOf(row)
}

// Draft returns one version, or ErrNotFound.
func (s *Store) Draft(ctx context.Context, b Browser, exercise string, version int64) (Draft, error) {
	row, err := s.reading(ctx).GetDraft(ctx, db.GetDraftParams{TokenHash: string(b), Exercise: exercise, Version: version})
	if err != nil {
		return Draft{}, orNotFound("find draft", err)
	}
	return draftOf(row)
}

// Drafts lists the versions of a browser, the newest first.
func (s *Store) Drafts(ctx context.Context, b Browser, exercise string, limit int) ([]DraftInfo, error) {
	rows, err := s.reading(ctx).ListDrafts(ctx, db.ListDraftsParams{
		TokenHash: string(b), Exercise: exercise, MaxRows: int32(limit),
	})
	if err != nil {
		return nil, fmt.Errorf("list drafts: %w", err)
	}
	list := make([]DraftInfo, 0, len(rows))
	for _, r := range rows {
		list = append(list, DraftInfo{Version: r.Version, Size: r.Size, SavedAt: time.UnixMilli(r.CreatedAt), Auto: r.Auto, ByEditor: r.ByEditor})
	}
	return list, nil
}

func draftOf(row db.Draft) (Draft, error) {
	files, err := DecodeFiles(row.Files)
	if err != nil {
		return Draft{}, fmt.Errorf("read draft %d: %w", row.Version, err)
	}
	return Draft{Version: row.Version, Files: files, SavedAt: time.UnixMilli(row.CreatedAt)}, nil
}
