package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"redeliver/web/store/db"
)

// Card is a card that a browser has rated at least once.
type Card struct {
	Name       string  // question/slug, pitfall/slug/id, prediction/pack/slug
	Stability  float64 // days after which one remembers with the probability that is wanted
	Difficulty float64 // 1 to 10
	Reps       int     // ratings
	Lapses     int     // of those, how often it was forgotten
	CreatedAt  time.Time
	ReviewedAt time.Time
	DueAt      time.Time
}

// RateCard replaces a card by what next makes of it; a card that was never rated
// has only its name. Reps is what the rater saw: rated is false, and nothing
// happens, when the card has been rated since, as by a second click.
func (s *Store) RateCard(ctx context.Context, b Browser, name string, reps int, now time.Time, next func(Card) Card) (rated bool, err error) {
	err = s.InTx(ctx, func(_ *sql.Tx, q *db.Queries) error {
		id, err := TouchBrowser(ctx, q, b, now)
		if err != nil {
			return err
		}
		card := Card{Name: name}
		row, err := q.GetCard(ctx, db.GetCardParams{BrowserID: id, Card: name})
		if err == nil {
			card = cardOf(row)
		} else if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if rated = card.Reps == reps; !rated {
			return nil
		}
		return q.SaveCard(ctx, rowOf(id, next(card)))
	})
	if err != nil {
		return false, fmt.Errorf("rate card %s: %w", name, err)
	}
	return rated, nil
}

func cardOf(r db.Card) Card {
	return Card{
		Name: r.Card, Stability: r.Stability, Difficulty: r.Difficulty, Reps: int(r.Reps), Lapses: int(r.Lapses),
		CreatedAt: time.UnixMilli(r.CreatedAt), ReviewedAt: time.UnixMilli(r.ReviewedAt), DueAt: time.UnixMilli(r.DueAt),
	}
}

func rowOf(browser int64, c Card) db.SaveCardParams {
	return db.SaveCardParams{
		BrowserID: browser, Card: c.Name, Stability: c.Stability, Difficulty: c.Difficulty, Reps: int64(c.Reps), Lapses: int64(c.Lapses),
		CreatedAt: c.CreatedAt.UnixMilli(), ReviewedAt: c.ReviewedAt.UnixMilli(), DueAt: c.DueAt.UnixMilli(),
	}
}
