package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"redeliver/grader/verdict"
	"redeliver/web/store/db"
)

// Guess is what a reader expects of a starter: it passes, a kind of finding, or
// something else.
type Guess string

// GuessPassed and GuessOther are the guesses that are no kind of finding.
const (
	GuessPassed = Guess(verdict.Passed)
	GuessOther  = Guess("other")
)

// Guesses lists what can be guessed, in the order in which to offer it.
func Guesses() []Guess {
	return []Guess{GuessPassed, Guess(verdict.Duplicate), Guess(verdict.Lost), Guess(verdict.Misordered), Guess(verdict.Stuck), GuessOther}
}

// Prediction is what a browser said the starter of an exercise would do.
type Prediction struct {
	Exercise   string // pack/slug
	Guess      Guess
	SourceHash string // of the starter
	MadeAt     time.Time
	// Came is what the starter did: see the function of that name. Empty and zero
	// until there is a verdict.
	Came   []string
	CameAt time.Time
}

// Right reports whether what was guessed came. A starter may fail in more than
// one way; one of them is enough.
func (p Prediction) Right() bool {
	if p.Guess != GuessOther {
		return slices.Contains(p.Came, string(p.Guess))
	}
	return slices.ContainsFunc(p.Came, func(came string) bool { return !slices.Contains(Guesses(), Guess(came)) })
}

// Missed reports whether something else came.
func (p Prediction) Missed() bool { return len(p.Came) > 0 && !p.Right() }

// Predict keeps what a browser says before the starter of an exercise has run for
// it. Until then it may change its mind; kept is false when it is too late.
func (s *Store) Predict(ctx context.Context, b Browser, p Prediction) (kept bool, err error) {
	err = s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		id, err := TouchBrowser(ctx, q, b, p.MadeAt)
		if err != nil {
			return err
		}
		n, err := q.Predict(ctx, db.PredictParams{
			BrowserID: id, Exercise: p.Exercise, Guess: string(p.Guess), SourceHash: p.SourceHash, MadeAt: p.MadeAt.UnixMilli(),
		})
		kept = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("predict: %w", err)
	}
	return kept, nil
}

func predictionOf(r db.Prediction) Prediction {
	return Prediction{
		Exercise: r.Exercise, Guess: Guess(r.Guess), SourceHash: r.SourceHash, MadeAt: time.UnixMilli(r.MadeAt),
		Came: strings.Fields(r.Came), CameAt: timeOf(r.CameAt),
	}
}
