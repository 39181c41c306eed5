package web

import (
	"context"
	"errors"
	"log/slog"

	"redeliver/exercises"
	"redeliver/grader/verdict"
	"redeliver/web/similarity"
	"redeliver/web/store"
	"redeliver/web/views"
)

// maxFingerprints and maxIdioms bound, in bytes, what is remembered about sources and
// about exercises. A submission of the core pack takes about 5 kB, an exercise 30 kB.
const (
	maxFingerprints = 32 << 20
	maxIdioms       = 8 << 20
)

// similar remembers fingerprints: of a source by its hash, so that a page about hundreds
// of candidates parses only what is new.
type similar struct {
	idioms *similarity.Cache[similarity.Known]
	prints *similarity.Cache[prints]
}

// prints are the fingerprints of a source beyond those that everybody has, or why there
// are none: similarity.ErrSyntax or similarity.ErrTooLong.
type prints struct {
	similarity.Prints
	none error
}

func newSimilar() similar {
	return similar{
		idioms: similarity.NewCache(maxIdioms, similarity.Known.Size),
		prints: similarity.NewCache(maxFingerprints, func(p prints) int { return p.Size() }),
	}
}

// printsOf are the fingerprints of what was handed in for an exercise. text is asked for
// only if the hash is new.
func (s *Server) printsOf(ctx context.Context, e *exercises.Exercise, hash string, text func() ([]store.File, error)) (prints, error) {
	task := taskHash(e)
	return s.similar.prints.Of(task+hash, func() (prints, error) {
		files, err := text()
		if err != nil {
			return prints{}, err
		}
		known, err := s.similar.idioms.Of(task, func() (similarity.Known, error) { return s.idiomsOf(ctx, e), nil })
		if err != nil {
			return prints{}, err
		}
		p, err := similarity.Of(filesToCompare(files))
		for _, none := range []error{similarity.ErrSyntax, similarity.ErrTooLong} {
			if errors.Is(err, none) {
				return prints{none: none}, nil // without the rest of the error, which quotes the source
			}
		}
		return prints{Prints: p.Beyond(known)}, err
	})
}

// closest finds, for each exercise, whose text has the largest part of what a candidate
// handed in, where that part reaches the threshold.
func (s *Server) closest(ctx context.Context, sit sitting) (map[string]views.Closest, error) {
	list, err := s.store.Counted(ctx, sit.assignment)
	if err != nil {
		return nil, err
	}
	out := map[string]views.Closest{}
	for _, own := range list {
		e, ok := s.catalog.Exercise(own.Exercise)
		if own.Candidate != sit.candidate.ID || !ok {
			continue
		}
		mine, err := s.countedPrints(ctx, e, own)
		if err != nil {
			return nil, err
		}
		if len(mine.List) < similarity.Fewest {
			continue // no figure about it
		}
		for _, other := range list {
			if other.Exercise != own.Exercise || other.Candidate == own.Candidate {
				continue
			}
			theirs, err := s.countedPrints(ctx, e, other)
			if err != nil {
				return nil, err
			}
			percent, ok := similarity.Compare(mine.Prints, theirs.Prints).Percent()
			if ok && percent >= max(similarity.Threshold, out[own.Exercise].Percent+1) {
				out[own.Exercise] = views.Closest{ID: other.Candidate, Name: other.Name, Percent: percent}
			}
		}
	}
	return out, nil
}

// countedPrints are the fingerprints of a submission that counts. One that was deleted
// since the list was read has none.
func (s *Server) countedPrints(ctx context.Context, e *exercises.Exercise, sub store.Counted) (prints, error) {
	p, err := s.printsOf(ctx, e, sub.SourceHash, func() ([]store.File, error) { return s.store.Text(ctx, sub) })
	if errors.Is(err, store.ErrNotFound) {
		return prints{}, nil
	}
	return p, err
}

// idiomsOf is what says nothing about who wrote it: the starter, and what at least two
// solutions of the pack have in common. What candidates have in common does not count
// as such: a text that many of them copied would then hide itself.
func (s *Server) idiomsOf(ctx context.Context, e *exercises.Exercise) similarity.Known {
	var solutions [][]similarity.File
	for _, solution := range e.Solutions {
		solutions = append(solutions, filesToCompare(solution.Files))
	}
	known := similarity.Shared(solutions...)
	if err := known.Add(filesToCompare(e.Starter)); err != nil {
		s.cfg.Log.WarnContext(ctx, "fingerprints of a starter", slog.String("exercise", e.Name()), slog.Any("error", err))
	}
	return known
}

// taskHash changes with what idiomsOf reads.
func taskHash(e *exercises.Exercise) string {
	return verdict.SourceHash(func(yield func(string, []byte) bool) {
		for _, f := range e.Starter {
			if !yield(f.Name, f.Content) {
				return
			}
		}
		for _, solution := range e.Solutions {
			for _, f := range solution.Files {
				if !yield(solution.Name+"/"+f.Name, f.Content) {
					return
				}
			}
		}
	})
}

func filesToCompare[F store.File | exercises.File](files []F) (out []similarity.File) {
	for _, f := range files {
		out = append(out, similarity.File(f))
	}
	return out
}
