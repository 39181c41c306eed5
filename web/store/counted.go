package store

import (
	"context"
	"fmt"
)

// Counted is the submission of a candidate for an exercise that counts: the one with
// the best outcome, of equals the newest.
type Counted struct {
	Candidate  int64
	Name       string // of the candidate
	Exercise   string
	ID         int64
	PublicID   string
	SourceHash string
}

// Counted lists what counts of all candidates of an assignment, without the texts. The
// assignment is one that its asker may see.
func (s *Store) Counted(ctx context.Context, a Assignment) ([]Counted, error) {
	rows, err := s.reading(ctx).ListCounted(ctx, a.ID)
	if err != nil {
		return nil, fmt.Errorf("list what counts: %w", err)
	}
	list := make([]Counted, 0, len(rows))
	for _, r := range rows {
		list = append(list, Counted{r.CandidateID, r.Name, r.Exercise, r.ID, r.PublicID, r.SourceHash})
	}
	return list, nil
}

// Text is what was handed in.
func (s *Store) Text(ctx context.Context, c Counted) ([]File, error) {
	row, err := s.reading(ctx).GetSubmission(ctx, c.ID)
	if err != nil {
		return nil, orNotFound("find text of submission", err)
	}
	return DecodeFiles(row.Files)
}
