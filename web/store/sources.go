package store

import (
	"context"

	"redeliver/grader/verdict"
	"redeliver/web/store/db"
)

// FoundSource is what is kept of a source that somebody submitted.
type FoundSource struct {
	Files []File
	// Verdict is nil while nobody's submission of it has one.
	Verdict *verdict.Verdict
}

// FindSource finds a submitted source by the beginning of its SourceHash,
// whoever submitted it; ErrNotFound when it is not there, or not any more. The
// hash is what a replay token carries: who has one may see what the source does,
// but is never shown its text.
func (s *Store) FindSource(ctx context.Context, exercise, hashPrefix string) (FoundSource, error) {
	row, err := s.reading(ctx).FindSource(ctx, db.FindSourceParams{
		// "g" sorts behind every hexadecimal digit, in every collation.
		FromHash: hashPrefix, ToHash: hashPrefix + "g", Exercise: exercise,
	})
	if err != nil {
		return FoundSource{}, orNotFound("find source", err)
	}
	var found FoundSource
	if found.Files, err = DecodeFiles(row.Files); err != nil || row.Verdict == "" {
		return found, err
	}
	v, err := DecodeVerdict(row.Verdict)
	found.Verdict = &v
	return found, err
}
