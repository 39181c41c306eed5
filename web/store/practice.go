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

// Practice is what a browser has practised, without its code.
type Practice struct {
	Exercises   []Practised  // by name
	Predictions []Prediction // by exercise
	Mistakes    []Mistake    // by exercise and kind
	Cards       []Card       // by name
}

// Practised is an exercise for which a browser has had a verdict.
type Practised struct {
	Exercise string    // pack/slug
	TriedAt  time.Time // the first verdict
	PassedAt time.Time // the first pass; zero before
}

// Mistake is a kind of finding in the submissions for an exercise.
type Mistake struct {
	Exercise string
	Kind     verdict.Kind
	Times    int // submissions
	LastAt   time.Time
}

// Practice returns what a browser has practised; that of a browser that wrote
// nothing is empty.
func (s *Store) Practice(ctx context.Context, b Browser) (p Practice, err error) {
	q := s.reading(ctx)
	exercises, err := q.ListPractised(ctx, string(b))
	if err != nil {
		return Practice{}, fmt.Errorf("list practised exercises: %w", err)
	}
	for _, r := range exercises {
		p.Exercises = append(p.Exercises, Practised{Exercise: r.Exercise, TriedAt: time.UnixMilli(r.TriedAt), PassedAt: timeOf(r.PassedAt)})
	}
	predictions, err := q.ListPredictions(ctx, string(b))
	if err != nil {
		return Practice{}, fmt.Errorf("list predictions: %w", err)
	}
	for _, r := range predictions {
		p.Predictions = append(p.Predictions, predictionOf(r))
	}
	mistakes, err := q.ListMistakes(ctx, string(b))
	if err != nil {
		return Practice{}, fmt.Errorf("list mistakes: %w", err)
	}
	for _, r := range mistakes {
		p.Mistakes = append(p.Mistakes, Mistake{
			Exercise: r.Exercise, Kind: verdict.Kind(r.Kind), Times: int(r.Times), LastAt: time.UnixMilli(r.LastAt),
		})
	}
	cards, err := q.ListCards(ctx, string(b))
	if err != nil {
		return Practice{}, fmt.Errorf("list cards: %w", err)
	}
	for _, r := range cards {
		p.Cards = append(p.Cards, cardOf(r))
	}
	return p, nil
}

// MergePractice adds what was practised elsewhere. Of an exercise the first times
// count, of a mistake and a card the last; a prediction that has come out stays.
// To merge the same twice changes nothing.
func (s *Store) MergePractice(ctx context.Context, b Browser, p Practice, now time.Time) error {
	err := s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		id, err := TouchBrowser(ctx, q, b, now)
		if err != nil {
			return err
		}
		return mergePractice(ctx, q, id, p)
	})
	if err != nil {
		return fmt.Errorf("merge practice: %w", err)
	}
	return nil
}

func mergePractice(ctx context.Context, q *db.Queries, browser int64, p Practice) error {
	for _, e := range p.Exercises {
		if err := q.MergePractised(ctx, db.MergePractisedParams{
			BrowserID: browser, Exercise: e.Exercise, TriedAt: e.TriedAt.UnixMilli(), PassedAt: milli(e.PassedAt),
		}); err != nil {
			return fmt.Errorf("exercise %s: %w", e.Exercise, err)
		}
	}
	for _, p := range p.Predictions {
		if err := q.MergePrediction(ctx, db.MergePredictionParams{
			BrowserID: browser, Exercise: p.Exercise, Guess: string(p.Guess), SourceHash: p.SourceHash, MadeAt: p.MadeAt.UnixMilli(),
			Came: strings.Join(p.Came, " "), CameAt: milli(p.CameAt),
		}); err != nil {
			return fmt.Errorf("prediction for %s: %w", p.Exercise, err)
		}
	}
	for _, m := range p.Mistakes {
		if err := q.MergeMistake(ctx, db.MergeMistakeParams{
			BrowserID: browser, Exercise: m.Exercise, Kind: string(m.Kind), Times: int64(m.Times), LastAt: m.LastAt.UnixMilli(),
		}); err != nil {
			return fmt.Errorf("mistake %s in %s: %w", m.Kind, m.Exercise, err)
		}
	}
	for _, c := range p.Cards {
		if err := q.MergeCard(ctx, db.MergeCardParams(rowOf(browser, c))); err != nil {
			return fmt.Errorf("card %s: %w", c.Name, err)
		}
	}
	return nil
}

// notePractice keeps what a verdict says about its browser, in the transaction
// that stores it. What we could not find out says nothing.
func notePractice(ctx context.Context, q *db.Queries, sub db.FinishSubmissionRow, v verdict.Verdict, now time.Time) error {
	if v.Outcome == verdict.Inconclusive {
		return nil
	}
	at := sql.NullInt64{Int64: now.UnixMilli(), Valid: true}
	passed := at
	passed.Valid = v.Outcome == verdict.Passed
	if err := q.MergePractised(ctx, db.MergePractisedParams{
		BrowserID: sub.BrowserID, Exercise: sub.Exercise, TriedAt: at.Int64, PassedAt: passed,
	}); err != nil {
		return fmt.Errorf("note exercise: %w", err)
	}
	came := Came(v)
	if err := q.ResolvePrediction(ctx, db.ResolvePredictionParams{
		BrowserID: sub.BrowserID, Exercise: sub.Exercise, SourceHash: sub.SourceHash, Came: strings.Join(came, " "), CameAt: at,
	}); err != nil {
		return fmt.Errorf("resolve prediction: %w", err)
	}
	if v.Outcome == verdict.Passed {
		return nil
	}
	for _, kind := range came {
		if err := q.NoteMistake(ctx, db.NoteMistakeParams{
			BrowserID: sub.BrowserID, Exercise: sub.Exercise, Kind: kind, LastAt: at.Int64,
		}); err != nil {
			return fmt.Errorf("note mistake: %w", err)
		}
	}
	return nil
}

// Came is what a verdict says that a source does: the kinds of its findings,
// sorted, or the outcome where there is none.
func Came(v verdict.Verdict) []string {
	var kinds []string
	for _, f := range v.Findings {
		kinds = append(kinds, string(f.Kind))
	}
	if len(kinds) == 0 {
		return []string{string(v.Outcome)}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

func milli(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: !t.IsZero()}
}
